import type { Problem } from '../graph/input/validation.ts'

const maxShown = 20
/** To find a problem takes longer than to read the value: all of a file with a hundred thousand would take seconds. */
export const maxCounted = 1000

/** A world file that breaks a rule: nothing of it is applied. The message has one line for each problem, with its place. */
export class WorldRefused extends Error {
  readonly problems: readonly Problem[]
  /** All of them, of which only the first are in `problems`; at `maxCounted` there may be more. */
  readonly count: number

  constructor(file: string, problems: readonly Problem[], count: number) {
    const lines = problems.map(({ place, problem }) => [file, place, problem].filter((part) => part !== '').join(': '))
    const rest = `${count - problems.length} more`
    if (count > problems.length) lines.push(count < maxCounted ? `and ${rest}` : `and at least ${rest}`)
    super(lines.join('\n'))
    this.problems = problems
    this.count = count
  }
}

/** Collects the problems of a file: counts them up to a limit, keeps the first. */
export class Problems {
  readonly #kept: Problem[] = []
  #count = 0

  add(place: string, problem: string): void {
    if (this.#count < maxCounted) this.#count++
    if (this.#kept.length < maxShown) this.#kept.push({ place, problem })
  }

  /** Adds problems that are found on demand: beyond the limit no more are looked for. */
  addAll(place: string, problems: Iterable<Problem>): void {
    for (const { place: inner, problem } of problems) {
      this.add(place === '' ? inner : `${place}.${inner}`, problem)
      if (this.#count >= maxCounted) return
    }
  }

  /** A copy to which problems can be added without changing this one. */
  copy(): Problems {
    const copy = new Problems()
    copy.#kept.push(...this.#kept)
    copy.#count = this.#count
    return copy
  }

  refuseIfAny(file: string): void {
    if (this.#count > 0) throw new WorldRefused(file, this.#kept, this.#count)
  }
}

/** Reports duplicate values in the file. */
export class Repeats {
  readonly #problems: Problems
  readonly #places = new Map<string, string>()

  constructor(problems: Problems) {
    this.#problems = problems
  }

  note(value: string, place: string, what: string): void {
    const first = this.#places.get(value)
    if (first === undefined) this.#places.set(value, place)
    else this.#problems.add(place, `${first} has ${what} already; give another, or leave one of them out.`)
  }
}
