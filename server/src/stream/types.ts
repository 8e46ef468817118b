import type { Holder } from './stream-slots.ts'

/** Something that a stream sends. */
export interface StreamEvent<About> {
  /** Of a later one it is higher. */
  readonly position: number
  /** Appeared after later ones: it is sent also to listeners that have received these. */
  readonly isLate?: boolean
  /** Listeners of one of these topics may receive it. */
  readonly topics: readonly string[]
  /** What filters look at. */
  readonly about: About
  readonly id: string | number
  readonly type: string
  /** Called once, for all who receive it. */
  show(): unknown
}

/** Where the events of a stream come from. */
export interface StreamSource<About> {
  /** Milliseconds that it goes on when nobody listens any more. */
  readonly idleHold: number
  /** Milliseconds between two calls of `renew`. */
  readonly renewEvery: number
  /** Everything up to here was returned by `poll`. */
  readonly passed: number
  /** Somebody listens: begins with what happens from now on, or after everything was replaced. */
  begin(reached?: Reached): Promise<Omit<StartPosition, 'isReset'>>
  /** Somebody still listens. */
  renew(): Promise<void>
  /** What is new, in order. */
  poll(): Promise<Batch<About>>
  /** Where a listener begins: behind an event that is still kept, or now. `id` is that of the last event before. */
  locate(lastEventId: string | undefined): Promise<StartPosition>
  /** Events between a position and what was passed, in order: some, and up to where they go. */
  list(after: number): Promise<{ readonly events: readonly StreamEvent<About>[]; readonly upTo: number }>
  /** Nobody listens any more. */
  end(): void
}

export interface Batch<About> {
  readonly events: readonly StreamEvent<About>[]
  /** Whether there may be more already. */
  readonly isFull: boolean
}

/** What was there when everything was replaced; whatever comes later has greater ids. */
export interface Reached {
  readonly time: number
  readonly event: number
  readonly delivery: number
  /** Of the users' stream. */
  readonly position: number
}

export interface StartPosition {
  readonly after: number
  readonly id: string | number | undefined
  /** Whether what came after the given event is not known any more. */
  readonly isReset: boolean
}

/** Who listens to what. */
export interface Listening<About> {
  /** Listeners with the same key receive the same. */
  readonly key: string
  /** Every event that it receives has this topic. */
  readonly topic: string
  matches(about: About): boolean
}

export interface Opening<About> {
  readonly lastEventId: string | undefined
  /** Whose slots it takes one of. */
  readonly holder: Holder
  /** What the caller may receive by now; throws when the caller may not listen any more. */
  readonly admit: () => Promise<Listening<About>>
}

/** Hears of events inside the process. */
export interface Watcher<About> {
  take(about: About): void
  /** The service stops. */
  end(): void
}
