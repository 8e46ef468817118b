import type { CallFacts } from './facts.ts'
import { writeSpan } from './spans.ts'

/** What became of a call, in one sentence. */
export function judgeCall(call: CallFacts, now: number): string {
  const isToUser = call.direction === 'BUSINESS_INITIATED'
  switch (call.state) {
    case 'initiated':
      return isToUser
        ? 'The business calls the user, whose phone does not ring yet.'
        : 'The user calls. The business has not answered yet.'
    case 'ringing':
      return isToUser
        ? "Ringing at the user's phone."
        : 'Ringing: the business has prepared its media, and has not accepted the call yet.'
    case 'accepted':
      return `In progress${call.accepted_time === null ? '' : ` for ${writeSpan(now - call.accepted_time)}`}.`
    case 'ended':
      return judgeEnding(call, isToUser)
  }
}

function judgeEnding({ ending, created_time, accepted_time, ended_time }: CallFacts, isToUser: boolean): string {
  switch (ending) {
    case 'completed':
      return accepted_time === null || ended_time === null
        ? 'Completed.'
        : `Completed: it lasted ${writeSpan(ended_time - accepted_time)}.`
    case 'rejected':
      return isToUser ? 'Rejected by the user.' : 'Rejected by the business.'
    case 'timed_out':
      return `Not answered: ${isToUser ? 'the user' : 'the business'} did not pick up${
        ended_time === null ? '' : ` within ${writeSpan(ended_time - created_time)}`
      }.`
    default:
      return 'Ended before it was accepted: one side hung up.'
  }
}
