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

export function prepareBody(body: Body): ReadyBody {
  if (isByteStream(body)) return { ...streamFrom(body, iterate(body)), contentType: binary }
  if (typeof body === 'string' || isBytes(body)) return { body, contentType: binary, isRepeatable: true }
  if (body instanceof Blob) return { body, contentType: body.type || binary, isRepeatable: true, isLarge: true }
  return writeJson(body)
}

/** Parameters with a file among them, as multipart; a file that is text stays text, in JSON. */
export function writeMultipart(params: Readonly<Record<string, unknown>>, fileName: string): ReadyBody {
  const { [fileName]: file, ...others } = params as Record<string, unknown> & { [name: string]: FileInput }
  if (file === undefined || typeof file === 'string') return writeJson(params)
  const fields = Object.entries(others).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  const boundary = `switchboard-${makeKey()}`
  const start = startOfFile(fields, fileName, file, boundary)
  const end = `\r\n--${boundary}--\r\n`
  const contentType = `multipart/form-data; boundary=${boundary}`
  if (isByteStream(file)) return { ...streamFrom(file, surround(start, file, end)), contentType }
  // Not a FormData: of one that holds a file of the disk, Node 24 reads ahead as fast as the disk is, however slowly it is sent.
  const body = new Blob([start, file as Blob | Uint8Array<ArrayBuffer>, end])
  return { body, contentType, isRepeatable: true, isLarge: true }
}

const binary = 'application/octet-stream'

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer
}

function isByteStream(value: unknown): value is ByteStream {
  return (
    typeof value === 'object' && value !== null && (value instanceof ReadableStream || Symbol.asyncIterator in value)
  )
}

/** Everything up to the bytes of the file. */
function startOfFile(fields: readonly [string, string][], fileName: string, file: FileInput, boundary: string): string {
  const begin = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`
  const { name = 'file', type } = (file instanceof Blob ? file : {}) as Partial<File>
  return (
    fields.map(([name, value]) => `${begin(name)}\r\n\r\n${value}\r\n`).join('') +
    `${begin(fileName)}; filename="${escapeName(name)}"\r\nContent-Type: ${type || binary}\r\n\r\n`
  )
}

/** As browsers write names: a quote or the end of a line would end the header. */
function escapeName(name: string): string {
  return name.replaceAll(/["\r\n]/g, encodeURIComponent)
}

async function* surround(start: string, file: ByteStream, end: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(start)
  yield* iterate(file)
  yield encoder.encode(end)
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
function streamFrom(source: ByteStream, written: AsyncGenerator<Uint8Array>): ReadyBody {
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
