import { type Interactive, mediaOfInteractive } from '../content/interactive.ts'
import { type CarriedMedia, type GivenMedia, isMediaKind } from '../content/kinds.ts'
import { type GivenTemplate, mediaOfTemplate } from './template.ts'

/** The media files that a message names, by its kind and the member of that kind. */
export function listMedia(kind: string, value: object): CarriedMedia[] {
  if (isMediaKind(kind)) return [{ kind, given: value as GivenMedia }]
  if (kind === 'interactive') return mediaOfInteractive(value as Interactive)
  return kind === 'template' ? mediaOfTemplate(value as GivenTemplate) : []
}
