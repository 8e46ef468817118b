import { randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, existsSync, openSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
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
  readonly #path: string
  readonly #onProblem: (message: string) => void
  #isBroken = false
  readonly #serial = randomBytes(4).readUInt32LE()
  #sequence = 0
  /** Where the sound is, in samples. */
  #position = 0
  #waiting: Uint8Array[] = []
  #waitingSince = 0
  #segments = 0

  /** `onProblem` is called once when the disk takes no more: the call goes on, and the recording ends there. */
  constructor(path: string, onProblem: (message: string) => void = () => undefined) {
    this.#path = path
    this.#onProblem = onProblem
    this.#file = tryPath(path, () => openSync(path, 'w'))
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
    // Before a packet and not behind it, so that the last page is not an empty one.
    const isFull = this.#segments + segments > mostSegments || this.#position - this.#waitingSince >= pageSamples
    if (isFull) this.#flush(0)
    this.#segments += segments
    this.#waiting.push(packet)
    this.#position += samplesInPacket(packet) ?? 0
  }

  #flush(flags: number): void {
    this.#write(flags, BigInt(this.#position), this.#waiting)
    this.#waiting = []
    this.#waitingSince = this.#position
    this.#segments = 0
  }

  #write(flags: number, granule: bigint, packets: readonly Uint8Array[]): void {
    const page = { serial: this.#serial, sequence: this.#sequence++, flags, granule }
    if (this.#isBroken) return
    try {
      writeSync(this.#file, writePage(page, packets))
    } catch (error) {
      this.#isBroken = true
      this.#onProblem(`${this.#path} is not whole: it cannot be written any more (${codeOf(error)})`)
    }
  }

  close(): void {
    this.#flush(lastPage)
    closeSync(this.#file)
  }
}

/** Whether a recording can be made at a path, before there is anything to record. */
export function checkRecordable(path: string): void {
  tryPath(path, () => {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK)
    if (existsSync(path) && statSync(path).isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
  })
}

function tryPath<Result>(path: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw new VoiceError(`${path} cannot be written (${codeOf(error)}): give --record a path in a folder that is there`)
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
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
