import { TrialGate } from './trial-gate.ts'

export interface WorkGroupsOptions<Work, Outcome> {
  readonly doAlone: (work: Work) => Promise<Outcome>
  /** Does several works with one fairness key at the price of one. Each gets its outcome; undefined: it must be done alone. */
  readonly doTogether: (works: readonly Work[], fairnessKey: string) => Promise<readonly (Done<Outcome> | undefined)[]>
  /** Whether an error means that nothing can be done at the moment: then no work is at fault. */
  readonly isOutage: (error: unknown) => boolean
  /** Makes the error of a work that was not begun: too many wait already, or it has waited for too long. */
  readonly makeBusy: (kind: 'crowded' | 'waited', message: string) => Error
  /** The longest that a work waits for its group, in milliseconds. */
  readonly timeoutMs: number
}

/** What became of a work that was done, or refused by itself. */
export type Done<Outcome> = { readonly outcome: Outcome } | { readonly error: unknown }

interface Waiting<Work, Outcome> {
  readonly work: Work
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void
  readonly reject: (error: unknown) => void
  readonly since: number
}

interface Queue<Work, Outcome> {
  readonly waiting: Waiting<Work, Outcome>[]
  underWay: number
  isScheduled: boolean
  /** Set while the works that are expected are waited for. */
  idleTimer: NodeJS.Timeout | undefined
  /** How many end the wait. */
  expected: number
  /** How many works there were at one time, at the most, lately. */
  peak: number
}

const maxGroup = 64
/** Concurrent groups of one queue: the second and later ones only for works that would wait long. */
const maxUnderWay = 4
/** How many works of one queue may wait for a group; so many are a few groups, unless the database is stuck. */
const maxWaiting = 1000
/**
 * Milliseconds after which waiting works stop waiting for the group before them, because it may be blocked by a lock. A slow database
 * is no reason: there, small groups would only make it slower. So it is several times what a group usually takes, within bounds.
 */
const stuckAfter = { least: 20, most: 250, usualTimes: 4 }
/**
 * A work of a large group costs a fraction of one that is done alone. So fewer works than there were lately wait for the others:
 * whoever just got a response mostly writes again at once, and where several processes share the works, none of them has many at any
 * moment. They wait as long as a group usually takes, which is longer the busier the machine is, up to milliseconds. Where writes
 * come at random, waiting is in vain: then it is seldom tried.
 */
const longestHold = 12
/** Fewer are no crowd: they would wait for long, and save little. */
const leastCrowd = 8
/** What is left of the most works at one time with each group after them: works do not come to each process evenly. */
const peakLeft = 0.9
/** The weight of one group in what is usual. */
const newWeight = 1 / 8

/**
 * Does concurrent works together, as the embedded store does with all writes. Works that arrive while a group is under way form the
 * next one. When one of them makes a group fail, each is done alone.
 */
export class WorkGroups<Work, Outcome> {
  readonly #options: WorkGroupsOptions<Work, Outcome>
  readonly #queues = new Map<string, Queue<Work, Outcome>>()
  /** How long a group takes, in milliseconds: an average in which the last ones weigh most. */
  #usual = 0
  /** Whether it is worth it to wait for those who were there lately. */
  readonly #holding = new TrialGate()

  constructor(options: WorkGroupsOptions<Work, Outcome>) {
    this.#options = options
  }

