import { setImmediate as nextTurn } from 'node:timers/promises'
import { minute, second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import { Gaps } from './gaps.ts'
import { Listener } from './listener.ts'
import type { PushBody, PushTarget } from './push.ts'
import { writeEvent } from './sse.ts'
import type { Listening, Opening, StreamRow, StreamSource, ToldEvent } from './types.ts'

export interface HubOptions<Row extends StreamRow, Told> {
  readonly source: StreamSource<Row>
  /** Writes events; some may be gone. */
  tell(rows: readonly Row[]): Promise<ToldEvent<Told>[]>
  readonly log: Log
  readonly maxStreams: number
  /** Throws when there are too many. */
  readonly refuse: () => never
}

/** Far below the second that an event may be late. */
const pollInterval = 200
const commentInterval = 15 * second
const checkInterval = 30 * second
const batchSize = 200
const wantInterval = 10 * minute

/**
 * Tells the events of one stream to all listeners of this process. It reads them from the database, which all processes write to, once
 * for all listeners; while nobody listens, it does nothing.
 */
export class StreamHub<Row extends StreamRow, Told> {
  readonly #options: HubOptions<Row, Told>
  /** Everyone, and those who have caught up. */
  readonly #listeners = new Set<Listener<Told>>()
  readonly #live = new Set<Listener<Told>>()
  readonly #gaps = new Gaps()
  readonly #timers: NodeJS.Timeout[] = []
  #opening = 0
  #loop: Loop | undefined
  #starting: Promise<void> | undefined
  /** Everything up to here was told to those who have caught up. */
  #passed = 0
  #resets = 0
  #isClosed = false

  constructor(options: HubOptions<Row, Told>) {
    this.#options = options
  }

  /** Begins a stream: of what happens from now on, or of what happened after an event that is still kept. */
  async open(opening: Opening<Told>): Promise<PushBody> {
    const { lastEventId, admit } = opening
    const { source, maxStreams, refuse } = this.#options
    if (this.#isClosed || this.#listeners.size + this.#opening >= maxStreams) return refuse()
    this.#opening += 1
    const abandon = () => {
      this.#opening -= 1
      this.#stopIfIdle()
    }
    try {
      const listening = await admit()
      await source.want()
      await this.#start()
      const latest = await source.latest()
      const asked = lastEventId === undefined ? undefined : readPosition(lastEventId)
      const isKnown = asked !== undefined && (asked === latest || (await source.isKept(asked)))
      const after = isKnown ? asked : latest
      const isReset = lastEventId !== undefined && !isKnown
      const pushTo = (target: PushTarget) => {
        this.#join(target, { listening, opening, after, isReset })
        this.#opening -= 1
      }
      return { pushTo, abandon }
    } catch (error) {
      abandon()
      throw error
    }
  }

  /** Everything up to a position is gone: all listeners begin anew behind it. */
  reset(position: number): void {
    this.#resets++
    this.#gaps.clear()
    this.#passed = position
    for (const listener of this.#listeners) {
      listener.after = position
      listener.write(writeEvent({ id: position, event: 'reset', data: {} }))
    }
  }

  get isOn(): boolean {
    return this.#listeners.size + this.#opening > 0
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const listener of this.#listeners) listener.end()
    await this.#loop?.stop()
    this.#stopIfIdle()
  }

  #join(
    target: PushTarget,
    {
      listening,
      opening,
      after,
      isReset,
    }: {
      readonly listening: Listening<Told>
      readonly opening: Opening<Told>
      readonly after: number
      readonly isReset: boolean
    },
  ): void {
    const listener = new Listener<Told>(target, listening, opening, after)
    target.onClose(() => {
      this.#listeners.delete(listener)
      this.#live.delete(listener)
      this.#stopIfIdle()
    })
    this.#listeners.add(listener)
    listener.comment()
    if (isReset) listener.write(writeEvent({ id: after, event: 'reset', data: {} }))
    if (this.#isClosed) listener.end()
    else {
      void this.#start()
        .then(() => this.#catchUp(listener))
        .catch((error: Error) => this.#giveUp(listener, error))
    }
  }

  /** Tells a listener what was told to others before; from then on it hears with them. */
  async #catchUp(listener: Listener<Told>): Promise<void> {
    const { source, tell } = this.#options
    while (!listener.isClosed && listener.after < this.#passed) {
      const upTo = this.#passed
      const resets = this.#resets
      const rows = await source.list(listener.after, upTo, batchSize)
      const told = await tell(rows)
      if (resets !== this.#resets) continue
      listener.take(told)
      listener.after = rows.length < batchSize ? upTo : (rows.at(-1) as Row).position
      await listener.drained()
    }
    if (!listener.isClosed) this.#live.add(listener)
  }

  #giveUp(listener: Listener<Told>, error: Error): void {
    this.#options.log.warn({ err: error }, 'a stream broke off')
    listener.end()
  }

  #start(): Promise<void> {
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #begin(): Promise<void> {
    const { source, log } = this.#options
    this.#gaps.clear()
    this.#passed = await source.settled()
    const loop = new Loop({
      work: () => this.#poll(),
      pause: 0,
      every: pollInterval,
      // An outage is logged elsewhere; listeners hear what they missed afterwards.
      onFailure: (error) => log.debug({ err: error }, 'the events of a stream could not be read'),
    })
    this.#loop = loop
    loop.start()
    const every = (work: () => unknown, milliseconds: number) =>
      this.#timers.push(setInterval(work, milliseconds).unref())
    every(() => this.#comment(), commentInterval)
    every(() => void this.#checkAll(), checkInterval)
    every(() => void source.want().catch(() => undefined), wantInterval)
    // Whoever wanted it may have gone meanwhile.
    this.#stopIfIdle()
  }

  #stopIfIdle(): void {
    if (this.#listeners.size > 0 || this.#opening > 0 || !this.#loop) return
    void this.#loop.stop()
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    this.#loop = undefined
    this.#starting = undefined
  }

  async #poll(): Promise<void> {
    const { source, tell } = this.#options
    const resets = this.#resets
    const late = this.#gaps.missing(performance.now())
    if (late.length > 0) {
      const rows = await source.pick(late)
      const told = await tell(rows)
      if (resets !== this.#resets) return
      this.#gaps.fill(rows.map(({ position }) => position))
      this.#distribute(told, { isLate: true })
    }
    for (;;) {
      const found = await source.list(this.#passed, Number.MAX_SAFE_INTEGER, batchSize)
      if (resets !== this.#resets) return
      const rows = found.slice(0, this.#gaps.countUsable(found, this.#passed, performance.now()))
      const last = rows.at(-1)
      if (!last) return
      const told = await tell(rows)
      if (resets !== this.#resets) return
      this.#passed = last.position
      this.#distribute(told, { isLate: false })
      if (rows.length < batchSize) return
      // Connections get their turn, so that only who really reads slowly falls behind.
      await nextTurn()
    }
  }

  /** Each listener gets one text, and those who hear the same get the same one. */
  #distribute(told: readonly ToldEvent<Told>[], { isLate }: { isLate: boolean }): void {
    const first = told[0]?.position
    if (first === undefined) return
    const texts = new Map<string, string>()
    for (const listener of this.#live) {
      if (!isLate && listener.after >= first) {
        listener.take(told)
        continue
      }
      const { key } = listener.listening
      let text = texts.get(key)
      if (text === undefined) {
        text = listener.pick(told)
        texts.set(key, text)
      }
      if (text !== '') listener.write(text)
    }
  }

  #comment(): void {
    for (const listener of this.#listeners) listener.comment()
  }

  /** Ends the streams of callers who may not listen any more. */
  async #checkAll(): Promise<void> {
    for (const listener of this.#listeners) await listener.check()
  }
}

function readPosition(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
