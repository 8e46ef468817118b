import { isListOf, isText, isTextOrNull, readObject } from '../../base/text/json-shapes.ts'
import { Loop } from '../../base/work/loop.ts'
import { type Listening, maxNotificationBytes, type Notifications } from '../../db/notifications.ts'

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
  onLanes(listener: (lanes: readonly AnnouncedLane[] | undefined) => void): void
  onTimers(listener: () => void): void
  /** Sends all other processes a short text; it may get lost. */
  broadcast(text: string): void
  onBroadcast(listener: (text: string) => void): void
  /** Whether announcements of other processes arrive at once. */
  readonly isLive: boolean
  close(): Promise<void>
}

/** For a process that gets no announcements. */
export const silentWaker: Waker = {
  announceLanes() {},
  announceTimers() {},
  onLanes() {},
  onTimers() {},
  broadcast() {},
  onBroadcast() {},
  isLive: false,
  async close() {},
}

/** For the only process on its store: nobody else can announce anything. */
export const loneWaker: Waker = { ...silentWaker, isLive: true }

const channel = 'switchboard'
/** Announcements within this time go out together. */
const minIntervalMilliseconds = 20
/** Ids of lanes and names of holders have 32 characters. */
const maxLanes = Math.floor((maxNotificationBytes - 100) / 72)

/** The most broadcasts that wait to be sent. */
const maxBroadcasts = 500

interface Announcement {
  readonly from: string
  readonly timers?: true
  /** Missing: none. */
  readonly lanes?: readonly string[]
  /** The holders of these lanes, in the same order; null where it is unknown. An earlier version tries to claim them all. */
  readonly holders?: readonly (string | null)[]
  /** There were too many to list. */
  readonly any?: true
  /** The texts that are broadcast. */
  readonly said?: readonly string[]
}

/** Wakes by notifications of the database, one for everything announced in a short time. */
export class NotificationWaker implements Waker {
  readonly #notifications: Notifications
  readonly #name: string
  readonly #listening: Listening | undefined
  readonly #loop: Loop
  readonly #lanes = new Map<string, string | null>()
  #hasUnknownLanes = false
  #hasTimers = false
  #onLanes: (lanes: readonly AnnouncedLane[] | undefined) => void = () => undefined
  #onTimers: () => void = () => undefined
  #toBroadcast: string[] = []
  #onBroadcast: (text: string) => void = () => undefined

  /** `name` identifies this process; a process without workers need not listen. */
  constructor(notifications: Notifications, name: string, { listens }: { listens: boolean }) {
    this.#notifications = notifications
    this.#name = name
    this.#loop = new Loop({ work: () => this.#send(), pause: minIntervalMilliseconds, onFailure: () => undefined })
    this.#listening = listens
      ? notifications.listen(
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

  onLanes(listener: (lanes: readonly AnnouncedLane[] | undefined) => void): void {
    this.#onLanes = listener
  }

  onTimers(listener: () => void): void {
    this.#onTimers = listener
  }

  broadcast(text: string): void {
    // Whoever listens is not worth more memory than this.
    if (this.#toBroadcast.length >= maxBroadcasts) this.#toBroadcast.shift()
    this.#toBroadcast.push(text)
    this.#loop.wake()
  }

  onBroadcast(listener: (text: string) => void): void {
    this.#onBroadcast = listener
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
    const announcement: Announcement = {
      from: this.#name,
      ...(this.#hasTimers && { timers: true }),
      ...(this.#hasUnknownLanes || lanes.length > maxLanes ? { any: true } : lanes.length > 0 && { lanes, holders }),
    }
    this.#lanes.clear()
    this.#hasUnknownLanes = false
    this.#hasTimers = false
    // A poll finds what a lost notification announced.
    if (Object.keys(announcement).length > 1)
      await this.#notifications.send(channel, JSON.stringify(announcement)).catch(() => undefined)
    while (this.#toBroadcast.length > 0) await this.#sendBroadcasts()
  }

  /** As much as one notification holds. */
  async #sendBroadcasts(): Promise<void> {
    const texts: string[] = []
    let left = maxNotificationBytes - 100
    for (const text of this.#toBroadcast) {
      left -= Buffer.byteLength(JSON.stringify(text)) + 1
      if (left < 0 && texts.length > 0) break
      texts.push(text)
    }
    this.#toBroadcast.splice(0, texts.length)
    const announcement: Announcement = { from: this.#name, said: texts }
    await this.#notifications.send(channel, JSON.stringify(announcement)).catch(() => undefined)
  }

  #take(text: string): void {
    const announcement = readAnnouncement(text)
    if (!announcement || announcement.from === this.#name) return
    for (const broadcast of announcement.said ?? []) this.#onBroadcast(broadcast)
    if (announcement.timers) this.#onTimers()
    if (announcement.any) this.#onLanes(undefined)
    else if (announcement.lanes) {
      const { lanes, holders = [] } = announcement
      this.#onLanes(lanes.map((id, index) => ({ id, holder: holders[index] ?? null })))
    }
  }

  #catchUp(): void {
    this.#onTimers()
    this.#onLanes(undefined)
  }
}

/** What this version understands of a notification: anybody can send one, and a newer version may send more, or in another form. */
function readAnnouncement(text: string): Announcement | undefined {
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
