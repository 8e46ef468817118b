import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { isMediaType, mediaTypes } from '../../resources/media/kinds.ts'
import { isAnimated, recognize } from '../../resources/media/recognize.ts'
import type { MessageKind } from '../../resources/webhooks/inbound/message-kinds.ts'
import { CommandFailed } from '../fail.ts'
import { ask, type Remote } from '../remote.ts'
import { samples } from './sample-media.ts'
import type { FileKind, SentFile } from './simulated-messages.ts'

/** A file for a user to send. */
export interface OutgoingFile {
  readonly name: string
  readonly bytes: Buffer
  readonly animated: boolean
}

/**
 * Reads the file to send and decides the kind of message: by its bytes, unless a kind is given. Every file can be sent as a document.
 */
export async function readOutgoingFile(
  path: string,
  wanted: MessageKind | undefined,
): Promise<{ type: FileKind; file: OutgoingFile }> {
  const bytes = await readBytes(path)
  const found = await recognize({
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
  })
  if (!isMediaType(found)) {
    throw new CommandFailed(
      `--file ${path} is of no type that messages carry: give one of ${Object.keys(mediaTypes).join(', ')}`,
    )
  }
  const { kind } = mediaTypes[found]
  const type = wanted ?? kind
  if (type !== kind && type !== 'document') {
    throw new CommandFailed(`--file ${path} is ${found}: send it with --type ${kind} or document, not ${type}`)
  }
  return { type, file: { name: basename(path), bytes, animated: isAnimated(bytes) } }
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new CommandFailed(`--file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}): give a file`)
  }
}

/** A sample file of that kind, when none is given. */
export function makeSampleFile(type: FileKind): OutgoingFile {
  const { name, make } = samples[type]
  return { name, bytes: make(), animated: false }
}

/** Uploads a user's file, so that the business can fetch it. */
export async function uploadFile(
  remote: Remote,
  phone_number_id: string,
  { name, bytes, animated }: OutgoingFile,
): Promise<SentFile> {
  const file = new File([new Uint8Array(bytes)], name)
  const uploaded = await ask(remote, ({ gateway }) => gateway.media.upload({ phone_number_id, file }))
  return { ...uploaded, filename: name, animated }
}
