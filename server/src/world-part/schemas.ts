import { Type } from 'typebox'
import { maxNodeIdLength, nodeIdPattern } from '../graph/nodes.ts'

/*
 * Schemas that several parts of a world file share. Enumerations and other forms are those of the API; the counts that limit the API
 * (items of a list, numbers of an account) do not limit a file, so a part redefines a list whose schema has a `maxItems`.
 */

/** YAML and JSON read digits without quotes as a number, which loses the last ones. */
export const shortIdExpectation = 'an id: a string (in quotes) of 15 or 16 digits, without a 0 in front and below 2^53'

export const idExpectation = `${shortIdExpectation}, or of 15 to 20 digits with VOCABULARY=whatsapp`

export const idSchema = Type.String({
  pattern: nodeIdPattern.source,
  maxLength: maxNodeIdLength,
  'x-expects': idExpectation,
})
export const nameSchema = Type.String({ minLength: 1, maxLength: 100 })
export const textSchema = Type.String({ minLength: 1, maxLength: 256 })
export const countrySchema = Type.String({
  pattern: '^[A-Z]{2}$',
  maxLength: 2,
  'x-expects': 'a country code of two capital letters such as US',
})

/** The complete list of links. An empty list, or a key without a value, means none. */
export const idListSchema = Type.Union([Type.Array(idSchema), Type.Null()], {
  'x-expects': 'an array of ids, each a string in quotes, or null for none',
})
