import { readFileSync } from 'node:fs'

/** A measurement that was within its limits or not, and a line that says what was measured. */
export interface Measured {
  readonly isGood: boolean
  readonly text: string
}

/** Of the time of the processors. */
const mostStolen = 0.03
/** How often an undisturbed measurement may be beyond its limits. */
const enoughTries = 5
/** Milliseconds after which no further one is begun. */
const timeoutMs = 300_000

/**
 * Repeats a measurement until it is within its limits. What is not counts only when the host left the processors to this machine
 * meanwhile: five of those, or five minutes, are a failure.
 */
export async function measureUntilGood(
  t: { diagnostic(text: string): void },
  measure: () => Promise<Measured>,
): Promise<void> {
  const found: string[] = []
  const end = performance.now() + timeoutMs
  for (let undisturbed = 0; undisturbed < enoughTries && performance.now() < end; ) {
    const before = readTimes()
    const { isGood, text } = await measure()
    const stolen = shareStolen(before, readTimes())
    const line = `${text}; ${(stolen * 100).toFixed(0)} % of the processors were taken by the host`
    t.diagnostic(line)
    if (isGood) return
    found.push(line)
    if (stolen <= mostStolen) undisturbed += 1
  }
  throw new Error(found.join('\n'))
}

/** Keeps what many runs took, in milliseconds, but for those in which the host took a processor. */
export class UndisturbedTimes {
  readonly #times: number[] = []
  #all = 0

  async time<T>(run: () => Promise<T>): Promise<T> {
    const { stolen } = readTimes()
    const start = performance.now()
    const result = await run()
    const took = performance.now() - start
    this.#all += 1
    if (readTimes().stolen === stolen) this.#times.push(took)
    return result
  }

  /** One of a thousand meets a collection of garbage, a slow disk or a machine that does something else. */
  get nearlyLongest(): number {
    return this.#longerThan(0.999)
  }

  toString(): string {
    const [median, nearly] = [this.#longerThan(0.5), this.nearlyLongest]
    return `${this.#times.length} of ${this.#all} undisturbed, median ${median.toFixed(1)} ms, 99.9 % below ${nearly.toFixed(1)} ms`
  }

  /** The time that is longer than such a share of them. */
  #longerThan(share: number): number {
    const sorted = this.#times.toSorted((one, other) => one - other)
    return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  }
}

interface ProcessorTimes {
  readonly all: number
  readonly stolen: number
}

/** Since the machine started. Only Linux says what its host took. */
function readTimes(): ProcessorTimes {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 }
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of the first two.
  const times = first.split(/ +/).slice(1, 9).map(Number)
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 }
}

function shareStolen(before: ProcessorTimes, after: ProcessorTimes): number {
  return after.all > before.all ? (after.stolen - before.stolen) / (after.all - before.all) : 0
}
