import type { TSchema } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import { compileCheck } from '../../../graph/input/validation.ts'

/** Throws the 400 that names the place, unless a value is what a schema says. */
export type CheckValue = (value: unknown, place: string) => void

export function makeCheck(schema: TSchema): CheckValue {
  const check = compileCheck(schema)
  return (value, place) => {
    const problem = check(value)
    if (problem) throw badArgument({ ...problem, place: join(place, problem.place) })
  }
}

function join(outer: string, inner: string): string {
  if (inner === '') return outer
  return inner.startsWith('[') ? `${outer}${inner}` : `${outer}.${inner}`
}

/** Whether a text is an http or https URL. */
export function isWebUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol
  return protocol === 'http:' || protocol === 'https:'
}
