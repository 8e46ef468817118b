import { OpusEncoder, silentPacket } from './opus.ts'
import { frameSamples, type Samples, sampleRate } from './samples.ts'

/** What one side of a call says, 20 ms at a time. */
export interface SoundSource {
  /** The next packet. */
  next(): Uint8Array
  close(): void
}

export function makeSilence(): SoundSource {
  return { next: () => silentPacket, close() {} }
}

/** Half of the greatest: -9 dBFS. */
const amplitude = 16_384

/** A sine that goes on. */
export function makeTone(hz: number): SoundSource {
  return encode((at) => amplitude * Math.sin((2 * Math.PI * hz * at) / sampleRate))
}

const beepSamples = sampleRate / 5
/** A tone that begins at once clicks, and a click has all frequencies. */
const rampSamples = sampleRate / 200

/** 200 ms of a sine in every second. */
export function makeBeep(hz: number): SoundSource {
  return encode((at) => {
    const place = at % sampleRate
    if (place >= beepSamples) return 0
    const loudness = Math.min(1, place / rampSamples, (beepSamples - place) / rampSamples)
    return loudness * amplitude * Math.sin((2 * Math.PI * hz * at) / sampleRate)
  })
}

/** A sound that is played round and round. */
export function playRound(sound: Samples): SoundSource {
  return encode((at) => sound[at % sound.length] as number)
}

function encode(sampleAt: (at: number) => number): SoundSource {
  const encoder = new OpusEncoder()
  let at = 0
  return {
    next() {
      const samples = Int16Array.from({ length: frameSamples }, () => Math.round(sampleAt(at++)))
      return encoder.encode(samples)
    },
    close: () => encoder.close(),
  }
}

/** How much of what is heard may wait to be sent back; more would make an echo later and later. */
const mostWaiting = 10

/** Says what it is given; silence while there is nothing. */
export class Echo implements SoundSource {
  #waiting: Uint8Array[] = []

  hear(packet: Uint8Array): void {
    this.#waiting.push(packet)
    if (this.#waiting.length > mostWaiting) this.#waiting.shift()
  }

  next(): Uint8Array {
    return this.#waiting.shift() ?? silentPacket
  }

  close(): void {}
}
