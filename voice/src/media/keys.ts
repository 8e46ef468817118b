/** What a key is in a telephone-event (RFC 4733, 3.2). */
const events = '0123456789*#ABCD'

export function isKey(key: string): boolean {
  return key.length === 1 && events.includes(key)
}

/** How long a key sounds, in packets of 20 ms; the last is sent three times, because none is sent again. */
export const packetsOfKey = 8
export const endsOfKey = 3
/** The sound between two keys, in packets. */
export const packetsBetweenKeys = 4

const clockRate = 8000
/** Loud enough for every receiver, in decibels below the loudest possible. */
const volume = 10

/** The payload of a key that has sounded for so many packets. */
export function writeKey(key: string, packets: number, isEnd: boolean): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt8(events.indexOf(key), 0)
  payload.writeUInt8((isEnd ? 0x80 : 0) | volume, 1)
  payload.writeUInt16BE((packets * clockRate) / 50, 2)
  return payload
}

/** The keys in a stream of packets: several packets with one timestamp are one key. */
export class KeyReader {
  readonly #onKey: (key: string) => void
  #last: number | undefined

  constructor(onKey: (key: string) => void) {
    this.#onKey = onKey
  }

  add(payload: Uint8Array, timestamp: number): void {
    const key = events[payload[0] ?? -1]
    if (payload.length < 4 || key === undefined || timestamp === this.#last) return
    this.#last = timestamp
    this.#onKey(key)
  }
}
