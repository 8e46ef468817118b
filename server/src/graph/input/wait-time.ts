import { Type } from 'typebox'
import { parseDuration, second } from '../../base/time/duration.ts'
import { badArgument } from '../define-error.ts'
import { waitTooLong } from '../errors.ts'

const longestWait = 60 * second
const usualWait = 30 * second

/** How long a request waits for something. */
export const waitTimeSchema = Type.String({
  maxLength: 20,
  description: 'How long, such as 5s or a number of seconds; at most 60s, 30s when left out.',
})

/** In milliseconds; throws the 400. */
export function readWaitTime(argument: string, text: string | undefined): number {
  if (text === undefined) return usualWait
  const milliseconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) * second : parseDuration(text)
  if (milliseconds === undefined || milliseconds > longestWait) throw badArgument(waitTooLong(argument))
  return milliseconds
}
