import { Type } from 'typebox'
import { nodeIdPattern } from '../graph/nodes.ts'

/*
 * Forms that several parts of a world file have. Enumerations and other forms are those of the API; the counts that limit the API
 * (items of a list, numbers of an account) do not bind a file, so where a chapter's schema has a `maxItems` its part writes the list anew.
 */

export const idExpectation = 'an id: a string (in quotes) of 15 or 16 digits, without a 0 in front and below 2^53'

export const idSchema = Type.String({ pattern: nodeIdPattern.source, maxLength: 16, 'x-expects': idExpectation })
export const nameSchema = Type.String({ minLength: 1, maxLength: 100 })
export const textSchema = Type.String({ minLength: 1, maxLength: 256 })
export const countrySchema = Type.String({
  pattern: '^[A-Z]{2}$',
  maxLength: 2,
  'x-expects': 'a country code of two capital letters such as US',
})

/** Which others something is tied to: exactly these. An empty list, or a key without a value, says none. */
export const idListSchema = Type.Union([Type.Array(idSchema), Type.Null()], {
  'x-expects': 'an array of ids, or null for none',
})
