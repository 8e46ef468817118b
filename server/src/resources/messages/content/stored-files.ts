import type { MediaTable } from '../../../db/tables.ts'
import type { CarriedMedia } from './kinds.ts'

/** What is kept of a media file besides its bytes. */
export interface StoredFile {
  readonly id: string
  readonly mime_type: string
  readonly sha256: string
  readonly file_size: number
}

/** The files in the stored content of a message: its own, or those of its cards in their order, null where one is still fetched. */
export interface StoredFiles {
  readonly media?: StoredFile
  readonly card_media?: readonly (StoredFile | null)[]
}

type Known = Pick<MediaTable, 'id' | 'mime_type' | 'sha256' | 'file_size'>

export function showMedia({ id, mime_type, sha256, file_size }: Known): StoredFile {
  return { id, mime_type, sha256, file_size }
}

/** How the files that are known are stored, each at the place of what names it. */
export function storeFiles(media: readonly CarriedMedia[], files: readonly (Known | undefined)[]): StoredFiles {
  const shown = media.map((_, index) => files[index] && showMedia(files[index]))
  if (media.some(({ card }) => card !== undefined)) return { card_media: shown.map((file) => file ?? null) }
  return shown[0] ? { media: shown[0] } : {}
}

/** The reverse of it. */
export function readFiles({ media, card_media }: StoredFiles): (StoredFile | undefined)[] {
  return card_media ? card_media.map((file) => file ?? undefined) : [media]
}

/** What the store of bytes knows a message's use of a media file by. */
export function messageUse(id: string, card?: number): string {
  return card === undefined ? `message:${id}` : `message:${id} ${card}`
}

/** The bytes that a content uses: by the name of each use. */
export function listUses(message_id: string, files: StoredFiles): (readonly [used_by: string, sha256: string])[] {
  const { media, card_media = [] } = files
  const ofCards = card_media.flatMap((file, card) =>
    file ? [[messageUse(message_id, card), file.sha256] as const] : [],
  )
  return media ? [[messageUse(message_id), media.sha256], ...ofCards] : ofCards
}

/** The same of a content as it is stored; only one with files has a `sha256`, which is that of the first. */
export function listStoredUses({
  message_id,
  content,
  sha256,
}: {
  readonly message_id: string
  readonly content: string
  readonly sha256: string | null
}): (readonly [used_by: string, sha256: string])[] {
  if (sha256 === null) return []
  const { card_media } = JSON.parse(content) as StoredFiles
  return card_media ? listUses(message_id, { card_media }) : [[messageUse(message_id), sha256]]
}
