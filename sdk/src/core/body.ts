/** Bytes that arrive one after another. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** The body of a request that is sent as it is; an object is sent as JSON. */
export type Body = string | Blob | Uint8Array | ArrayBuffer | ByteStream | Readonly<Record<string, unknown>>

/**
 * A file to send. A `Blob` or a stream is never whole in memory; `openFile` of `@switchboard/client/node` makes a `Blob` of a path. A
 * text is the file in base64, or a `data:` URL.
 */
export type FileInput = string | Blob | Uint8Array | ArrayBuffer | ByteStream

/** A body that can be handed to `fetch`. */
export interface ReadyBody {
  readonly body: string | Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | undefined
  readonly contentType?: string
  /** Whether it can be sent again; a stream cannot. */
  readonly isRepeatable: boolean
  /** Whether it is read while it is sent. */
  readonly isLarge?: boolean
  /** Ends a source that will not be read to its end. */
  readonly release?: () => void
}

export const noBody: ReadyBody = { body: undefined, isRepeatable: true }

export function writeJson(value: object): ReadyBody {
  return { body: JSON.stringify(value), contentType: 'application/json', isRepeatable: true }
}

/** A body that is sent as it is. Only methods that take one need it. */
export function writeBody(body: Body): ReadyBody {
  if (isByteStream(body)) return { ...streamFrom(body, iterate(body)), contentType: binary }
  if (typeof body === 'string' || isBytes(body)) return { body, contentType: binary, isRepeatable: true }
  if (body instanceof Blob) return { body, contentType: body.type || binary, isRepeatable: true, isLarge: true }
  return writeJson(body)
}

export const binary = 'application/octet-stream'

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer
}

export function isByteStream(value: unknown): value is ByteStream {
  return (
    typeof value === 'object' && value !== null && (value instanceof ReadableStream || Symbol.asyncIterator in value)
  )
}

/** A text that nobody else has. Browsers have `crypto.randomUUID` only where the connection is encrypted. */
export function makeKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Not every browser can iterate a stream. */
export async function* iterate(stream: ByteStream): AsyncGenerator<Uint8Array> {
  if (!(stream instanceof ReadableStream)) return yield* stream
  const reader = stream.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield value
    }
  } finally {
    if (!isDone) await reader.cancel().catch(() => undefined)
    reader.releaseLock()
  }
}

/** What is written of a source, as a body. `fetch` leaves a source open that it did not read to its end; `release` does not. */
export function streamFrom(source: ByteStream, written: AsyncGenerator<Uint8Array>): ReadyBody {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await written.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => release(),
    },
    // As much as is asked for, no chunk in advance.
    { highWaterMark: 0 },
  )
  const release = () => {
    written.return(undefined).catch(() => undefined)
    // Of what was not begun, or does not go on, nobody would hear otherwise.
    if (!(source instanceof ReadableStream)) (source as { destroy?(): unknown }).destroy?.()
    else if (!source.locked) source.cancel().catch(() => undefined)
  }
  return { body, isRepeatable: false, isLarge: true, release }
}
