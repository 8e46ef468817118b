import { type TStringOptions, Type } from 'typebox'

/** What most writes answer. */
export const successSchema = Type.Object({ success: Type.Boolean() })

/** Names something that may not exist, so far longer than any id is: what is unknown is for the operation to say. */
export function idSchema(options: TStringOptions = {}) {
  return Type.String({ maxLength: 1000, ...options })
}

/** A text that counts without the blanks around it, which is for the rules of its chapter; so many blanks may be there. */
export function trimmedSchema(maxCharacters: number) {
  return Type.String({
    maxLength: maxCharacters + 1000,
    description: `1 to ${maxCharacters} characters after trimming.`,
    'x-expects': `a string of 1 to ${maxCharacters} characters, not counting blanks around it`,
  })
}
