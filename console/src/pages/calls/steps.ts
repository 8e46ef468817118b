export interface TimedCall {
  readonly direction: 'USER_INITIATED' | 'BUSINESS_INITIATED'
  readonly state: string
  readonly ending?: string
  readonly created_time?: string
  readonly accepted_time?: string
  readonly ended_time?: string
}

export interface CallStep {
  readonly name: string
  readonly at: string | undefined
  /** How long after the step before, in milliseconds. */
  readonly after: number | undefined
}

const words: Readonly<Record<string, string>> = {
  initiated: 'Calling',
  ringing: 'Ringing',
  accepted: 'Connected',
  completed: 'Ended',
  rejected: 'Declined',
  failed: 'Failed',
  timed_out: 'Not answered',
}

/** `Declined`: how a call ended, or what it does now. */
export function nameCallState({ state, ending }: Pick<TimedCall, 'state' | 'ending'>): string {
  const name = ending ?? state
  return words[name] ?? name
}

export function toneOfCall({ state, ending }: Pick<TimedCall, 'state' | 'ending'>): string {
  if (state !== 'ended') return 'warn'
  return ending === 'completed' ? 'good' : 'bad'
}

/** What happened in a call, in order: who called, who answered, how it ended. */
export function listSteps(call: TimedCall): CallStep[] {
  const isFromUser = call.direction === 'USER_INITIATED'
  const [caller, other] = isFromUser ? ['The user', 'The business'] : ['The business', 'The user']
  const { created_time, accepted_time, ended_time, state, ending } = call
  const isAnswered = accepted_time !== undefined || state === 'accepted'
  const all: readonly (readonly [name: string, at: string | undefined, isThere: boolean])[] = [
    [`${caller} called`, created_time, true],
    [`It rings at ${other.toLowerCase()}`, undefined, state === 'ringing'],
    [`${other} answered`, accepted_time, isAnswered],
    [describeEnding(ending, other), ended_time, state === 'ended'],
  ]
  let before: string | undefined
  return all
    .filter(([, , isThere]) => isThere)
    .map(([name, at]) => {
      const after = at !== undefined && before !== undefined ? Date.parse(at) - Date.parse(before) : undefined
      before = at ?? before
      return { name, at, after }
    })
}

function describeEnding(ending: string | undefined, other: string): string {
  if (ending === 'rejected') return `${other} declined`
  if (ending === 'timed_out') return `${other} did not answer in time`
  return ending === 'failed' ? 'The call failed' : 'The call ended'
}

/** How long the two were connected, in seconds; undefined: they were not, or still are. */
export function secondsConnected({ accepted_time, ended_time }: TimedCall): number | undefined {
  if (accepted_time === undefined || ended_time === undefined) return undefined
  return Math.round((Date.parse(ended_time) - Date.parse(accepted_time)) / 1000)
}

/** Why there is no description of a side. */
export function explainMissing({ state }: Pick<TimedCall, 'state'>): string {
  return state === 'ended'
    ? 'The call ended without a session description of this side.'
    : 'No session description yet.'
}
