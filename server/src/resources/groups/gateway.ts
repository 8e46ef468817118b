import { defineGatewayWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { groupIsFull, inviteLinkDead } from './errors.ts'
import { raiseJoined, raiseJoinRequests } from './events.ts'
import { readInviteCode } from './rules.ts'
import { joinedSchema, joinSchema } from './schemas.ts'
import {
  deleteJoinRequests,
  insertJoinRequest,
  insertParticipant,
  listParticipants,
  lockInvitingGroupForGateway,
} from './store.ts'

export function groupGatewayOperations(): NewOperation[] {
  return [
    defineGatewayWrite({
      name: 'gateway.join_group',
      method: 'POST',
      path: '/gateway/groups/join',
      sentence: 'Lets a user join a group by its invite link, or ask to join it if the business has to approve.',
      input: joinSchema,
      output: joinedSchema,
      examples: {
        input: {
          invite_link: 'http://127.0.0.1:8080/invite/9Zb1J3V0QZq0mFhE2xkTtA',
          user_wa_id: '16505551234',
          name: 'Ada',
        },
        output: { group_id: '6000000000000002', status: 'requested' },
        first: [{ send: 'groups.create_invite_link', take: { pointer: '/invite_link', as: 'invite_link' } }],
      },
      async run({ db, clock, random, vocabulary, settings, sees }, { invite_link, user_wa_id, name = null }) {
        const code = readInviteCode(invite_link)
        const group = code && (await lockInvitingGroupForGateway(db, code))
        if (!group || !sees(group.account_id)) throw inviteLinkDead()
        const group_id = group.id
        const participants = await listParticipants(db, group)
        if (participants.some((participant) => participant.user_wa_id === user_wa_id)) {
          return { group_id, status: 'joined' }
        }
        const user = { user_wa_id, name }
        const now = clock.now()
        if (group.join_approval_mode === 'approval_required') {
          const request = { id: random.trace(), group_id, ...user, created_time: now }
          if (await insertJoinRequest(db, request)) {
            await raiseJoinRequests(db, { clock, vocabulary }, group, 'group_join_request_created', [request])
          }
          return { group_id, status: 'requested' }
        }
        if (participants.length >= settings.maxUsersPerGroup) throw groupIsFull({ max: settings.maxUsersPerGroup })
        // Requested while approval was required, which it no longer is.
        await deleteJoinRequests(db, group, [user_wa_id])
        await insertParticipant(db, { group_id, ...user, joined_time: now })
        await raiseJoined(db, { clock, vocabulary }, group, [user])
        return { group_id, status: 'joined' }
      },
    }),
  ]
}
