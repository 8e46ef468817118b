/** What a stream tells, as read; `position` orders it. */
export interface StreamRow {
  readonly position: number
}

/** Where the events of a stream come from. */
export interface StreamSource<Row extends StreamRow> {
  /** Events after a position, up to another one, in order. */
  list(after: number, upTo: number, limit: number): Promise<Row[]>
  /** The events at these positions, as far as there are any. */
  pick(positions: readonly number[]): Promise<Row[]>
  /** The newest position. */
  latest(): Promise<number>
  /** A position before which no event can appear any more. */
  settled(): Promise<number>
  /** Whether everything after a position is still there. */
  isKept(position: number): Promise<boolean>
  /** Has events recorded from now on, and for a while after the last call. */
  want(): Promise<void>
}

/** An event as listeners get it. */
export interface ToldEvent<Told> {
  readonly position: number
  readonly text: string
  /** What filters look at. */
  readonly about: Told
}

/** Who listens to what. */
export interface Listening<Told> {
  /** Listeners with the same key get the same. */
  readonly key: string
  matches(about: Told): boolean
}

export interface Opening<Told> {
  readonly lastEventId: string | undefined
  /** What the caller may hear by now; throws when the caller may not listen any more. */
  readonly admit: () => Promise<Listening<Told>>
  /** Whether an error of `admit` says that, and not that the store is away. */
  readonly isRefusal: (error: unknown) => boolean
}
