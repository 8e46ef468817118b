import type { GraphError } from '../../graph/graph-error.ts'
import { fileTooLarge, fileTypeNotTaken, fileTypeUnknown } from './errors.ts'
import { type MediaKind, mediaTypes } from './kinds.ts'

export function tooLarge(kind: MediaKind, maxBytes: number): GraphError {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  const named = kind === 'audio' ? 'an audio file' : `${article} ${kind}`
  return fileTooLarge({ kind: named, max: maxBytes })
}

export function wrongType(found: string | undefined): GraphError {
  const types = Object.keys(mediaTypes)
  return found === undefined ? fileTypeUnknown({ types }) : fileTypeNotTaken({ found, types })
}

/** The path of a media file's link, below the base URL. */
export function mediaPath(id: string): string {
  return `/media/${id}`
}
