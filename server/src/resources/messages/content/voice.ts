import type { Files } from '../../../files/files.ts'

/** What a voice message takes: the type of its file says nothing of the codec. */
export const voiceType = 'audio/ogg; codecs=opus'

/** The first page of an Ogg file holds the head of its first stream, behind at most this many bytes. */
const headBytes = 512

/** Whether an Ogg file holds Opus, by the head of its first stream. */
export async function holdsOpus(
  files: Pick<Files, 'get'>,
  { sha256, file_size }: { sha256: string; file_size: number },
) {
  const head = await files.get(sha256, { start: 0, end: Math.min(headBytes, file_size) - 1 })
  if (!head) return false
  const chunks: Buffer[] = []
  for await (const chunk of head.stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).includes('OpusHead')
}
