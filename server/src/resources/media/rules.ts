import { badArgument, type GraphError } from '../../graph/errors.ts'
import { type MediaKind, mediaTypes } from './kinds.ts'

export function emptyFile(): GraphError {
  return badArgument('file', 'it is empty; send a file that has bytes.')
}

export function tooLarge(kind: MediaKind, maxBytes: number): GraphError {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  const named = kind === 'audio' ? 'an audio file' : `${article} ${kind}`
  return badArgument('file', `it is too large; ${named} may have at most ${maxBytes} bytes.`)
}

export function wrongType(found: string | undefined): GraphError {
  const what = found === undefined ? 'its bytes are of no type that is known' : `its bytes are of the type ${found}`
  return badArgument('file', `${what}; send one of ${Object.keys(mediaTypes).join(', ')}.`)
}

/** Where a medium can be had, below the address of the service. */
export function mediaPath(id: string): string {
  return `/media/${id}`
}
