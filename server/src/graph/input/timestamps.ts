import { Type } from 'typebox'
import { parseDuration } from '../../base/time/duration.ts'
import { badArgument } from '../define-error.ts'
import { argumentWrong } from '../errors.ts'

const expected = 'a time such as 2026-11-15T16:30:00Z, or a duration before now such as 10m'

/** A time, or how long ago. */
export function timestampSchema(description: string) {
  return Type.String({ minLength: 1, maxLength: 64, description: `${description} ${capitalize(expected)}.` })
}

/** The milliseconds of a time; throws the 400. */
export function readTimestamp(argument: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const ago = parseDuration(text)
  const time = ago === undefined ? readTime(text) : now - ago
  if (time === undefined) throw badArgument(argumentWrong(argument, { expected }))
  return time
}

/** Not everything that the parser takes for a time is one: `1` would be a year. */
function readTime(text: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

export function writeTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