  take(fairnessKey: string, work: Work): Promise<Outcome> {
    let queue = this.#queues.get(fairnessKey)
    if (!queue) {
      queue = { waiting: [], underWay: 0, isScheduled: false, idleTimer: undefined, expected: 0, peak: 0 }
      this.#queues.set(fairnessKey, queue)
    }
    const { waiting } = queue
    if (waiting.length >= maxWaiting) {
      return Promise.reject(this.#options.makeBusy('crowded', `${maxWaiting} writes of one app wait already`))
    }
    return new Promise((resolve, reject) => {
      waiting.push({ work, resolve, reject, since: performance.now() })
      if (queue.idleTimer === undefined) this.#schedule(fairnessKey, queue)
      else if (waiting.length >= queue.expected) {
        this.#holding.noteSuccess()
        this.#endIdleHold(fairnessKey, queue)
      }
    })
  }

  /** Works that arrived together are read in one turn of the event loop; after it, all of them are here. */
  #schedule(fairnessKey: string, queue: Queue<Work, Outcome>): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    const begin = () => {
      queue.isScheduled = false
      this.#begin(fairnessKey, queue)
    }
    if (queue.underWay === 0) setImmediate(begin)
    else setTimeout(begin, Math.min(stuckAfter.most, Math.max(stuckAfter.least, stuckAfter.usualTimes * this.#usual)))
  }

  #begin(fairnessKey: string, queue: Queue<Work, Outcome>): void {
    this.#refuseLate(queue)
    const mayBegin = queue.waiting.length > 0 && queue.underWay < maxUnderWay
    if (mayBegin) {
      queue.underWay += 1
      const started = performance.now()
      const group = queue.waiting.splice(0, maxGroup)
      void this.#run(fairnessKey, group).finally(() => {
        queue.underWay -= 1
        this.#usual += newWeight * (Math.min(performance.now() - started, stuckAfter.most) - this.#usual)
        queue.peak = Math.max(group.length + queue.waiting.length, peakLeft * queue.peak)
        const isSmall = queue.peak >= leastCrowd && queue.waiting.length < Math.min(Math.round(queue.peak), maxGroup)
        if (queue.underWay === 0 && isSmall && this.#holding.mayTry()) this.#holdIdle(fairnessKey, queue)
        else this.#goOn(fairnessKey, queue)
      })
    }
    if (queue.waiting.length > 0) this.#schedule(fairnessKey, queue)
  }

  #goOn(fairnessKey: string, queue: Queue<Work, Outcome>): void {
    // Works that came meanwhile go at once, whatever the timer says.
    this.#begin(fairnessKey, queue)
    if (queue.underWay === 0 && queue.waiting.length === 0) this.#queues.delete(fairnessKey)
  }

  #holdIdle(fairnessKey: string, queue: Queue<Work, Outcome>): void {
    clearTimeout(queue.idleTimer)
    queue.expected = Math.min(Math.round(queue.peak), maxGroup)
    const milliseconds = Math.min(longestHold, this.#usual)
    queue.idleTimer = setTimeout(() => {
      this.#holding.noteFailure()
      this.#endIdleHold(fairnessKey, queue)
    }, milliseconds)
  }

  #endIdleHold(fairnessKey: string, queue: Queue<Work, Outcome>): void {
    clearTimeout(queue.idleTimer)
    queue.idleTimer = undefined
    this.#goOn(fairnessKey, queue)
  }

  /** Works wait in order, so the ones that have waited too long are in front. */
  #refuseLate({ waiting }: Queue<Work, Outcome>): void {
    const oldest = performance.now() - this.#options.timeoutMs
    while ((waiting[0]?.since ?? oldest) < oldest) {
      waiting.shift()?.reject(this.#options.makeBusy('waited', 'the writes before this one took too long'))
    }
  }

  async #run(fairnessKey: string, group: readonly Waiting<Work, Outcome>[]): Promise<void> {
    const { doAlone, doTogether, isOutage } = this.#options
    try {
      const works = group.map(({ work }) => work)
      const done = await doTogether(works, fairnessKey)
      for (const [index, { work, resolve, reject }] of group.entries()) {
        const one = done[index]
        if (!one) resolve(doAlone(work))
        else if ('error' in one) reject(one.error)
        else resolve(one.outcome)
      }
    } catch (error) {
      const isOutageOfAll = isOutage(error)
      for (const { work, resolve, reject } of group) {
        if (isOutageOfAll) reject(error)
        else resolve(doAlone(work))
      }
    }
  }
}
