import type { CallFacts, MessageFacts, RequestFacts } from './facts.ts'
import { judgeCall } from './judge-call.ts'
import { judgeMessage } from './judge-message.ts'

/** What one request set off. */
export interface TraceFacts {
  /** Undefined: the trace is known by its events alone. */
  readonly request: RequestFacts | undefined
  readonly messages: readonly MessageFacts[]
  readonly calls: readonly CallFacts[]
  /** The field of each event. */
  readonly fields: readonly string[]
}

/** The worst first. */
const messageStates: readonly MessageFacts['state'][] = [
  'failed',
  'accepted',
  'sent',
  'deleted',
  'delivered',
  'read',
  'played',
]

/** What became of a request: its refusal, its messages and calls, or else its events. */
export function judgeTrace({ request, messages, calls, fields }: TraceFacts, now: number): string {
  const subjects = [...judgeMessages(messages, now), ...judgeCalls(calls, now)]
  const parts = [...(request ? judgeRefusal(request) : []), ...subjects]
  if (parts.length > 0) return parts.join(' ')
  const done = (request && describeSignUp(request)) ?? describeDone(request)
  if (fields.length === 0) return `${done}. It has raised no event, so there is no webhook.`
  const events = fields.length === 1 ? 'an event' : `${fields.length} events`
  return `${done}, and raised ${events} of ${[...new Set(fields)].join(', ')}.`
}

function describeDone(request: RequestFacts | undefined): string {
  return request ? `The request (${request.operation}) succeeded` : 'The request succeeded'
}

/** How far a sign-up has come whose last step this was; undefined: it is none. */
function describeSignUp({ operation, status }: RequestFacts): string | undefined {
  if (status !== undefined || !operation.startsWith(signUpSteps) || operation === exchanged) return undefined
  if (operation === `${signUpSteps}agree`) return 'The business agreed to the sign-up'
  if (operation === `${signUpSteps}decline`) return 'The business declined the sign-up'
  const step = operation.slice(signUpSteps.length).replaceAll('_', ' ')
  return `The sign-up has neither been agreed to nor declined: its last step was: ${step}`
}

/** The records of a sign-up are those of one trace. */
export const signUpSteps = 'sign_up.'
/** Its code is exchanged by the app, in a request of its own. */
const exchanged = `${signUpSteps}exchange`

function judgeRefusal({ operation, status, error }: RequestFacts): string[] {
  return error ? [`The request (${operation}) was refused with ${status}: ${error.message}`] : []
}

function judgeMessages(messages: readonly MessageFacts[], now: number): string[] {
  const rankOf = ({ state }: MessageFacts) => messageStates.indexOf(state)
  const [worst] = messages.toSorted((one, other) => rankOf(one) - rankOf(other))
  if (!worst) return []
  const sentence = judgeMessage(worst, now)
  return messages.length === 1
    ? [sentence]
    : [`Of ${messages.length} messages the worst off is ${worst.id}: ${sentence}`]
}

function judgeCalls(calls: readonly CallFacts[], now: number): string[] {
  return calls.map((call) => (calls.length === 1 ? judgeCall(call, now) : `Call ${call.id}: ${judgeCall(call, now)}`))
}
