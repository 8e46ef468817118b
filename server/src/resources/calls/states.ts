import type { CallsTable } from '../../db/tables.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import { callActionNotPossible, callHasEnded } from './errors.ts'

export const callDirections = ['BUSINESS_INITIATED', 'USER_INITIATED'] as const
export type CallDirection = CallsTable['direction']

/** `ringing`: the called side was reached. The user's phone rings, or the business has set up its media by `pre_accept`. */
export const callStates = ['initiated', 'ringing', 'accepted', 'ended'] as const
type CallState = CallsTable['state']

/** How a call ended: `completed` if it was picked up, otherwise the reason; `failed` means that one side gave up. */
type CallEnding = NonNullable<CallsTable['ending']>

/** Who can act on a call: its two sides, and the clock. */
export const callSides = ['business', 'user', 'clock'] as const
export type CallSide = (typeof callSides)[number]

export const callActions = ['ringing', 'pre_accept', 'accept', 'reject', 'terminate', 'time_out'] as const
export type CallAction = (typeof callActions)[number]

interface Move {
  readonly by: readonly CallSide[]
  readonly action: CallAction
  readonly direction: readonly CallDirection[]
  readonly from: readonly CallState[]
  readonly to: CallState
  /** Set for every move that ends the call. */
  readonly ending?: CallEnding
}

const byEither: readonly CallSide[] = ['business', 'user']
const toUser: readonly CallDirection[] = ['BUSINESS_INITIATED']
const toBusiness: readonly CallDirection[] = ['USER_INITIATED']
const unanswered: readonly CallState[] = ['initiated', 'ringing']

/** THE TABLE: who can do what to a call in which state, and the result. Anything else is impossible. */
const moves: readonly Move[] = [
  { by: ['user'], action: 'ringing', direction: toUser, from: ['initiated'], to: 'ringing' },
  { by: ['user'], action: 'accept', direction: toUser, from: unanswered, to: 'accepted' },
  { by: ['user'], action: 'reject', direction: toUser, from: unanswered, to: 'ended', ending: 'rejected' },
  { by: ['business'], action: 'pre_accept', direction: toBusiness, from: ['initiated'], to: 'ringing' },
  { by: ['business'], action: 'accept', direction: toBusiness, from: unanswered, to: 'accepted' },
  { by: ['business'], action: 'reject', direction: toBusiness, from: unanswered, to: 'ended', ending: 'rejected' },
  { by: byEither, action: 'terminate', direction: callDirections, from: unanswered, to: 'ended', ending: 'failed' },
  {
    by: byEither,
    action: 'terminate',
    direction: callDirections,
    from: ['accepted'],
    to: 'ended',
    ending: 'completed',
  },
  { by: ['clock'], action: 'time_out', direction: callDirections, from: unanswered, to: 'ended', ending: 'timed_out' },
]

export interface CallCondition {
  readonly direction: CallDirection
  readonly state: CallState
}

/** The new state of a call; `ending` is null until it ends. */
export interface CallOutcome {
  readonly state: CallState
  readonly ending: CallEnding | null
}

/** The new state of a call after an action of a side; throws the 422 when the action is not possible. */
export function moveCall(call: CallCondition, side: CallSide, action: CallAction): CallOutcome {
  const move = listMoves(call, side).find((possible) => possible.action === action)
  if (!move) throw refuse(call, side, action)
  return { state: move.to, ending: move.ending ?? null }
}

function listMoves({ direction, state }: CallCondition, side: CallSide): Move[] {
  return moves.filter(
    (move) => move.by.includes(side) && move.direction.includes(direction) && move.from.includes(state),
  )
}

function refuse(call: CallCondition, side: CallSide, action: CallAction): GraphError {
  if (call.state === 'ended') return callHasEnded({ action })
  const caller = call.direction === 'BUSINESS_INITIATED' ? 'business' : 'user'
  const possible = listMoves(call, side).map((move) => move.action)
  return callActionNotPossible({ caller, state: call.state, action, side, possible })
}

/** Whether a call is still unanswered, so that it can ring out. */
export function isUnanswered({ state }: CallCondition): boolean {
  return unanswered.includes(state)
}
