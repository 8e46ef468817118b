import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { VoiceError } from '../voice-error.ts'
import { firstPage, lastPage, writePage } from './ogg.ts'
import { fillSilence, samplesInPacket } from './opus.ts'
import { sampleRate } from './samples.ts'

/** How much is written at once: what a killed process loses. */
const pageSamples = sampleRate
/** What a page has room for. */
const mostSegments = 255

/**
 * Writes what is heard into an Ogg Opus file (RFC 7845): each packet as it came, and silence where none did. It is whole when it is
 * closed; until then it ends without the mark of its last page, which players accept.
 */
export class Recording {
  readonly #file: number
  readonly #serial = randomBytes(4).readUInt32LE()
  #sequence = 0
  /** Where the sound is, in samples. */
  #position = 0
  #waiting: Uint8Array[] = []
  #waitingSince = 0
  #segments = 0

  constructor(path: string) {
    try {
      this.#file = openSync(path, 'w')
    } catch (error) {
      throw new VoiceError(
        `${path} cannot be written (${(error as NodeJS.ErrnoException).code}): give --record a path in a folder that is there`,
      )
    }
    this.#write(firstPage, 0n, [makeHead()])
    this.#write(0, 0n, [makeTags()])
  }

  /** Adds a packet whose sound begins at a place, in samples since the first one. */
  add(packet: Uint8Array, at: number): void {
    for (const silence of fillSilence(at - this.#position)) this.#append(silence)
    this.#position = Math.max(this.#position, at)
    this.#append(packet)
  }

  #append(packet: Uint8Array): void {
    const segments = Math.floor(packet.length / 255) + 1
    if (this.#segments + segments > mostSegments) this.#flush(0)
    this.#segments += segments
    this.#waiting.push(packet)
    this.#position += samplesInPacket(packet) ?? 0
    if (this.#position - this.#waitingSince >= pageSamples) this.#flush(0)
  }

  #flush(flags: number): void {
    this.#write(flags, BigInt(this.#position), this.#waiting)
    this.#waiting = []
    this.#waitingSince = this.#position
    this.#segments = 0
  }

  #write(flags: number, granule: bigint, packets: readonly Uint8Array[]): void {
    const page = { serial: this.#serial, sequence: this.#sequence++, flags, granule }
    writeSync(this.#file, writePage(page, packets))
  }

  close(): void {
    this.#flush(lastPage)
    closeSync(this.#file)
  }
}

function makeHead(): Uint8Array {
  const head = Buffer.alloc(19)
  head.write('OpusHead', 'latin1')
  head.writeUInt8(1, 8)
  head.writeUInt8(1, 9)
  // Nothing is skipped: a call is joined at any place of its encoder.
  head.writeUInt16LE(0, 10)
  head.writeUInt32LE(sampleRate, 12)
  return head
}

function makeTags(): Uint8Array {
  const vendor = Buffer.from('switchboard')
  const length = Buffer.alloc(4)
  length.writeUInt32LE(vendor.length)
  return Buffer.concat([Buffer.from('OpusTags'), length, vendor, Buffer.alloc(4)])
}
