import type { Preparation } from '../../graph/examples.ts'

/** The group of the demo world that requires approval to join. */
export const askedGroup = '6000000000000002'

/** Makes the user who left the group ask to join again, and finds the request. */
export const askToJoin: readonly Preparation[] = [
  { send: 'groups.remove_participants' },
  { send: 'gateway.join_group' },
  { send: 'groups.list_join_requests', take: { pointer: '/data/0/join_request_id', as: 'join_requests/0' } },
]
