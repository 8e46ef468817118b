/** As much of an RTP packet as its order needs. */
interface Numbered {
  readonly header: { readonly ssrc: number; readonly sequenceNumber: number }
}

/** How many packets may wait for one before them; at 20 ms a packet, 200 ms. */
const mostWaiting = 10
/** A number so far off is of a sender that began anew. */
const farOff = 3000

/** Puts packets into the order in which they were sent, drops those that came twice, and counts those that never came. */
export class PacketOrder<Packet extends Numbered> {
  readonly #onPacket: (packet: Packet) => void
  #ssrc: number | undefined
  /** The number of the next packet, without the turns of its 16 bits. */
  #next = 0
  #first = 0
  #newest = 0
  readonly #waiting = new Map<number, Packet>()
  #received = 0
  #lostBefore = 0

  constructor(onPacket: (packet: Packet) => void) {
    this.#onPacket = onPacket
  }

  get received(): number {
    return this.#received
  }

  get lost(): number {
    return this.#lostBefore + this.#missing
  }

  /** How many between the first and the newest of the present sender are neither here nor were. */
  get #missing(): number {
    return this.#ssrc === undefined ? 0 : this.#newest - this.#first + 1 - this.#receivedOfSender
  }

  #receivedOfSender = 0

  add(packet: Packet): void {
    const { ssrc, sequenceNumber } = packet.header
    let number = this.#extend(sequenceNumber)
    if (ssrc !== this.#ssrc || Math.abs(number - this.#next) > farOff) {
      this.#begin(ssrc, sequenceNumber)
      number = sequenceNumber
    }
    if (number < this.#next && number >= this.#first) return this.#addLate(number)
    // Before the first one that came, and too late to be played.
    if (number < this.#next || this.#waiting.has(number)) return
    this.#received += 1
    this.#receivedOfSender += 1
    this.#newest = Math.max(this.#newest, number)
    this.#waiting.set(number, packet)
    this.#hand()
  }

  readonly #handed = new Set<number>()

  /** It came, but what was after it is played already. */
  #addLate(number: number): void {
    if (this.#handed.has(number)) return
    this.#handed.add(number)
    this.#received += 1
    this.#receivedOfSender += 1
  }

  /** Hands on what waits, also behind those that never came. */
  flush(): void {
    while (this.#waiting.size > 0) this.#skip()
  }

  #begin(ssrc: number, sequenceNumber: number): void {
    this.flush()
    this.#lostBefore += this.#missing
    this.#ssrc = ssrc
    this.#next = sequenceNumber
    this.#first = sequenceNumber
    this.#newest = sequenceNumber - 1
    this.#receivedOfSender = 0
    this.#handed.clear()
  }

  #hand(): void {
    this.#handOn()
    while (this.#waiting.size > mostWaiting) this.#skip()
  }

  /** Does not wait any longer for the packets before the first that waits. */
  #skip(): void {
    this.#next = Math.min(...this.#waiting.keys())
    this.#handOn()
  }

  #handOn(): void {
    for (let packet = this.#waiting.get(this.#next); packet; packet = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next)
      this.#handed.add(this.#next)
      this.#handed.delete(this.#next - farOff)
      this.#next += 1
      this.#onPacket(packet)
    }
  }

  /** The number that is nearest to the one that is expected. */
  #extend(sequenceNumber: number): number {
    const off = (sequenceNumber - (this.#next & 0xffff) + 0x18000) & 0xffff
    return this.#next + off - 0x8000
  }
}
