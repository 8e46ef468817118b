import type { IncomingMessage } from 'node:http'
import { LongTask } from '../base/long-task.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Arguments } from '../graph/input.ts'
import { BlockQueue } from './blocks.ts'
import { readInChunks } from './body.ts'
import { type FileReception, tooMuchText } from './file-body.ts'
import type { FileSplitter, SplitterParts } from './file-splitter.ts'

/**
 * Reads a body that holds a file as text. The file goes to the store as it comes; when it turns out later that something is
 * wrong with the body, it is let go.
 */
export async function readTextFileBody(
  request: IncomingMessage,
  { member, maxBodyBytes, settings, files }: FileReception,
  openSplitter: (parts: SplitterParts) => FileSplitter,
): Promise<{ arguments: Arguments; file?: ReceivedFile | undefined }> {
  const blocks = new BlockQueue()
  const decoder = member.openText()
  let file: Promise<ReceivedFile> | undefined
  let refusal: { readonly error: unknown } | undefined
  const begin = (): Promise<ReceivedFile> => {
    const receiving = files.receive(member.check(blocks, settings))
    receiving.catch((error: unknown) => {
      refusal = { error }
    })
    return receiving
  }
  const splitter = openSplitter({
    member: member.name,
    maxRestBytes: maxBodyBytes,
    tooMuchRest: () => tooMuchText(maxBodyBytes),
    onText(text) {
      file ??= begin()
      blocks.append(decoder.decode(text))
    },
  })
  const task = new LongTask()
  try {
    await readInChunks(request, member.limits(settings).textBodyBytes, async (chunk) => {
      splitter.take(chunk)
      await blocks.waitForRoom()
      await task.yieldIfDue()
      if (refusal) throw refusal.error
    })
    const values = splitter.end()
    if (!splitter.hasFile) return { arguments: values }
    file ??= begin()
    blocks.append(decoder.end())
    blocks.end()
    return { arguments: values, file: await file }
  } catch (error) {
    blocks.fail(error)
    const received = await file?.catch(() => undefined)
    await received?.discard()
    throw error
  }
}
