import { type TSchema, Type } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import { blanksAround, memberNotTaken, urlNotTaken, valuesNotUnique } from '../errors.ts'
import { isWebUrl, makeCheck } from './check.ts'
import { checkIdOrLink, type GivenMedia, maxLinkLength } from './kinds.ts'

export const optional = Type.Optional
export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const media = Type.Object({
  id: optional(text(1000)),
  link: optional(text(maxLinkLength)),
})

const headerTypes = ['text', 'image', 'video', 'document'] as const
export const headers = {
  any: Type.Object({
    type: Type.Enum(headerTypes),
    text: optional(text(60)),
    image: optional(media),
    video: optional(media),
    document: optional(media),
  }),
  text: Type.Object({ type: Type.Enum(['text']), text: text(60) }),
  card: Type.Object({ type: Type.Enum(['image', 'video']), image: optional(media), video: optional(media) }),
}

/** A button that takes the user to a page. */
export const urlAction = Type.Object({
  name: Type.Literal('cta_url'),
  parameters: Type.Object({ display_text: text(20), url: text(2000) }),
})

/** What a kind of interactive message may hold. */
export interface InteractiveForm {
  readonly header: 'any' | 'text' | 'none' | 'text, required'
  readonly body: 'required' | 'optional'
  readonly maxBody?: number
  readonly footer: boolean
  readonly action: TSchema
  /** What a schema cannot say of the action. */
  readonly check?: (action: never) => void
}

export type GivenHeader = { readonly type: (typeof headerTypes)[number] } & Readonly<Record<string, unknown>>

const checkHeaderText = makeCheck(Type.Object({ text: text(60) }))
const checkHeaderMedia = {
  image: makeCheck(Type.Object({ image: media })),
  video: makeCheck(Type.Object({ video: media })),
  document: makeCheck(Type.Object({ document: media })),
}

/** Throws the 400 unless a header holds what its type says. */
export function checkHeader(header: GivenHeader, place: string): void {
  if (header.type === 'text') {
    checkHeaderText(header, place)
    return
  }
  checkHeaderMedia[header.type](header, place)
  const filePlace = `${place}.${header.type}`
  const file = header[header.type] as GivenMedia
  if (file.caption !== undefined) throw badArgument(memberNotTaken(`${filePlace}.caption`, { type: 'header' }))
  checkIdOrLink(file, filePlace)
}

/** The media file in a header, with the kind that it must be of. */
export function mediaOfHeader(
  header: GivenHeader,
): { kind: 'image' | 'video' | 'document'; given: GivenMedia } | undefined {
  return header.type === 'text' ? undefined : { kind: header.type, given: header[header.type] as GivenMedia }
}

export function checkUrl(url: string, place: string): void {
  if (!isWebUrl(url)) throw badArgument(urlNotTaken(place))
}

/** Throws the 400 for a button whose id begins or ends with blanks; the place is that of the id. */
export function checkButtonId(id: string, place: string): void {
  if (id !== id.trim()) throw badArgument(blanksAround(place))
}

export function checkUnique(values: readonly string[], place: string): void {
  if (new Set(values).size < values.length) throw badArgument(valuesNotUnique(place))
}
