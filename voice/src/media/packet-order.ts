/** As much of an RTP packet as its order needs. */
interface Numbered {
  readonly header: { readonly ssrc: number; readonly sequenceNumber: number }
}

/** How many packets may wait for one before them; at 20 ms a packet, 200 ms. */
const mostWaiting = 10
/** A number so far off is of a sender that began anew. */
const farOff = 3000

/** Puts packets into the order in which they were sent, drops duplicates, and counts the packets that never came. */
export class PacketOrder<Packet extends Numbered> {
  readonly #onPacket: (packet: Packet) => void
  #sender: Sender<Packet> | undefined
  #receivedBefore = 0
  #lostBefore = 0

  constructor(onPacket: (packet: Packet) => void) {
    this.#onPacket = onPacket
  }

  get received(): number {
    return this.#receivedBefore + (this.#sender?.received ?? 0)
  }

  get lost(): number {
    return this.#lostBefore + (this.#sender?.lost ?? 0)
  }

  add(packet: Packet): void {
    const { ssrc, sequenceNumber } = packet.header
    if (!this.#sender?.sends(ssrc, sequenceNumber)) this.#beginSender(ssrc, sequenceNumber)
    this.#sender?.add(sequenceNumber, packet)
  }

  #beginSender(ssrc: number, sequenceNumber: number): void {
    this.flush()
    this.#receivedBefore = this.received
    this.#lostBefore = this.lost
    this.#sender = new Sender(ssrc, sequenceNumber, this.#onPacket)
  }

  /** Hands on the packets that wait, also behind missing ones. */
  flush(): void {
    this.#sender?.flush()
  }
}

/** The packets of one sender. Its numbers have 16 bits, and go round and round: here they go on. */
class Sender<Packet> {
  readonly #ssrc: number
  readonly #onPacket: (packet: Packet) => void
  readonly #first: number
  /** The packet that is handed on next. */
  #next: number
  #newest: number
  readonly #waiting = new Map<number, Packet>()
  /** What came not long ago. */
  readonly #seen = new Set<number>()
  received = 0

  constructor(ssrc: number, sequenceNumber: number, onPacket: (packet: Packet) => void) {
    this.#ssrc = ssrc
    this.#first = sequenceNumber
    this.#next = sequenceNumber
    this.#newest = sequenceNumber
    this.#onPacket = onPacket
  }

  get lost(): number {
    return this.#newest - this.#first + 1 - this.received
  }

  sends(ssrc: number, sequenceNumber: number): boolean {
    return ssrc === this.#ssrc && Math.abs(this.#extend(sequenceNumber) - this.#next) <= farOff
  }

  add(sequenceNumber: number, packet: Packet): void {
    const number = this.#extend(sequenceNumber)
    if (number < this.#first || this.#seen.has(number)) return
    this.#seen.add(number)
    this.#seen.delete(number - 2 * farOff)
    this.received += 1
    this.#newest = Math.max(this.#newest, number)
    // What comes after those behind it were played is too late for an ear.
    if (number >= this.#next) this.#waiting.set(number, packet)
    this.#handOn()
    while (this.#waiting.size > mostWaiting) this.#skip()
  }

  flush(): void {
    while (this.#waiting.size > 0) this.#skip()
  }

  /** Does not wait any longer for the packets before the first that waits. */
  #skip(): void {
    this.#next = Math.min(...this.#waiting.keys())
    this.#handOn()
  }

  #handOn(): void {
    for (let packet = this.#waiting.get(this.#next); packet; packet = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next)
      this.#next += 1
      this.#onPacket(packet)
    }
  }

  /** The whole number of which this is the end, the one that is nearest to what is expected. */
  #extend(sequenceNumber: number): number {
    const ahead = (sequenceNumber - this.#next) & 0xffff
    return this.#next + (ahead < 0x8000 ? ahead : ahead - 0x10000)
  }
}
