import { Readable } from 'node:stream'
import type { Feed } from './feed.ts'
import type { Happening } from './happening.ts'

/** How much waits for a listener, in bytes; one that is slower is dropped, and resumes where it was. */
const maxWaitingBytes = 1_048_576

export interface EventStreamOptions {
  readonly feed: Feed
  /** The last that the listener has seen. */
  readonly lastId: string | undefined
  readonly accepts: (happening: Happening) => boolean
  readonly show: (happening: Happening) => object
  /** Milliseconds between comments, which keep proxies from closing it. */
  readonly commentEvery: number
  /** Milliseconds between checks that the listener may still listen; `check` rejects when not. */
  readonly checkEvery: number
  readonly check: () => Promise<unknown>
}

/**
 * What happens as Server-Sent Events, for one listener. Begins behind `lastId`, or with the event `reset` when that is not known any
 * more; ends when the listener may not listen any more, is too slow, or the service stops.
 */
export async function openEventStream(options: EventStreamOptions): Promise<Readable> {
  const { feed, lastId, accepts, show, commentEvery, checkEvery, check } = options
  let stop = (): void => undefined
  const timers: NodeJS.Timeout[] = []
  const stream = new Readable({
    read() {},
    highWaterMark: maxWaitingBytes,
    destroy(error, done) {
      for (const timer of timers) clearInterval(timer)
      stop()
      done(error)
    },
  })
  const end = (): void => {
    if (!stream.destroyed) stream.push(null)
    for (const timer of timers) clearInterval(timer)
    stop()
  }
  const send = (text: string): void => {
    if (stream.destroyed || stream.readableEnded) return
    // Buffered without bound it would cost the memory of everybody else.
    if (stream.readableLength > maxWaitingBytes) stream.destroy()
    else stream.push(Buffer.from(text))
  }
  const tell = (happening: Happening): void => {
    if (accepts(happening)) send(writeEvent(happening.id, happening.type, show(happening)))
  }
  // What comes before it is known where to begin.
  const early: Happening[] = []
  let take = (happening: Happening): void => void early.push(happening)
  stop = await feed.watch({ take: (happening) => take(happening), end, reset: () => send(writeReset()) })
  const after = lastId === undefined ? undefined : feed.listAfter(lastId)
  take = tell
  send(': listening\n\n')
  if (lastId !== undefined && !after) send(writeReset())
  // What came after the last that was seen includes what came early.
  for (const happening of after ?? early) tell(happening)
  timers.push(setInterval(() => send(': still here\n\n'), commentEvery).unref())
  timers.push(setInterval(() => void check().catch(end), checkEvery).unref())
  return stream
}

function writeEvent(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

function writeReset(): string {
  return 'event: reset\ndata: {}\n\n'
}
