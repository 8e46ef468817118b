import type { RtpPacket } from 'werift'
import { LoudestSecond } from '../sound/loudest-second.ts'
import { OpusDecoder, samplesInPacket } from '../sound/opus.ts'
import type { Recording } from '../sound/recording.ts'
import { sampleRate } from '../sound/samples.ts'
import type { Heard } from './heard.ts'
import { KeyReader } from './keys.ts'
import { PacketOrder } from './packet-order.ts'

interface Listeners {
  /** Writes down what is heard. */
  readonly recording: Recording | undefined
  /** Called with each packet of sound, in order. */
  readonly onSound: (packet: Uint8Array) => void
  readonly onKey: (key: string) => void
}

/** A jump of the timestamps by more than this is another beginning, and not a pause. */
const longestPause = 60 * 60 * sampleRate

/** What one side hears. */
export class Incoming {
  readonly #order = new PacketOrder<RtpPacket>((packet) => this.#take(packet))
  readonly #decoder = new OpusDecoder()
  readonly #loudest = new LoudestSecond()
  readonly #keys: KeyReader
  readonly #listeners: Listeners
  #codecs: PayloadTypes = { opus: new Set(), keys: new Set() }
  /** Of the sender that is heard now: each counts from a number of its own. */
  #lastTimestamp: number | undefined
  #ssrc: number | undefined
  /** Where the next sound is expected, in samples since the first. */
  #position = 0
  #lastAt: number | undefined

  constructor(listeners: Listeners) {
    this.#listeners = listeners
    this.#keys = new KeyReader(listeners.onKey)
  }

  /** When the last packet came, by the monotonic clock; undefined: none has come. */
  get lastAt(): number | undefined {
    return this.#lastAt
  }

  get packets(): number {
    return this.#order.received
  }

  /** Both sides have agreed on what the numbers of payloads mean. */
  setCodecs(codecs: PayloadTypes): void {
    this.#codecs = codecs
  }

  add(packet: RtpPacket): void {
    this.#lastAt = performance.now()
    this.#order.add(packet)
  }

  #take({ header, payload }: RtpPacket): void {
    if (this.#codecs.keys.has(header.payloadType)) this.#keys.add(payload, header.timestamp)
    if (!this.#codecs.opus.has(header.payloadType)) return
    const length = samplesInPacket(payload)
    if (length === undefined) return
    this.#listeners.onSound(payload)
    if (header.ssrc !== this.#ssrc) this.#lastTimestamp = undefined
    this.#ssrc = header.ssrc
    const at = this.#place(header.timestamp)
    const samples = this.#decoder.decode(payload)
    if (samples) this.#loudest.add(samples, at)
    this.#listeners.recording?.add(payload, at)
    this.#position = at + length
    this.#lastTimestamp = (header.timestamp + length) >>> 0
  }

  /** Where a sound with this timestamp begins; sound never goes back. */
  #place(timestamp: number): number {
    if (this.#lastTimestamp === undefined) return this.#position
    const pause = (timestamp - this.#lastTimestamp) | 0
    return pause > 0 && pause < longestPause ? this.#position + pause : this.#position
  }

  /** Ends the recording, and says what was heard. */
  close(): Heard {
    this.#order.flush()
    this.#decoder.close()
    this.#listeners.recording?.close()
    return { packets: this.#order.received, lost: this.#order.lost, ...this.#loudest.measure() }
  }
}

/** The numbers of payloads with Opus, and with keys. */
export interface PayloadTypes {
  readonly opus: ReadonlySet<number>
  readonly keys: ReadonlySet<number>
}
