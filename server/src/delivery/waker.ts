import { Loop } from '../base/loop.ts'
import { type Listening, maxNoticeBytes, type Notices } from '../db/notices.ts'

/** How the processes on one store wake each other's workers. It saves waiting, and nothing more: polling stays behind it. */
export interface Waker {
  /** There is something new for lanes that another process holds or has to work on; undefined: nobody knows for which. */
  announceLanes(ids: readonly string[] | undefined): void
  /** A timer was set that may be due soon. */
  announceTimers(): void
  /** Told of what others announce; undefined when it is not known for which lanes. */
  onLanes(hear: (ids: readonly string[] | undefined) => void): void
  onTimers(hear: () => void): void
  /** Whether everything that others announce is heard at once. */
  readonly isLive: boolean
  close(): Promise<void>
}

/** For whoever hears of nobody. */
export const silentWaker: Waker = {
  announceLanes() {},
  announceTimers() {},
  onLanes() {},
  onTimers() {},
  isLive: false,
  async close() {},
}

/** For the only process on its store: there is nobody who could announce anything. */
export const loneWaker: Waker = { ...silentWaker, isLive: true }

const channel = 'switchboard'
/** Announcements of so long go out together. */
const paceMilliseconds = 20
/** Ids of lanes have 32 characters. */
const maxLanes = Math.floor((maxNoticeBytes - 100) / 36)

interface Notice {
  readonly from: string
  readonly timers?: true
  /** Missing: none. */
  readonly lanes?: readonly string[]
  /** There were too many to name. */
  readonly any?: true
}

/** Wakes by notices of the database, one for all that is announced in a moment. */
export class NoticeWaker implements Waker {
  readonly #notices: Notices
  readonly #name: string
  readonly #listening: Listening | undefined
  readonly #loop: Loop
  readonly #lanes = new Set<string>()
  #hasUnknownLanes = false
  #hasTimers = false
  #hearLanes: (ids: readonly string[] | undefined) => void = () => undefined
  #hearTimers: () => void = () => undefined

  /** `name` tells this process from the others; one without workers need not listen. */
  constructor(notices: Notices, name: string, { listens }: { listens: boolean }) {
    this.#notices = notices
    this.#name = name
    this.#loop = new Loop({ work: () => this.#send(), pause: paceMilliseconds, onFailure: () => undefined })
    this.#listening = listens
      ? notices.listen(
          channel,
          (text) => this.#take(text),
          () => this.#catchUp(),
        )
      : undefined
  }

  get isLive(): boolean {
    return this.#listening?.isLive ?? false
  }

  announceLanes(ids: readonly string[] | undefined): void {
    if (ids === undefined) this.#hasUnknownLanes = true
    for (const id of ids ?? []) this.#lanes.add(id)
    if (this.#hasNews) this.#loop.wake()
  }

  announceTimers(): void {
    this.#hasTimers = true
    this.#loop.wake()
  }

  onLanes(hear: (ids: readonly string[] | undefined) => void): void {
    this.#hearLanes = hear
  }

  onTimers(hear: () => void): void {
    this.#hearTimers = hear
  }

  async close(): Promise<void> {
    await this.#loop.settle()
    await this.#loop.stop()
    await this.#listening?.close()
  }

  get #hasNews(): boolean {
    return this.#lanes.size > 0 || this.#hasUnknownLanes || this.#hasTimers
  }

  async #send(): Promise<void> {
    const lanes = [...this.#lanes]
    const notice: Notice = {
      from: this.#name,
      ...(this.#hasTimers && { timers: true }),
      ...(this.#hasUnknownLanes || lanes.length > maxLanes ? { any: true } : lanes.length > 0 && { lanes }),
    }
    this.#lanes.clear()
    this.#hasUnknownLanes = false
    this.#hasTimers = false
    // What does not arrive is found by a poll.
    await this.#notices.send(channel, JSON.stringify(notice)).catch(() => undefined)
  }

  #take(text: string): void {
    const notice = readNotice(text)
    if (!notice || notice.from === this.#name) return
    if (notice.timers) this.#hearTimers()
    if (notice.any) this.#hearLanes(undefined)
    else if (notice.lanes) this.#hearLanes(notice.lanes)
  }

  #catchUp(): void {
    this.#hearTimers()
    this.#hearLanes(undefined)
  }
}

/** A newer version may say more than this one understands. */
function readNotice(text: string): Notice | undefined {
  try {
    return JSON.parse(text) as Notice
  } catch {
    return undefined
  }
}
