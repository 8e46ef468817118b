import { Type } from 'typebox'
import { parseDuration, second } from '../../../base/time/duration.ts'
import { holderOf, limitsOf, type OperatorContext } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import type { Happening } from '../../../stream/happening.ts'
import { happeningTypes } from '../../../stream/happening.ts'
import { nothingHappened, waitTooLong } from '../errors.ts'
import { momentSchema, readMoment } from '../timestamps.ts'
import {
  exampleHappening,
  filterProperties,
  fits,
  type HappeningFilter,
  happeningSchema,
  readSince,
  showHappening,
  toHappening,
} from './activities.ts'

const longestWait = 60 * second
const usualWait = 30 * second

/** For tests: waits until something has happened. */
export function waitOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.wait',
      method: 'GET',
      path: '/operator/wait',
      sentence: 'Waits until something of a type has happened, on any process, and responds with the first that fits.',
      waits: true,
      input: Type.Object({
        type: Type.Enum(happeningTypes, { description: 'What to wait for.' }),
        ...filterProperties,
        since: Type.Optional(momentSchema('Also what has happened since then; left out: what happens from now on.')),
        timeout: Type.Optional(
          Type.String({
            maxLength: 20,
            description: 'How long, such as 5s or a number of seconds; at most 60s, 30s when left out.',
          }),
        ),
      }),
      output: happeningSchema,
      examples: { input: { type: 'request', since: '1h', timeout: '5s' }, output: exampleHappening },
      async run(context, { type, account_id, phone_number_id, since, timeout }) {
        const { limits, clock } = context
        const filter = { types: new Set([type]), account_id, phone_number_id, limits }
        const milliseconds = readTimeout(timeout)
        const from = readMoment('since', since, clock.now())
        const found = await waitFor(context, filter, from, milliseconds)
        // The token may have been revoked, or limited, while it waited.
        const limitsNow = limitsOf(await context.ports.readmitOperator(context.caller))
        if (!found || !fits(found, { ...filter, limits: limitsNow })) {
          throw nothingHappened({ type, waited: milliseconds / second })
        }
        return showHappening(found)
      },
    }),
  ]
}

async function waitFor(
  context: OperatorContext,
  filter: HappeningFilter,
  since: number | undefined,
  milliseconds: number,
): Promise<Happening | undefined> {
  const { feed } = context.ports
  const { promise, resolve } = Promise.withResolvers<Happening | undefined>()
  const watcher = {
    take: (happening: Happening) => {
      if (fits(happening, filter) && (since === undefined || happening.time >= since)) resolve(happening)
    },
    end: () => resolve(undefined),
  }
  const stop = await feed.watch(watcher, holderOf(context.caller))
  // Watching begins first, so that nothing is missed in between.
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  try {
    const past = since === undefined ? undefined : await findPast(context, filter, since)
    return past ?? (await promise)
  } finally {
    clearTimeout(timer)
    stop()
  }
}

async function findPast({ db, ports }: OperatorContext, filter: HappeningFilter, since: number) {
  if (filter.types?.has('request')) {
    const requests = ports.listRequests().filter(({ time }) => time >= since)
    const first = requests.findLast((one) => fits(toHappening(one), filter))
    return first && toHappening(first.whole())
  }
  for (const type of filter.types ?? []) {
    const found = (await readSince(db, since, type)).find((one) => fits(one, filter))
    if (found) return found
  }
  return undefined
}

function readTimeout(text: string | undefined): number {
  if (text === undefined) return usualWait
  const milliseconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) * second : parseDuration(text)
  if (milliseconds === undefined || milliseconds > longestWait) throw badArgument(waitTooLong('timeout'))
  return milliseconds
}
