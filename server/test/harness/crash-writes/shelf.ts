import { isDeepStrictEqual } from 'node:util'
import type { Recorded } from './activities.ts'
import type { Answer, Doors, Write } from './doors.ts'

/** The store does not hold what it must. */
export class Contradiction extends Error {}

/** One change of one resource. */
export interface Change<T> {
  /** Undefined when the server chooses it. */
  readonly key?: string | undefined
  /**
   * The resource afterwards; undefined when it is gone. A function where the server draws a part of it: it is given what is
   * seen, takes over what it cannot know, and says the rest.
   */
  readonly value: T | undefined | ((seen: T | undefined) => T | undefined)
  /** The events that it raises. */
  readonly raises?: readonly string[]
}

export type Outcome = 'happened' | 'did not happen'

/**
 * What the store must hold of one kind of resource: what was acknowledged, and perhaps one change that was under way when the server
 * died, which may have happened or not. Whoever changes a shelf does so one step after the other.
 */
export class Shelf<T> {
  readonly name: string
  readonly #doors: Doors
  #known: Map<string, T> = new Map()
  #open: { readonly change: Change<T>; readonly recorded: Recorded | undefined } | undefined

  constructor(name: string, doors: Doors) {
    this.name = name
    this.#doors = doors
  }

  get known(): ReadonlyMap<string, T> {
    return this.#known
  }

  get(key: string): T {
    const value = this.#known.get(key)
    if (value === undefined) throw new Error(`${this.name}: ${key} is not known`)
    return value
  }

  /** Takes over what is there before anything was written. */
  begin(seen: ReadonlyMap<string, T>): void {
    this.#known = new Map(seen)
  }

  /** What the server does by itself, when its hour has come. */
  expect(key: string, value: T | undefined): void {
    if (value === undefined) this.#known.delete(key)
    else this.#known.set(key, value)
  }

  /** The same for whatever is there, also for what the change that was under way may have made. */
  evolve(next: (value: T) => T): void {
    for (const [key, value] of this.#known) this.#known.set(key, next(value))
    if (!this.#open) return
    const { change, recorded } = this.#open
    const evolved = (seen: T | undefined) => {
      const value = valueAfter(change, seen)
      return value === undefined ? undefined : next(value)
    }
    this.#open = { change: { ...change, value: evolved }, recorded }
  }

  /** Sends a write; when it is answered, the change counts. `settle` says what a change whose parts the server draws has come to. */
  async change(
    change: Change<T>,
    write: Write,
    settle?: (answer: Answer) => { readonly key?: string; readonly value?: T },
  ): Promise<Answer> {
    const recorded = this.#doors.announce(write)
    this.#open = { change, recorded }
    this.#doors.expectedEvents.mayCome(change.raises)
    const answer = await this.#doors.write(write, recorded)
    this.#open = undefined
    this.#doors.expectedEvents.mustCome(change.raises)
    const settled = settle?.(answer) ?? {}
    const key = settled.key ?? change.key
    const value = 'value' in settled ? settled.value : change.value
    if (key === undefined || typeof value === 'function') throw new Error(`${this.name}: the change is not settled`)
    this.expect(key, value)
    return answer
  }

  /** Holds what is there against what must be, and takes over what has become of the change that was under way. */
  check(seen: ReadonlyMap<string, T>): Outcome | undefined {
    const open = this.#open
    const { state, outcome } = reconcile(this.name, this.#known, open?.change, seen)
    this.#known = state
    this.#open = undefined
    if (!open || outcome === undefined) return outcome
    if (outcome === 'happened') this.#doors.expectedEvents.mustCome(open.change.raises)
    this.#doors.activities.confirm(`${this.name}: a change`, open.recorded, outcome)
    return outcome
  }
}

/** The state that is there, if it is one that may be there. `outcome` is undefined when nothing can be told from it. */
export function reconcile<T>(
  name: string,
  known: ReadonlyMap<string, T>,
  open: Change<T> | undefined,
  seen: ReadonlyMap<string, T>,
): { state: Map<string, T>; outcome: Outcome | undefined } {
  const without = listDifferences(known, seen)
  if (!open) {
    if (without.length === 0) return { state: new Map(seen), outcome: undefined }
    throw new Contradiction(`${name}: ${without.join('; ')}`)
  }
  const after = applyChange(known, open, seen)
  const changesNothing = after !== undefined && listDifferences(known, after).length === 0
  if (without.length === 0) return { state: new Map(seen), outcome: changesNothing ? undefined : 'did not happen' }
  const withIt = after === undefined ? without : listDifferences(after, seen)
  if (withIt.length === 0) return { state: new Map(seen), outcome: 'happened' }
  throw new Contradiction(
    `${name}: without the change that was under way: ${without.join('; ')}; with it: ${withIt.join('; ')}`,
  )
}

/** Undefined when it cannot have happened, because nothing is there that it could have made. */
function applyChange<T>(
  known: ReadonlyMap<string, T>,
  change: Change<T>,
  seen: ReadonlyMap<string, T>,
): Map<string, T> | undefined {
  const key = change.key ?? [...seen.keys()].find((candidate) => !known.has(candidate))
  if (key === undefined) return undefined
  const after = new Map(known)
  const next = valueAfter(change, seen.get(key))
  if (next === undefined) after.delete(key)
  else after.set(key, next)
  return after
}

function valueAfter<T>({ value }: Change<T>, seen: T | undefined): T | undefined {
  return typeof value === 'function' ? (value as (seen: T | undefined) => T | undefined)(seen) : value
}

function listDifferences<T>(expected: ReadonlyMap<string, T>, seen: ReadonlyMap<string, T>): string[] {
  const differences: string[] = []
  for (const [key, value] of expected) {
    if (!seen.has(key)) differences.push(`${key} is lost, which was ${show(value)}`)
    else if (!isDeepStrictEqual(seen.get(key), value)) {
      differences.push(`${key} is ${show(seen.get(key))}, not ${show(value)}`)
    }
  }
  for (const [key, value] of seen) {
    if (!expected.has(key)) differences.push(`${key} is there but must not be: ${show(value)}`)
  }
  return differences
}

function show(value: unknown): string {
  return JSON.stringify(value)
}
