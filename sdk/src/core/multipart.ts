import {
  type ByteStream,
  binary,
  type FileInput,
  isByteStream,
  iterate,
  makeKey,
  type ReadyBody,
  streamFrom,
  writeJson,
} from './body.ts'

/** Parameters with a file among them, as multipart; a file that is text stays text, in JSON. Only methods that take files need it. */
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
