/// <reference path="./opus-wasm.d.ts" />
import { Decoder, Encoder } from '@evan/opus/wasm/index.js'
import { frameSamples, type Samples, sampleRate } from './samples.ts'

/** 20 ms of silence, as one packet that needs no encoder. */
export const silentPacket: Uint8Array = Uint8Array.of(0xf8, 0xff, 0xfe)

const setBitrate = 4002
const setComplexity = 4010
/** Speech is clear at this rate, and a pure tone stays pure. */
const bitrate = 32_000
/** Half of what the best quality costs; nobody hears the difference in a call. */
const complexity = 5

export class OpusEncoder {
  readonly #encoder = new Encoder({ channels: 1, sample_rate: sampleRate, application: 'audio' })

  constructor() {
    this.#encoder.ctl(setBitrate, bitrate)
    this.#encoder.ctl(setComplexity, complexity)
  }

  /** Encodes 20 ms. */
  encode(samples: Samples): Uint8Array {
    return this.#encoder.encode(samples)
  }

  close(): void {
    this.#encoder.drop()
  }
}

export class OpusDecoder {
  readonly #decoder = new Decoder({ channels: 1, sample_rate: sampleRate })

  /** The sound of a packet; undefined when the packet is broken. */
  decode(packet: Uint8Array): Samples | undefined {
    if (samplesInPacket(packet) === undefined) return undefined
    try {
      const { buffer, byteOffset, byteLength } = this.#decoder.decode(packet)
      return new Int16Array(buffer, byteOffset, byteLength / 2)
    } catch {
      // What comes from the network may be anything.
      return undefined
    }
  }

  close(): void {
    this.#decoder.drop()
  }
}

const longestPacket = 5760

/** How long the sound of a packet lasts, in samples (RFC 6716, 3.1); undefined when it is no Opus packet. */
export function samplesInPacket(packet: Uint8Array): number | undefined {
  const [toc, second] = packet
  if (toc === undefined) return undefined
  const code = toc & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0) & 0x3f
  const samples = frames * samplesInFrame(toc >> 3)
  return samples > 0 && samples <= longestPacket ? samples : undefined
}

function samplesInFrame(config: number): number {
  if (config >= 16) return 120 << (config & 3)
  if (config >= 12) return 480 << (config & 1)
  return [480, 960, 1920, 2880][config & 3] as number
}

/** Packets of silence for a time that no packet came for; what is shorter than 2.5 ms is left out. */
export function fillSilence(samples: number): Uint8Array[] {
  const packets: Uint8Array[] = []
  let left = samples
  for (const [size, toc] of silences) {
    for (; left >= size; left -= size) packets.push(Uint8Array.of(toc, 0xff, 0xfe))
  }
  return packets
}

/** The lengths that a packet can have, each with its first byte, the longest first. */
const silences = [
  [frameSamples, 0xf8],
  [480, 0xf0],
  [240, 0xe8],
  [120, 0xe0],
] as const
