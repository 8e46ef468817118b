/** Of how many packets exactly the given share is lost. */
const deckSize = 100

/** Which packets are lost on purpose: a share of every hundred, at random places. */
export class Loss {
  readonly #percent: number
  readonly #random: () => number
  #deck: boolean[] = []

  constructor(percent: number, random: () => number) {
    this.#percent = percent
    this.#random = random
  }

  isNextLost(): boolean {
    if (this.#percent === 0) return false
    if (this.#deck.length === 0) this.#deck = this.#shuffle()
    return this.#deck.pop() === true
  }

  #shuffle(): boolean[] {
    const deck = Array.from({ length: deckSize }, (_, index) => index < Math.round(this.#percent))
    for (let last = deckSize - 1; last > 0; last--) {
      const other = Math.floor(this.#random() * (last + 1))
      const kept = deck[last] as boolean
      deck[last] = deck[other] as boolean
      deck[other] = kept
    }
    return deck
  }
}
