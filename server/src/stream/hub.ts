import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '../base/log/log.ts'
import { second } from '../base/time/duration.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database } from '../db/database.ts'
import { Audience, writeFor } from './audience.ts'
import { Listener } from './listener.ts'
import type { PushBody, PushTarget } from './push-event.ts'
import { type Holder, StreamSlots } from './stream-slots.ts'
import type { Opening, Reached, StartPosition, StreamEvent, StreamSource, Watcher } from './types.ts'

export interface HubOptions<About> {
  readonly source: StreamSource<About>
  readonly log: Log
  readonly database: Pick<Database, 'outageOf'>
  readonly maxStreams: number
  /** Throws when there are too many. */
  readonly refuse: () => never
}

/** Far below the second that an event may be late. */
const pollInterval = 200
const commentInterval = 15 * second
const checkInterval = 30 * second

/**
 * Sends the events of one stream to all listeners of this process. Its source reads them from the database, which all processes write
 * to, once for all listeners; while nobody listens, it does nothing.
 */
export class StreamHub<About> {
  readonly #options: HubOptions<About>
  readonly #listeners = new Set<Listener<About>>()
  /** Those who have caught up. */
  readonly #audience = new Audience<About>()
  readonly #watchers = new Set<Watcher<About>>()
  readonly #timers: NodeJS.Timeout[] = []
  readonly #pushed: StreamEvent<About>[] = []
  readonly #slots: StreamSlots
  #opening = 0
  #loop: Loop | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #starting: Promise<void> | undefined
  /** How often everything was replaced, and what was there by then while listeners have yet to be notified. */
  #replacements = 0
  #replacedAt: Reached | undefined
  #isClosed = false

  constructor(options: HubOptions<About>) {
    this.#options = options
    this.#slots = new StreamSlots(options.maxStreams)
  }

  /** Whether anybody listens, or may come back. */
  get isOn(): boolean {
    return this.#loop !== undefined
  }

  /** How many streams and watchers there are, with the ones that are being opened. */
  get openStreams(): number {
    return this.#slots.taken
  }

