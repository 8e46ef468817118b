import type { Preparation } from '../../graph/examples.ts'

/** The group of the demo world that users have to ask to join. */
export const askedGroup = '6000000000000002'

/** Lets the user who is not in the group any more ask for it anew, and finds the request. */
export const askToJoin: readonly Preparation[] = [
  { send: 'groups.remove_participants' },
  { send: 'gateway.join_group' },
  { send: 'groups.list_join_requests', take: { pointer: '/data/0/join_request_id', as: 'join_requests/0' } },
]
