import { type Static, Type } from 'typebox'
import { parseDuration } from '../../base/time/duration.ts'
import { defineOperatorControl, defineOperatorRead } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { doors, type NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { type FaultEffect, type FaultRule, isForCallbacks } from '../../sandbox/fault-rules.ts'
import type { KnownError, SandboxPort } from '../../sandbox/port.ts'
import { notADuration } from '../operators/public.ts'
import { effectNeedsOne, faultErrorUnknown, faultOfNoRequest, faultOperationUnknown } from './errors.ts'
import { controlSandbox, sandboxOf } from './recording.ts'

const truth = (description: string) => Type.Optional(Type.Boolean({ description }))

const matchSchema = Type.Object(
  {
    door: Type.Optional(Type.Enum(doors, { description: 'The door that a request comes to.' })),
    operation: Type.Optional(Type.String({ maxLength: 100, description: 'Its operation, such as messages.send.' })),
    phone_number_id: Type.Optional(idSchema({ description: 'The phone number that a request or an event is about.' })),
    app_id: Type.Optional(idSchema({ description: 'The app that calls, or that is called.' })),
    callback: Type.Optional(
      Type.String({ maxLength: 2000, description: 'The address that events are posted to, or its beginning.' }),
    ),
  },
  { description: 'What it applies to; a member that is left out matches everything.' },
)

const effectSchema = Type.Object(
  {
    status: Type.Optional(
      Type.Integer({
        minimum: 200,
        maximum: 599,
        description: 'The status of the error; with callback, of the subscriber.',
      }),
    ),
    code: Type.Optional(
      Type.Integer({ description: 'The code of the error, with status; left out: any of that status.' }),
    ),
    delay: Type.Optional(
      Type.String({ maxLength: 20, description: 'How long to wait before, such as 2s; at most 60s.' }),
    ),
    drop: truth('The connection is closed without a response.'),
    duplicate: truth('A webhook is sent twice.'),
    reorder: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'A webhook with a status comes after so many others.' }),
    ),
    hold: truth('Webhooks are not sent until the rules are replaced.'),
  },
  { description: 'What happens: exactly one of these, code with status.' },
)

const ruleMembers = {
  match: Type.Optional(matchSchema),
  rate: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'The share of what matches that is hit; 1 when left out.' }),
  ),
  times: Type.Optional(
    Type.Integer({ minimum: 1, description: 'How often it is hit at most; for ever when left out.' }),
  ),
  effect: effectSchema,
}
export const ruleSchema = Type.Object(ruleMembers)
const shownSchema = Type.Object({
  ...ruleMembers,
  hits: Type.Integer({ description: 'How often it was hit.' }),
})
const outputSchema = Type.Object({ rules: Type.Array(shownSchema) })

const exampleRule = { match: { operation: 'messages.send' }, rate: 1, times: 1, effect: { status: 429, code: 130429 } }
const exampleOutput = { rules: [{ ...exampleRule, hits: 0 }] }
const longestDelay = 60_000

/** Requests and webhooks that go wrong on purpose. */
export function faultOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'sandbox.list_faults',
      method: 'GET',
      path: '/operator/faults',
      sentence: 'Lists the rules by which requests and webhooks fail on purpose, and the number of hits of each.',
      input: Type.Object({}),
      output: outputSchema,
      examples: { output: exampleOutput },
      run: async (context) => showRules(sandboxOf(context)),
    }),
    defineOperatorControl({
      name: 'sandbox.replace_faults',
      method: 'PUT',
      path: '/operator/faults',
      sentence:
        'Replaces the rules by which requests and webhooks fail on purpose: the first match wins. Webhooks that earlier rules held are sent.',
      input: Type.Object({
        rules: Type.Array(ruleSchema, {
          maxItems: 100,
          description: 'All rules, in order: the first that matches counts.',
        }),
      }),
      output: outputSchema,
      examples: { input: { rules: [exampleRule] }, output: exampleOutput },
      run: (context, { rules }) =>
        controlSandbox(
          context,
          'sandbox.replace_faults',
          { id: 'faults', kind: 'sandbox' },
          async (sandbox, record) => {
            await sandbox.replaceFaults(
              rules.map((rule, index) => readRule(rule, `rules[${index}]`, sandbox)),
              record,
            )
            return showRules(sandbox)
          },
        ),
    }),
  ]
}

async function showRules(sandbox: SandboxPort) {
  const rules = await sandbox.listFaults()
  return { rules: rules.map(({ rule, hits }) => ({ ...rule, hits })) }
}

function readRule(
  { match = {}, rate = 1, times, effect }: Static<typeof ruleSchema>,
  place: string,
  { errors, hasOperation }: SandboxPort,
): FaultRule {
  const given = { match, rate, ...(times !== undefined && { times }), effect } as FaultRule
  checkEffect(given.effect, place)
  // A rule with a misspelt name would never be hit, and whoever made it would not notice.
  if (match.operation !== undefined && !hasOperation(match.operation)) {
    throw badArgument(faultOperationUnknown(`${place}.match.operation`, { name: match.operation }))
  }
  if (!isForCallbacks(given)) return { ...given, effect: readError(given.effect, place, errors) }
  if (match.door === undefined && match.operation === undefined) return given
  throw badArgument(faultOfNoRequest(`${place}.match`))
}

function checkEffect({ code, status, delay, ...others }: FaultEffect, place: string): void {
  const given = [status, delay, ...Object.values(others)].filter((value) => value !== undefined)
  if (given.length !== 1 || given[0] === false || (code !== undefined && status === undefined)) {
    throw badArgument(effectNeedsOne(`${place}.effect`))
  }
  if (delay !== undefined && (parseDuration(delay) ?? Number.POSITIVE_INFINITY) > longestDelay) {
    throw badArgument(notADuration(`${place}.effect.delay`))
  }
}

/** An error of the API, with the first code of its status where none is given. */
function readError(effect: FaultEffect, place: string, errors: readonly KnownError[]): FaultEffect {
  const { status, code } = effect
  if (status === undefined) return effect
  const known = errors.find((error) => error.status === status && (code === undefined || error.code === code))
  if (!known) throw badArgument(faultErrorUnknown(`${place}.effect`, { status, code: code ?? 'any' }))
  return { status, code: known.code }
}
