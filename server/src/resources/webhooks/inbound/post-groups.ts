import { DatabaseBusy } from '../../../db/database.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import type { Post, Received } from './post.ts'

export interface PostGroupsOptions {
  readonly takeAlone: (post: Post) => Promise<Received>
  /** Stores several posts with one fairness key in one transaction; a refused post has the refusal as its outcome. */
  readonly takeTogether: (posts: readonly Post[], fairnessKey: string) => Promise<readonly (Received | GraphError)[]>
  /** Whether an error means that the store cannot work at the moment: then no post is at fault. */
  readonly isOutage: (error: unknown) => boolean
  /** The longest that a post waits for its group, in milliseconds. */
  readonly timeoutMs: number
}

interface Waiting {
  readonly post: Post
  readonly resolve: (received: Received | Promise<Received>) => void
  readonly reject: (error: unknown) => void
  readonly since: number
}

interface Queue {
  readonly waiting: Waiting[]
  underWay: number
  isScheduled: boolean
  /** Set while the posts that are expected are waited for. */
  idleTimer: NodeJS.Timeout | undefined
  /** How many end the wait. */
  expected: number
  /** How many posts there were at one time, at the most, lately. */
  peak: number
}

const maxGroup = 64
/** Concurrent groups of one queue: the second and later ones only for posts that would wait long. */
const maxUnderWay = 4
/** How many posts of one queue may wait for a group; so many are a few groups, unless the database is stuck. */
const maxWaiting = 1000
/**
 * Milliseconds after which waiting posts stop waiting for the group before them, because it may be blocked by a lock. A slow database
 * is no reason: there, small groups would only make it slower. So it is several times what a group usually takes, within bounds.
 */
const stuckAfter = { least: 20, most: 250, usualTimes: 4 }
/**
 * A post of a large group costs a fraction of one that is stored alone. So fewer posts than there were lately wait for the others:
 * whoever just got a response mostly writes again at once, and where several processes share the posts, none of them has many at any
 * moment. They wait so many times what a group usually takes, which is longer the busier the machine is, up to milliseconds.
 */
const idleHold = { usualTimes: 4, most: 40 }
/** What is left of the most posts at one time with each group after them: posts do not come to each process evenly. */
const peakLeft = 0.9
/** The weight of one group in what is usual. */
const newWeight = 1 / 8

/**
 * Stores concurrent posts together, as the embedded store does with all writes: a group costs as many statements as a single post. Posts
 * that arrive while a group is under way form the next one. When one post makes a group fail, each is stored alone.
 */
export class PostGroups {
  readonly #options: PostGroupsOptions
  readonly #queues = new Map<string, Queue>()
  /** How long a group takes, in milliseconds: an average in which the last ones weigh most. */
  #usual = 0

  constructor(options: PostGroupsOptions) {
    this.#options = options
  }

  take(fairnessKey: string, post: Post): Promise<Received> {
    let queue = this.#queues.get(fairnessKey)
    if (!queue) {
      queue = { waiting: [], underWay: 0, isScheduled: false, idleTimer: undefined, expected: 0, peak: 0 }
      this.#queues.set(fairnessKey, queue)
    }
    const { waiting } = queue
    if (waiting.length >= maxWaiting) {
      return Promise.reject(new DatabaseBusy('crowded', `${maxWaiting} posts of one app wait already`))
    }
    return new Promise((resolve, reject) => {
      waiting.push({ post, resolve, reject, since: performance.now() })
      if (queue.idleTimer === undefined) this.#schedule(fairnessKey, queue)
      else if (waiting.length >= queue.expected) this.#endIdleHold(fairnessKey, queue)
    })
  }

  /** Posts that arrived together are read in one turn of the event loop; after it, all of them are here. */
  #schedule(fairnessKey: string, queue: Queue): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    const begin = () => {
      queue.isScheduled = false
      this.#begin(fairnessKey, queue)
    }
    if (queue.underWay === 0) setImmediate(begin)
    else setTimeout(begin, Math.min(stuckAfter.most, Math.max(stuckAfter.least, stuckAfter.usualTimes * this.#usual)))
  }

  #begin(fairnessKey: string, queue: Queue): void {
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
        const isSmall = queue.peak > 1 && queue.waiting.length < Math.min(Math.round(queue.peak), maxGroup)
        if (queue.underWay === 0 && isSmall) this.#holdIdle(fairnessKey, queue)
        else this.#goOn(fairnessKey, queue)
      })
    }
    if (queue.waiting.length > 0) this.#schedule(fairnessKey, queue)
  }

  #goOn(fairnessKey: string, queue: Queue): void {
    // Posts that came meanwhile go at once, whatever the timer says.
    this.#begin(fairnessKey, queue)
    if (queue.underWay === 0 && queue.waiting.length === 0) this.#queues.delete(fairnessKey)
  }

  #holdIdle(fairnessKey: string, queue: Queue): void {
    clearTimeout(queue.idleTimer)
    queue.expected = Math.min(Math.round(queue.peak), maxGroup)
    const milliseconds = Math.min(idleHold.most, idleHold.usualTimes * this.#usual)
    queue.idleTimer = setTimeout(() => this.#endIdleHold(fairnessKey, queue), milliseconds)
  }

  #endIdleHold(fairnessKey: string, queue: Queue): void {
    clearTimeout(queue.idleTimer)
    queue.idleTimer = undefined
    this.#goOn(fairnessKey, queue)
  }

  /** Posts wait in order, so those that have waited too long are in front. */
  #refuseLate({ waiting }: Queue): void {
    const oldest = performance.now() - this.#options.timeoutMs
    while ((waiting[0]?.since ?? oldest) < oldest) {
      waiting.shift()?.reject(new DatabaseBusy('waited', 'the posts before this one took too long'))
    }
  }

  async #run(fairnessKey: string, group: readonly Waiting[]): Promise<void> {
    const { takeAlone, takeTogether, isOutage } = this.#options
    try {
      const posts = group.map(({ post }) => post)
      const outcomes = await takeTogether(posts, fairnessKey)
      for (const [index, { post, resolve }] of group.entries()) {
        const outcome = outcomes[index]
        // A refusal is repeated alone, because a caller who is no longer admitted must learn that first.
        resolve(!outcome || outcome instanceof GraphError ? takeAlone(post) : outcome)
      }
    } catch (error) {
      const isOutageOfAll = isOutage(error)
      for (const { post, resolve, reject } of group) {
        if (isOutageOfAll) reject(error)
        else resolve(takeAlone(post))
      }
    }
  }
}
