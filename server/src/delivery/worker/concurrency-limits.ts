import { minute } from '../../base/time/duration.ts'
import { Window } from './host-window.ts'

/** Who a post is for, and where it goes. */
export interface Destination {
  readonly app_id: string
  /** Scheme, host and port. */
  readonly origin: string
}

/** A lane that is claimed: where it leads, and what its limits depend on. */
export interface Claim extends Destination {
  /** Whether its subscriber failed last, as far as this process knows. */
  readonly isFailing: boolean
}

/**
 * What the end of a post says about its host: it responded, whatever the status; it was silent for the whole time; or neither. A
 * connection that is refused or reset takes no time, so it is no sign of a host that hangs.
 */
export type PostEnd = 'responded' | 'silent' | 'neither'

/** Counts a post until it has ended. */
export interface Reservation {
  release(end: PostEnd): void
}

interface Usage {
  posts: number
  lanes: number
}

interface Origin extends Usage {
  readonly window: Window
  /** How many of the posts and lanes belong to subscribers that failed last. */
  readonly failing: Usage
  respondedTime: number
  usedTime: number
}

export interface ConcurrencySettings {
  /** Posts under way, and lanes held, by this process. */
  readonly posts: number
  readonly lanes: number
  /** The same for one app. */
  readonly app: number
  /** For one app while more than half of the process's posts are under way. */
  readonly appWhenBusy: number
  /** For one host: adapted between these bounds. */
  readonly origin: { readonly initial: number; readonly smallest: number; readonly largest: number }
}

/**
 * Keeps one app or one host from using up a process: a hanging host holds every post until its timeout, however many subscribers
 * are on it.
 */
const defaultConcurrency: ConcurrencySettings = {
  posts: 512,
  lanes: 1000,
  app: 128,
  appWhenBusy: 16,
  origin: { initial: 32, smallest: 2, largest: 128 },
}

/** The part of a host's posts and lanes for subscribers that failed last, so that a hanging one does not take the turns of its neighbour. */
const failingShare = 1 / 4
const leastFailing = 2
/** How many lanes of a host are held for each post that it may have: a lane does not always have a post under way. */
const lanesPerPost = 2
/** How long the window of a host is kept after its last post, and of how many hosts. */
const idleMilliseconds = 10 * minute
const maxIdleOrigins = 10_000

/** Limits the posts and lanes of a process, and among them those of one app and of one host. */
export class ConcurrencyLimits {
  readonly #limits: ConcurrencySettings
  readonly #total: Usage = { posts: 0, lanes: 0 }
  readonly #apps = new Map<string, Usage>()
  /** Hosts with posts under way or lanes held: never more than the limits allow. */
  readonly #origins = new Map<string, Origin>()
  /** Hosts without either, the one that was used longest ago first. */
  readonly #idle = new Map<string, Origin>()
  /** Stands for every host that nothing is known about. */
  readonly #unknown: Origin

  constructor(limits: ConcurrencySettings = defaultConcurrency) {
    this.#limits = limits
    this.#unknown = makeOrigin(limits)
  }

  /** How many hosts it keeps in memory. */
  get knownOrigins(): number {
    return this.#origins.size + this.#idle.size
  }

  /** Whether a lane may be claimed: holding more lanes than can send is useless. */
  canClaim({ app_id, origin: name }: Destination, isFailing: boolean): boolean {
    const { app, lanes } = this.#limits
    if (this.#total.lanes >= lanes || (this.#apps.get(app_id)?.lanes ?? 0) >= app) return false
    const origin = this.#findOrigin(name) ?? this.#unknown
    const isFull = origin.lanes >= lanesPerPost * origin.window.size
    return !isFull && (!isFailing || origin.failing.lanes < lanesPerPost * failingLimit(origin))
  }

  /** Counts a claimed lane until `releaseLane`. */
  reserve(destination: Destination, isFailing: boolean): void {
    this.#count(destination, isFailing, 'lanes', 1)
  }

  releaseLane(destination: Destination, isFailing: boolean): void {
    this.#count(destination, isFailing, 'lanes', -1)
  }

  /** Counts one post as begun; undefined when a limit is reached. */
  beginPost(destination: Destination, isFailing: boolean): Reservation | undefined {
    const { posts, app, appWhenBusy } = this.#limits
    const ofApp = this.#apps.get(destination.app_id)?.posts ?? 0
    const isBusy = 2 * this.#total.posts > posts
    if (this.#total.posts >= posts || ofApp >= (isBusy ? appWhenBusy : app)) return undefined
    const known = this.#findOrigin(destination.origin) ?? this.#unknown
    if (known.posts >= known.window.size) return undefined
    if (isFailing && known.failing.posts >= failingLimit(known)) return undefined
    const origin = this.#count(destination, isFailing, 'posts', 1)
    const number = origin.window.start()
    const startedTime = performance.now()
    return {
      release: (end) => {
        if (end === 'responded') {
          origin.respondedTime = performance.now()
          origin.window.grow(origin.posts)
        } else if (end === 'silent' && origin.respondedTime < startedTime) {
          // A host that responded to other posts meanwhile does not hang.
          origin.window.cut(number)
        }
        this.#count(destination, isFailing, 'posts', -1)
      },
    }
  }

  #count({ app_id, origin: name }: Destination, isFailing: boolean, what: keyof Usage, change: 1 | -1): Origin {
    this.#total[what] += change
    const ofApp = this.#apps.get(app_id) ?? { posts: 0, lanes: 0 }
    ofApp[what] += change
    if (ofApp.posts + ofApp.lanes === 0) this.#apps.delete(app_id)
    else this.#apps.set(app_id, ofApp)
    const origin = this.#findOrigin(name) ?? makeOrigin(this.#limits)
    origin[what] += change
    if (isFailing) origin.failing[what] += change
    this.#keep(name, origin)
    return origin
  }

  #findOrigin(name: string): Origin | undefined {
    const busy = this.#origins.get(name)
    if (busy) return busy
    const idle = this.#idle.get(name)
    return idle && performance.now() - idle.usedTime < idleMilliseconds ? idle : undefined
  }

  #keep(name: string, origin: Origin): void {
    this.#idle.delete(name)
    if (origin.posts + origin.lanes > 0) {
      this.#origins.set(name, origin)
      return
    }
    this.#origins.delete(name)
    origin.usedTime = performance.now()
    this.#idle.set(name, origin)
    if (this.#idle.size <= maxIdleOrigins) return
    const [oldest] = this.#idle.keys()
    this.#idle.delete(oldest as string)
  }
}

function makeOrigin({ origin }: ConcurrencySettings): Origin {
  return {
    posts: 0,
    lanes: 0,
    failing: { posts: 0, lanes: 0 },
    window: new Window(origin),
    respondedTime: Number.NEGATIVE_INFINITY,
    usedTime: 0,
  }
}

function failingLimit({ window }: Origin): number {
  return Math.max(leastFailing, Math.floor(window.size * failingShare))
}
