import { Type } from 'typebox'
import { isWebLink } from '../../../base/text/web-link.ts'
import { atFirstUse } from '../../../base/work/once.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { captionNotTaken, coordinateNotTaken, emojiNotOne, idAndLink, linkNotTaken, nameTooShort } from '../errors.ts'
import { type CheckValue, makeCheck } from './check.ts'

const optional = Type.Optional
const shortText = Type.String({ maxLength: 256 })
const innerList = <Item extends ReturnType<typeof Type.Object>>(item: Item) =>
  optional(Type.Array(item, { maxItems: 20 }))

/** A media file: one that the number has, or an address that it is fetched from. */
export interface GivenMedia {
  readonly id?: string
  readonly link?: string
  readonly caption?: string
  readonly filename?: string
  readonly voice?: boolean
}

export const maxLinkLength = 2048

/** The media file that a message carries, with the kind that the file must be of. */
export interface CarriedMedia {
  readonly kind: MediaMessageKind
  readonly given: GivenMedia
  /** Of a voice message by id: whether the file holds Opus, which was looked at before. */
  readonly hasOpus?: boolean
  /** In the header of a template a document is PDF alone. */
  readonly isPdf?: boolean
  /** The place of the card that shows it, from 0; undefined: it is the file of the message itself. */
  readonly card?: number
}

const media = {
  id: optional(idSchema({ minLength: 1 })),
  link: optional(Type.String({ minLength: 1, maxLength: maxLinkLength })),
}
const captioned = { ...media, caption: optional(Type.String({ maxLength: 1024 })) }
const coordinate = Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 40 })], {
  'x-expects': 'a number, or the same as text',
})

const contact = Type.Object({
  addresses: innerList(
    Type.Object({
      city: optional(shortText),
      country: optional(shortText),
      country_code: optional(shortText),
      state: optional(shortText),
      street: optional(shortText),
      type: optional(shortText),
      zip: optional(shortText),
    }),
  ),
  birthday: optional(Type.String({ format: 'date', maxLength: 10 })),
  emails: innerList(Type.Object({ email: optional(shortText), type: optional(shortText) })),
  name: Type.Object({
    formatted_name: Type.String({ minLength: 1, maxLength: 256 }),
    first_name: optional(shortText),
    last_name: optional(shortText),
    middle_name: optional(shortText),
    suffix: optional(shortText),
    prefix: optional(shortText),
  }),
  org: optional(
    Type.Object({ company: optional(shortText), department: optional(shortText), title: optional(shortText) }),
  ),
  phones: innerList(Type.Object({ phone: optional(shortText), wa_id: optional(shortText), type: optional(shortText) })),
  urls: innerList(Type.Object({ url: optional(shortText), type: optional(shortText) })),
})

/** The member of each kind, as the schema says it. */
export const kindSchemas = {
  text: Type.Object({ body: Type.String({ minLength: 1, maxLength: 4096 }), preview_url: optional(Type.Boolean()) }),
  image: Type.Object(captioned),
  video: Type.Object(captioned),
  document: Type.Object({ ...captioned, filename: optional(Type.String({ maxLength: 240 })) }),
  audio: Type.Object({ ...media, voice: optional(Type.Boolean()) }),
  sticker: Type.Object(media),
  location: Type.Object({
    latitude: coordinate,
    longitude: coordinate,
    name: optional(Type.String({ maxLength: 1000 })),
    address: optional(Type.String({ maxLength: 1000 })),
  }),
  contacts: Type.Array(contact, { minItems: 1, maxItems: 257 }),
  reaction: Type.Object({ message_id: idSchema({ minLength: 1 }), emoji: Type.String({ maxLength: 100 }) }),
}

export type PlainKind = keyof typeof kindSchemas
const mediaKinds = ['image', 'video', 'document', 'audio', 'sticker'] as const
export type MediaMessageKind = (typeof mediaKinds)[number]

const form = Object.fromEntries(
  Object.entries(kindSchemas).map(([kind, schema]) => [kind, makeCheck(schema)]),
) as Record<PlainKind, CheckValue>

/** Throws the 400 unless the member of a kind is right. */
export function checkKind(kind: PlainKind, value: unknown): void {
  form[kind](value, kind)
  if (isMediaKind(kind)) checkMedia(kind, value as GivenMedia)
  else if (kind === 'location') checkLocation(value as Record<string, unknown>)
  else if (kind === 'contacts') checkContacts(value as readonly { name: object }[])
  else if (kind === 'reaction') checkEmoji((value as { emoji: string }).emoji)
}

export function isMediaKind(kind: string): kind is MediaMessageKind {
  return (mediaKinds as readonly string[]).includes(kind)
}

function checkMedia(kind: MediaMessageKind, value: GivenMedia): void {
  checkIdOrLink(value, kind)
  if ((kind === 'audio' || kind === 'sticker') && value.caption !== undefined) {
    throw badArgument(captionNotTaken(`${kind}.caption`, { type: kind }))
  }
}

/** Exactly one of the two, and a link that can be fetched. */
export function checkIdOrLink({ id, link }: GivenMedia, place: string): void {
  if ((id === undefined) === (link === undefined)) throw badArgument(idAndLink(place))
  if (link !== undefined && !isWebLink(link)) throw badArgument(linkNotTaken(`${place}.link`))
}

function checkLocation(value: Readonly<Record<string, unknown>>, place = 'location'): void {
  for (const [name, max] of [
    ['latitude', 90],
    ['longitude', 180],
  ] as const) {
    const given = value[name]
    const isNumber = typeof given === 'number' || /^-?\d{1,3}(\.\d{1,30})?$/.test(String(given))
    if (!isNumber || Math.abs(Number(given)) > max) {
      throw badArgument(coordinateNotTaken(`${place}.${name}`, { min: -max, max }))
    }
  }
}

export interface GivenLocation {
  readonly latitude: number | string
  readonly longitude: number | string
}

/** A phone gets numbers, also where the business sent text. */
export function readLocation(location: GivenLocation): GivenLocation {
  return { ...location, latitude: Number(location.latitude), longitude: Number(location.longitude) }
}

function checkContacts(contacts: readonly { readonly name: object }[]): void {
  for (const [index, { name }] of contacts.entries()) {
    const others = Object.entries(name).filter(([key, text]) => key !== 'formatted_name' && text !== '')
    if (others.length === 0) throw badArgument(nameTooShort(`contacts[${index}].name`))
  }
}

const oneEmoji = atFirstUse(() => /^\p{RGI_Emoji}$/v)
/** A character that is shown as text unless a selector, or a skin tone, follows. */
const textUnlessSelected = /(?!\p{Emoji_Presentation})\p{Emoji}(?!\p{Emoji_Modifier})/gv

/** Keyboards leave the selectors of an emoji out, or put in more than it needs: it is the same emoji. */
function checkEmoji(emoji: string): void {
  const selected = emoji.replaceAll('\u{fe0f}', '').replaceAll(textUnlessSelected, '$&\u{fe0f}')
  if (emoji !== '' && !oneEmoji().test(selected)) throw badArgument(emojiNotOne('reaction.emoji'))
}
