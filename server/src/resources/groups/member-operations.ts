import { Type } from 'typebox'
import { notFound } from '../../graph/errors.ts'
import { defineRead, defineWrite, type NewOperation } from '../../graph/operation.ts'
import type { ListOptions } from '../../graph/paging.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { raiseGroupEvent, raiseJoined, raiseJoinRequests } from './events.ts'
import { askedGroup, askToJoin } from './examples.ts'
import { type Failure, problems, readUser, sortOut, toJoinRequest } from './rules.ts'
import {
  approvedRequestsSchema,
  joinRequestAnswerSchema,
  joinRequestListSchema,
  participantRemovalSchema,
  rejectedRequestsSchema,
  removedParticipantsSchema,
} from './schemas.ts'
import {
  deleteJoinRequests,
  deleteParticipants,
  findJoinRequests,
  insertParticipant,
  listJoinRequests,
  listParticipants,
  lockGroup,
} from './store.ts'

const requestsPath = '/{Version}/{group_id}/join_requests'
const exampleRequest = '7d1e3f0c5b9a4c2e8f6a1b2c3d4e5f60'

const requestList: ListOptions = {
  maxLimit: 1024,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'created_time.desc',
  sorts: { 'created_time.desc': { column: 'created_time', direction: 'desc' } },
}

export function listRequests(): NewOperation {
  return defineRead({
    name: 'groups.list_join_requests',
    method: 'GET',
    path: requestsPath,
    sentence: 'Lists the requests to join a group that wait for an answer, newest first.',
    permission: 'messaging',
    list: requestList,
    input: Type.Object({}),
    output: joinRequestListSchema,
    examples: {
      input: { limit: 1 },
      output: {
        data: [{ join_request_id: exampleRequest, wa_id: '16505551234', creation_timestamp: '1780315200' }],
        paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
      },
      node: askedGroup,
    },
    async run({ db, node, page }) {
      return page.fetch((slice) => listJoinRequests(db, node, slice), toJoinRequest)
    },
  })
}

export function approveRequests(words: Vocabulary): NewOperation {
  const messaging_product = words.product
  return defineWrite({
    name: 'groups.approve_join_requests',
    method: 'POST',
    path: requestsPath,
    sentence: 'Lets users into a group who asked to join it, each for itself: what cannot be approved is told.',
    permission: 'messaging',
    input: joinRequestAnswerSchema(words),
    output: approvedRequestsSchema(words),
    examples: {
      input: { messaging_product, join_requests: [exampleRequest] },
      output: { messaging_product, approved_join_requests: [exampleRequest] },
      node: askedGroup,
      first: askToJoin,
    },
    async run({ db, node, clock, settings }, { join_requests }) {
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      const max = settings.maxUsersPerGroup
      const waiting = await findJoinRequests(db, group, join_requests)
      let places = max - (await listParticipants(db, group)).length
      const { done, failed } = sortOut(join_requests, (id) => {
        if (!waiting.has(id)) return problems.unknownRequest()
        return places-- > 0 ? undefined : problems.fullGroup(max)
      })
      const joining = done.flatMap((id) => waiting.get(id) ?? [])
      if (joining.length > 0) {
        for (const { group_id, user_wa_id, name } of joining) {
          await insertParticipant(db, { group_id, user_wa_id, name, joined_time: clock.now() })
        }
        await deleteJoinRequests(db, group, usersOf(joining))
        await raiseJoined(db, { clock, words }, group, joining)
      }
      return { messaging_product, approved_join_requests: done, ...describeFailed(failed) }
    },
  })
}

export function rejectRequests(words: Vocabulary): NewOperation {
  const messaging_product = words.product
  return defineWrite({
    name: 'groups.reject_join_requests',
    method: 'DELETE',
    path: requestsPath,
    sentence: 'Rejects requests to join a group, each for itself; the users may ask again.',
    permission: 'messaging',
    input: joinRequestAnswerSchema(words),
    output: rejectedRequestsSchema(words),
    examples: {
      input: { messaging_product, join_requests: [exampleRequest] },
      output: { messaging_product, rejected_join_requests: [exampleRequest] },
      node: askedGroup,
      first: askToJoin,
    },
    async run({ db, node, clock }, { join_requests }) {
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      const waiting = await findJoinRequests(db, group, join_requests)
      const { done, failed } = sortOut(join_requests, (id) => (waiting.has(id) ? undefined : problems.unknownRequest()))
      const rejected = done.flatMap((id) => waiting.get(id) ?? [])
      if (rejected.length > 0) {
        await deleteJoinRequests(db, group, usersOf(rejected))
        await raiseJoinRequests(db, { clock, words }, group, 'group_join_request_revoked', rejected)
      }
      return { messaging_product, rejected_join_requests: done, ...describeFailed(failed) }
    },
  })
}

export function removeParticipants(words: Vocabulary): NewOperation {
  const messaging_product = words.product
  return defineWrite({
    name: 'groups.remove_participants',
    method: 'DELETE',
    path: '/{Version}/{group_id}/participants',
    sentence: 'Takes users out of a group, each for itself: who is not in it is told.',
    permission: 'messaging',
    input: participantRemovalSchema(words),
    output: removedParticipantsSchema(words),
    examples: {
      input: { messaging_product, participants: [{ user: '16505551234' }] },
      output: {
        messaging_product,
        request_id: '3b8d4e6f7a1c4d5e9f0a1b2c3d4e5f6a',
        removed_participants: [{ input: '16505551234', wa_id: '16505551234' }],
      },
      node: askedGroup,
    },
    async run({ db, node, clock, random }, { participants }) {
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      const request_id = random.trace()
      // A user who is named twice, in two ways of writing, is removed once.
      const named = new Map(participants.map(({ user }) => [readUser(user), user]))
      const removed = await deleteParticipants(db, group, [...named.keys()])
      const { done, failed } = sortOut([...named.keys()], (user) =>
        removed.has(user) ? undefined : problems.unknownParticipant(),
      )
      const inputOf = (user: string) => named.get(user) ?? user
      const removed_participants = done.map((user) => ({ input: inputOf(user), wa_id: user }))
      if (done.length > 0) {
        const removal = {
          group_id: group.id,
          type: 'group_participants_remove' as const,
          request_id,
          initiated_by: 'business' as const,
          removed_participants,
        }
        await raiseGroupEvent(db, { clock, words }, group, 'group_participants_update', [removal])
      }
      return {
        messaging_product,
        request_id,
        removed_participants,
        ...(failed.length > 0 && {
          failed_participants: failed.map(({ id, problem }) => ({ input: inputOf(id), errors: [problem] })),
        }),
      }
    },
  })
}

function usersOf(requests: readonly { readonly user_wa_id: string }[]): string[] {
  return requests.map(({ user_wa_id }) => user_wa_id)
}

function describeFailed(failed: readonly Failure[]) {
  if (failed.length === 0) return {}
  return { failed_join_requests: failed.map(({ id, problem }) => ({ join_request_id: id, errors: [problem] })) }
}
