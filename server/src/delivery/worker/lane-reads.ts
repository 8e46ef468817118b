/** Which deliveries of a lane are to be read: none, those behind the known ones, or all that are due. */
export type ReadScope = 'nothing' | 'more' | 'all'

/** What a held lane has to read, and the read that is under way. Times are milliseconds of this process. */
export class LaneReads {
  #wanted: ReadScope = 'all'
  #isUnderWay = false
  /** Whether the last read returned as many deliveries as it asked for, or something came behind the known ones. */
  #mayHaveMore = false
  /** When the last read ended. */
  #endedTime = Number.POSITIVE_INFINITY

  get isWanted(): boolean {
    return this.#wanted !== 'nothing'
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  get mayHaveMore(): boolean {
    return this.#mayHaveMore
  }

  /** Whether there is nothing to read, as far as is known. */
  get isDone(): boolean {
    return !this.isWanted && !this.#isUnderWay && !this.#mayHaveMore
  }

  /** Whether nothing was read since this time, and nothing has to be. */
  isQuietSince(time: number): boolean {
    return this.isDone && this.#endedTime < time
  }

  want(scope: 'more' | 'all'): void {
    if (this.#wanted !== 'all') this.#wanted = scope
  }

  /** There may be more behind the known ones; it is read when the lane needs it. */
  noteMore(): void {
    this.#mayHaveMore = true
  }

  begin(): ReadScope {
    const scope = this.#wanted
    this.#wanted = 'nothing'
    this.#isUnderWay = true
    return scope
  }

  end(mayHaveMore: boolean, now: number): void {
    this.#mayHaveMore = mayHaveMore
    this.#stop(now)
  }

  /** It has to be read again, from the beginning. */
  fail(now: number): void {
    this.#wanted = 'all'
    this.#stop(now)
  }

  /** Nothing is to be read: the lane is paused, or the service stops. */
  cancel(): void {
    this.#wanted = 'nothing'
    this.#mayHaveMore = false
  }

  #stop(now: number): void {
    this.#isUnderWay = false
    this.#endedTime = now
  }
}
