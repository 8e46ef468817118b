import { type TSchema, Type } from 'typebox'
import type { Transaction } from '../../db/database.ts'
import type { GroupJoinRequestsTable } from '../../db/tables.ts'
import type { Context } from '../../graph/context.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { newestFirst } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { raiseGroupEvent, raiseJoined, raiseJoinRequests } from './events.ts'
import { askedGroup, askToJoin } from './examples.ts'
import { type Failure, problems, readUser, sortOut, toJoinRequest, writeCreation } from './rules.ts'
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
  type HeldGroup,
  insertParticipant,
  listJoinRequests,
  listParticipants,
  lockGroup,
} from './store.ts'

const requestsPath = '/{Version}/{group_id}/join_requests'
const exampleRequest = '7d1e3f0c5b9a4c2e8f6a1b2c3d4e5f60'

const requestList = newestFirst(1024)

export function listRequests(vocabulary: Vocabulary): NewOperation {
  const creation_timestamp = writeCreation(vocabulary, 1_780_315_200_000)
  return defineRead({
    name: 'groups.list_join_requests',
    method: 'GET',
    path: requestsPath,
    sentence: 'Lists the requests to join a group that wait for a decision, newest first.',
    permission: 'messaging',
    list: requestList,
    input: Type.Object({}),
    output: joinRequestListSchema(vocabulary),
    examples: {
      input: { limit: 1 },
      output: {
        data: [{ join_request_id: exampleRequest, wa_id: '16505551234', creation_timestamp }],
        paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
      },
      node: askedGroup,
    },
    async run({ db, node, page }) {
      return page.fetch(
        (range) => listJoinRequests(db, node, range),
        (request) => toJoinRequest(vocabulary, request),
      )
    },
  })
}

/** The differences between approving and rejecting requests. */
interface RequestAnswer {
  readonly name: `groups.${string}`
  readonly method: 'POST' | 'DELETE'
  readonly sentence: string
  readonly output: TSchema
  /** The member of the response that lists the handled requests. */
  readonly member: 'approved_join_requests' | 'rejected_join_requests'
  /** How many users may join; undefined: nobody does. */
  countPlaces?(context: Context<Transaction>, group: HeldGroup): Promise<number>
  keep(context: Context<Transaction>, group: HeldGroup, requests: readonly GroupJoinRequestsTable[]): Promise<void>
}

/** Handles each request by itself: failures are reported beside the successes. */
function answerRequests(vocabulary: Vocabulary, answer: RequestAnswer): NewOperation {
  const messaging_product = vocabulary.product
  const { name, method, sentence, output, member } = answer
  return defineWrite({
    name,
    method,
    path: requestsPath,
    sentence,
    permission: 'messaging',
    input: joinRequestAnswerSchema(vocabulary),
    output,
    examples: {
      input: { messaging_product, join_requests: [exampleRequest] },
      output: { messaging_product, [member]: [exampleRequest] },
      node: askedGroup,
      first: askToJoin,
    },
    async run(context, { join_requests }) {
      const { db, node, settings } = context
      const group = await lockGroup(db, node)
      if (!group) throw notFound()
      const waiting = await findJoinRequests(db, group, join_requests)
      let places = (await answer.countPlaces?.(context, group)) ?? Number.POSITIVE_INFINITY
      const { done, failed } = sortOut(join_requests, (id) => {
        if (!waiting.has(id)) return problems.unknownRequest()
        return places-- > 0 ? undefined : problems.fullGroup(settings.maxUsersPerGroup)
      })
      const answered = done.flatMap((id) => waiting.get(id) ?? [])
      if (answered.length > 0) {
        await deleteJoinRequests(
          db,
          group,
          answered.map(({ user_wa_id }) => user_wa_id),
        )
        await answer.keep(context, group, answered)
      }
      return { messaging_product, [member]: done, ...describeFailed(failed) }
    },
  })
}

export function approveRequests(vocabulary: Vocabulary): NewOperation {
  return answerRequests(vocabulary, {
    name: 'groups.approve_join_requests',
    method: 'POST',
    sentence: 'Approves requests to join a group, each by itself; the response lists those that could not be approved.',
    output: approvedRequestsSchema(vocabulary),
    member: 'approved_join_requests',
    countPlaces: async ({ db, settings }, group) =>
      settings.maxUsersPerGroup - (await listParticipants(db, group)).length,
    async keep({ db, clock }, group, joining) {
      for (const { group_id, user_wa_id, name } of joining) {
        await insertParticipant(db, { group_id, user_wa_id, name, joined_time: clock.now() })
      }
      await raiseJoined(db, { clock, vocabulary }, group, joining)
    },
  })
}

export function rejectRequests(vocabulary: Vocabulary): NewOperation {
  return answerRequests(vocabulary, {
    name: 'groups.reject_join_requests',
    method: 'DELETE',
    sentence: 'Rejects requests to join a group, each by itself; the users may ask again.',
    output: rejectedRequestsSchema(vocabulary),
    member: 'rejected_join_requests',
    keep: ({ db, clock }, group, rejected) =>
      raiseJoinRequests(db, { clock, vocabulary }, group, 'group_join_request_revoked', rejected),
  })
}

export function removeParticipants(vocabulary: Vocabulary): NewOperation {
  const messaging_product = vocabulary.product
  return defineWrite({
    name: 'groups.remove_participants',
    method: 'DELETE',
    path: '/{Version}/{group_id}/participants',
    sentence: 'Removes users from a group, each by itself; the response lists those who are not in it.',
    permission: 'messaging',
    input: participantRemovalSchema(vocabulary),
    output: removedParticipantsSchema(vocabulary),
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
      // A user who is named twice, in two spellings, is removed once.
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
        await raiseGroupEvent(db, { clock, vocabulary }, group, 'group_participants_update', [removal])
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

function describeFailed(failed: readonly Failure[]) {
  if (failed.length === 0) return {}
  return { failed_join_requests: failed.map(({ id, problem }) => ({ join_request_id: id, errors: [problem] })) }
}
