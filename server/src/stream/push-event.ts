/** Where a stream of events is written to: one connection. */
export interface PushTarget {
  readonly isClosed: boolean
  /** Bytes that were written and not sent yet. */
  readonly waitingBytes: number
  write(text: string | Uint8Array): void
  /** Resolves when little is waiting, or the connection is closed. */
  drained(): Promise<void>
  /** Ends the response when what was written is sent. */
  end(): void
  /** Closes the connection at once. */
  cut(): void
  onClose(listener: () => void): void
}

/** A body that is written whenever there is something to send, until one side ends it. */
export interface PushBody {
  /** One of the two is called, once. */
  pushTo(target: PushTarget): void
  abandon(): void
}
