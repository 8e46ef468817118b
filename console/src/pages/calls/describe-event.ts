const statusWords: Readonly<Record<string, string>> = {
  RINGING: 'Status: ringing',
  ACCEPTED: 'Status: accepted',
  REJECTED: 'Status: declined',
}

const endingWords: Readonly<Record<string, string>> = {
  COMPLETED: 'completed',
  FAILED: 'not connected',
}

interface CallValue {
  readonly calls?: readonly { readonly event?: string; readonly direction?: string; readonly status?: string }[]
  readonly statuses?: readonly { readonly status?: string }[]
}

/** What an event reports about a call, in words; an unknown event keeps the name that the service gives it. */
export function describeEvent(data: Readonly<Record<string, unknown>>): string {
  const { calls, statuses } = (data['value'] ?? {}) as CallValue
  const known = describeCall(calls?.[0]) ?? statusWords[statuses?.[0]?.status ?? '']
  return known ?? (typeof data['subject'] === 'string' ? data['subject'] : String(data['field']))
}

function describeCall(call: NonNullable<CallValue['calls']>[number] | undefined): string | undefined {
  if (call?.event === 'connect') {
    return call.direction === 'BUSINESS_INITIATED'
      ? 'Connect: the phone accepted, with its answer'
      : 'Connect: the user calls, with an offer'
  }
  if (call?.event !== 'terminate') return undefined
  const ending = endingWords[call.status ?? '']
  return ending === undefined ? 'Terminate: the call ended' : `Terminate: the call ended, ${ending}`
}
