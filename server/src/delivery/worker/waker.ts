import { isListOf, isText, isTextOrNull, readObject } from '../../base/text/json-shapes.ts'
import { Loop } from '../../base/work/loop.ts'
import { type Listening, maxNoticeBytes, type Notices } from '../../db/notifications.ts'

/** A lane with new deliveries, and the process that holds it, if that is known: then nobody else needs to do anything. */
export interface AnnouncedLane {
  readonly id: string
  readonly holder?: string | null
}

/** How the processes on one store wake each other's workers. An optimization only: polling finds everything anyway. */
export interface Waker {
  /** There are new deliveries in lanes that another process holds or should claim; undefined: the lanes are unknown. */
  announceLanes(lanes: readonly AnnouncedLane[] | undefined): void
  /** A timer was set that may be due soon. */
  announceTimers(): void
  /** Called with what other processes announce; undefined when the lanes are unknown. */
  onLanes(hear: (lanes: readonly AnnouncedLane[] | undefined) => void): void
  onTimers(hear: () => void): void
  /** Tells all other processes something short; it may get lost. */
  say(text: string): void
  onSaid(hear: (text: string) => void): void
  /** Whether announcements of other processes arrive at once. */
  readonly isLive: boolean
  close(): Promise<void>
}

/** For a process that hears no announcements. */
export const silentWaker: Waker = {
  announceLanes() {},
  announceTimers() {},
  onLanes() {},
  onTimers() {},
  say() {},
  onSaid() {},
  isLive: false,
  async close() {},
}

/** For the only process on its store: nobody else can announce anything. */
export const loneWaker: Waker = { ...silentWaker, isLive: true }

const channel = 'switchboard'
/** Announcements within this time go out together. */
const paceMilliseconds = 20
/** Ids of lanes and names of holders have 32 characters. */
const maxLanes = Math.floor((maxNoticeBytes - 100) / 72)

/** The most notifications that wait to be sent. */
const maxSaid = 500

interface Notice {
  readonly from: string
  readonly timers?: true
  /** Missing: none. */
  readonly lanes?: readonly string[]
  /** The holders of these lanes, in the same order; null where it is unknown. An earlier version tries to claim them all. */
  readonly holders?: readonly (string | null)[]
  /** There were too many to list. */
  readonly any?: true
  readonly said?: readonly string[]
}

/** Wakes by notifications of the database, one for everything announced in a short time. */
export class NoticeWaker implements Waker {
  readonly #notices: Notices
  readonly #name: string
  readonly #listening: Listening | undefined
  readonly #loop: Loop
  readonly #lanes = new Map<string, string | null>()
  #hasUnknownLanes = false
  #hasTimers = false
  #hearLanes: (lanes: readonly AnnouncedLane[] | undefined) => void = () => undefined
  #hearTimers: () => void = () => undefined
  #said: string[] = []
  #hearSaid: (text: string) => void = () => undefined

  /** `name` identifies this process; a process without workers need not listen. */
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

  announceLanes(lanes: readonly AnnouncedLane[] | undefined): void {
    if (lanes === undefined) this.#hasUnknownLanes = true
    for (const { id, holder = null } of lanes ?? []) this.#lanes.set(id, holder)
    if (this.#hasNews) this.#loop.wake()
  }

  announceTimers(): void {
    this.#hasTimers = true
    this.#loop.wake()
  }

  onLanes(hear: (lanes: readonly AnnouncedLane[] | undefined) => void): void {
    this.#hearLanes = hear
  }

  onTimers(hear: () => void): void {
    this.#hearTimers = hear
  }

  say(text: string): void {
    // Whoever listens is not worth more memory than this.
    if (this.#said.length >= maxSaid) this.#said.shift()
    this.#said.push(text)
    this.#loop.wake()
  }

  onSaid(hear: (text: string) => void): void {
    this.#hearSaid = hear
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
    const [lanes, holders] = [[...this.#lanes.keys()], [...this.#lanes.values()]]
    const notice: Notice = {
      from: this.#name,
      ...(this.#hasTimers && { timers: true }),
      ...(this.#hasUnknownLanes || lanes.length > maxLanes ? { any: true } : lanes.length > 0 && { lanes, holders }),
    }
    this.#lanes.clear()
    this.#hasUnknownLanes = false
    this.#hasTimers = false
    // A poll finds what a lost notification announced.
    if (Object.keys(notice).length > 1) await this.#notices.send(channel, JSON.stringify(notice)).catch(() => undefined)
    while (this.#said.length > 0) await this.#sendSaid()
  }

  /** As much as one notification holds. */
  async #sendSaid(): Promise<void> {
    const said: string[] = []
    let room = maxNoticeBytes - 100
    for (const text of this.#said) {
      room -= Buffer.byteLength(JSON.stringify(text)) + 1
      if (room < 0 && said.length > 0) break
      said.push(text)
    }
    this.#said.splice(0, said.length)
    const notice: Notice = { from: this.#name, said }
    await this.#notices.send(channel, JSON.stringify(notice)).catch(() => undefined)
  }

  #take(text: string): void {
    const notice = readNotice(text)
    if (!notice || notice.from === this.#name) return
    for (const said of notice.said ?? []) this.#hearSaid(said)
    if (notice.timers) this.#hearTimers()
    if (notice.any) this.#hearLanes(undefined)
    else if (notice.lanes) {
      const { lanes, holders = [] } = notice
      this.#hearLanes(lanes.map((id, index) => ({ id, holder: holders[index] ?? null })))
    }
  }

  #catchUp(): void {
    this.#hearTimers()
    this.#hearLanes(undefined)
  }
}

/** What this version understands of a notification: anybody can send one, and a newer version may send more, or in another form. */
function readNotice(text: string): Notice | undefined {
  const { from, timers, lanes, holders, any, said } = readObject(text) ?? {}
  if (!isText(from)) return undefined
  return {
    from,
    ...(timers === true && { timers }),
    ...(any === true && { any }),
    ...(isListOf(isText, lanes) && { lanes }),
    ...(isListOf(isTextOrNull, holders) && { holders }),
    ...(isListOf(isText, said) && { said }),
  }
}