  /** Begins a stream: of what happens from now on, or of what happened after an event that is still kept. */
  async open(opening: Opening<About>): Promise<PushBody> {
    const { source } = this.#options
    return this.#hold(this.#takeSlot(opening.holder), async (release, free) => {
      const listening = await opening.admit()
      await this.#start()
      await source.renew()
      const start = await source.locate(opening.lastEventId)
      const pushTo = (target: PushTarget) => {
        target.onClose(free)
        this.#join(new Listener(target, listening, opening, start.after), target, start)
        release()
      }
      const abandon = () => {
        free()
        release()
      }
      return { pushTo, abandon }
    })
  }

  /** Passes what happens from now on to a watcher inside the process. Returns what ends it. */
  async watch(watcher: Watcher<About>, holder: Holder): Promise<() => void> {
    return this.#hold(this.#takeSlot(holder), async (release, free) => {
      await this.#start()
      this.#watchers.add(watcher)
      release()
      return () => {
        free()
        this.#watchers.delete(watcher)
        this.#stopIfIdle()
      }
    })
  }

  /** Publishes what the source has not read but made itself; what comes in one turn is sent at once. */
  push(event: StreamEvent<About>): void {
    if (this.#pushed.push(event) === 1) setImmediate(() => this.#send(this.#pushed.splice(0)))
  }

  /** Everything was replaced when `reached` was the newest: all streams send reset, and continue with what happens then. */
  reset(reached: Reached): void {
    this.#replacedAt = reached
    this.#replacements += 1
    this.#loop?.wake()
  }

  /** Announces now that somebody listens, and not when it is time to. */
  renew(): void {
    if (this.isOn) void this.#options.source.renew().catch(() => undefined)
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const one of [...this.#listeners, ...this.#watchers]) one.end()
    this.#watchers.clear()
    const loop = this.#loop
    this.#stop()
    await loop?.stop()
  }

  #takeSlot(holder: Holder): () => void {
    return (this.#isClosed ? undefined : this.#slots.take(holder)) ?? this.#options.refuse()
  }

  /** It does not stop while something is opened. */
  async #hold<T>(free: () => void, work: (release: () => void, free: () => void) => Promise<T>): Promise<T> {
    this.#opening += 1
    const release = () => {
      this.#opening -= 1
      this.#stopIfIdle()
    }
    try {
      return await work(release, free)
    } catch (error) {
      free()
      release()
      throw error
    }
  }

  #join(listener: Listener<About>, target: PushTarget, start: StartPosition): void {
    target.onClose(() => {
      this.#listeners.delete(listener)
      this.#audience.remove(listener)
      this.#stopIfIdle()
    })
    this.#listeners.add(listener)
    listener.comment()
    if (start.isReset) listener.reset(start.id)
    if (this.#isClosed) listener.end()
    else {
      void this.#catchUp(listener).catch((error: Error) => {
        this.#options.log.warn({ err: error }, 'a stream broke off')
        target.end()
      })
    }
  }

  /** Sends a listener what others got before; from then on it receives with them. */
  async #catchUp(listener: Listener<About>): Promise<void> {
    const { source } = this.#options
    while (!listener.isClosed && listener.after < source.passed) {
      const replacements = this.#replacements
      const { events, upTo } = await source.list(listener.after)
      // What was read before everything was replaced is not so any more.
      if (replacements !== this.#replacements) continue
      listener.write(writeFor(listener, events))
      listener.after = upTo
      await listener.drained()
    }
    if (!listener.isClosed) this.#audience.add(listener)
  }

  #start(): Promise<void> {
    clearTimeout(this.#idleTimer)
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #begin(): Promise<void> {
    const { source, log, refuse } = this.#options
    this.#replacedAt = undefined
    await source.begin()
    if (this.#isClosed) return refuse()
    const loop = new Loop({
      work: () => this.#poll(),
      pause: 0,
      every: pollInterval,
      // An outage is logged elsewhere; listeners get what they missed afterwards.
      onFailure: (error) => log.debug({ err: error }, 'the events of a stream could not be read'),
    })
    this.#loop = loop
    loop.start()
    const every = (work: () => unknown, milliseconds: number) =>
      this.#timers.push(setInterval(work, milliseconds).unref())
    every(() => {
      for (const listener of this.#listeners) listener.comment()
    }, commentInterval)
    every(() => void this.#checkAll(), checkInterval)
    every(() => this.renew(), source.renewEvery)
  }

  #stopIfIdle(): void {
    if (this.#listeners.size + this.#watchers.size + this.#opening > 0 || !this.#loop) return
    clearTimeout(this.#idleTimer)
    const { idleHold } = this.#options.source
    if (idleHold === 0) this.#stop()
    else this.#idleTimer = setTimeout(() => this.#stop(), idleHold).unref()
  }

  #stop(): void {
    clearTimeout(this.#idleTimer)
    void this.#loop?.stop()
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    this.#loop = undefined
    this.#starting = undefined
    this.#options.source.end()
  }

  async #poll(): Promise<void> {
    const { source } = this.#options
    if (this.#replacedAt) await this.#beginAgain(this.#replacedAt)
    for (;;) {
      const { events, isFull } = await source.poll()
      // What was read before everything was replaced is not so any more; the next run begins again.
      if (this.#replacedAt) return
      this.#send(events)
      if (!isFull) return
      // Connections get their turn, so that only who really reads slowly falls behind.
      await nextTurn()
    }
  }

  async #beginAgain(reached: Reached): Promise<void> {
    const { after, id } = await this.#options.source.begin(reached)
    if (reached !== this.#replacedAt) return
    this.#replacedAt = undefined
    for (const listener of this.#listeners) {
      listener.after = after
      listener.reset(id)
    }
  }

  #send(events: readonly StreamEvent<About>[]): void {
    if (events.length === 0) return
    for (const watcher of this.#watchers) for (const { about } of events) watcher.take(about)
    this.#audience.send(events)
  }

  /** Ends the streams of callers who may not listen any more; an outage ends none. */
  async #checkAll(): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        const listening = await listener.opening.admit()
        const isLive = this.#audience.remove(listener)
        listener.listening = listening
        if (isLive) this.#audience.add(listener)
      } catch (error) {
        if (!this.#options.database.outageOf(error)) listener.end()
      }
    }
  }
}
