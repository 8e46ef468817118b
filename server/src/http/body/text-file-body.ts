import type { IncomingMessage } from 'node:http'
import { YieldingTask } from '../../base/work/yielding-task.ts'
import type { Arguments } from '../../graph/input/input.ts'
import { tooMuchBesidesFile } from '../errors.ts'
import { inBlocks } from './blocks.ts'
import { readChunks } from './chunks.ts'
import type { FileBody, FileReception } from './file-reception.ts'
import type { FileSplitter, SplitterDeps } from './file-splitter.ts'

/**
 * Reads a body that holds a file as text. The file is streamed to the store, and discarded if the body turns out to be invalid.
 * After a refusal the rest is discarded as it arrives, so that the connection stays usable.
 */
export async function readTextFileBody(
  request: IncomingMessage,
  { member, maxBodyBytes, settings, files, hold }: FileReception,
  openSplitter: (deps: SplitterDeps) => FileSplitter,
): Promise<FileBody> {
  const decoder = member.openText()
  const pieces: Uint8Array[] = []
  const keep = (piece: Uint8Array) => {
    if (piece.length > 0) pieces.push(piece)
  }
  const splitter = openSplitter({
    member: member.name,
    maxRestBytes: maxBodyBytes,
    tooMuchRest: () => tooMuchBesidesFile({ max: maxBodyBytes }),
    holdRest: (bytes) => hold.take(bytes),
    onText: (text) => keep(decoder.decode(text)),
  })
  const chunks = readChunks(request, member.limits(settings).textBodyBytes)
  let values: Arguments | undefined

  /** The bytes of the file as they arrive; when the last one is read, the rest of the body has been read too. */
  async function* readFile(): AsyncGenerator<Uint8Array> {
    const task = new YieldingTask()
    for await (const chunk of chunks) {
      splitter.take(chunk)
      yield* pieces.splice(0)
      await task.yieldIfDue()
    }
    values = splitter.end()
    if (splitter.hasFile) keep(decoder.end())
    yield* pieces.splice(0)
  }

  const bytes = readFile()
  try {
    const first = await bytes.next()
    const file =
      first.done && !splitter.hasFile
        ? undefined
        : await files.receive(member.check(inBlocks(putBefore(first, bytes)), settings))
    if (!values) throw new Error('a file was received whose body has not ended')
    return { arguments: values, file }
  } finally {
    await bytes.return(undefined)
    await chunks.return(undefined)
    request.resume()
  }
}

async function* putBefore(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done) return
  yield first.value
  yield* rest
}
