import { type TStringOptions, Type } from 'typebox'
import type { Vocabulary } from './vocabulary.ts'

/** Marks a member that is only there to be refused: clients made from the table do not have it. */
export const refusedKeyword = 'x-refused'

/** The response of most writes. */
export const successSchema = Type.Object({ success: Type.Boolean() })

/** The name of something that may not exist, so it may be far longer than any id: the operation refuses unknown ones. */
export function idSchema(options: TStringOptions = {}) {
  return Type.String({ maxLength: 1000, ...options })
}

/** `messaging_product`: the one name that the product has on the wire. */
export function productName(vocabulary: Vocabulary) {
  return Type.Literal(vocabulary.product, { description: 'The name of the product; no other value is accepted.' })
}

/** A text whose surrounding spaces do not count, by its chapter's rules; so many spaces are allowed. */
export function trimmedSchema(maxCharacters: number) {
  return Type.String({
    maxLength: maxCharacters + 1000,
    description: `1 to ${maxCharacters} characters after trimming.`,
    'x-expects': `a string of 1 to ${maxCharacters} characters, not counting blanks around it`,
  })
}
