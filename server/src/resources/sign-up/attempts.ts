/** Requests that exchange one code, each of which began before another of them had ended. */
class Burst {
  underWay = 0
  hasWinner = false
}

/** One request that exchanges a code. */
export class Attempt {
  readonly #begun: number
  readonly #burst: Burst

  constructor(begun: number, burst: Burst) {
    this.#begun = begun
    this.#burst = burst
  }

  win(): void {
    this.#burst.hasWinner = true
  }

  /** Whether this request was under way when the code was used; by the time alone where another process did that. */
  isRaceWith(used_time: number): boolean {
    return this.#begun < used_time || this.#burst.hasWinner
  }
}

/**
 * The exchanges of codes that are under way in this process. A client that repeats itself, or a proxy that does, sends a code twice at
 * once: whoever comes second has lost a race, and is no sign that the code has leaked.
 */
export class Attempts {
  readonly #bursts = new Map<string, Burst>()

  async run<T>(code: string, now: number, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    const burst = this.#bursts.get(code) ?? new Burst()
    this.#bursts.set(code, burst)
    burst.underWay += 1
    try {
      return await work(new Attempt(now, burst))
    } finally {
      burst.underWay -= 1
      if (burst.underWay === 0) this.#bursts.delete(code)
    }
  }
}
