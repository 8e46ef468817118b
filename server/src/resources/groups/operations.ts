import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { newestFirst } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findPhoneNumber } from '../phone-numbers/store.ts'
import { creationTimer, makeCreationHandler, requestGroup } from './creation.ts'
import { raiseGroupEvent } from './events.ts'
import { groupGatewayOperations } from './gateway.ts'
import { createLink, deleteLink, readLink } from './link-operations.ts'
import { approveRequests, listRequests, rejectRequests, removeParticipants } from './member-operations.ts'
import { groupPages } from './pages.ts'
import { checkRegistered, readSubject, toGroup, toListedGroup, writeCreation } from './rules.ts'
import {
  deletedGroupSchema,
  groupCreationSchema,
  groupDeletionSchema,
  groupListSchema,
  groupSchema,
  requestedSchema,
} from './schemas.ts'
import { deleteGroup, findGroup, listGroups, listParticipants, lockGroup } from './store.ts'
import { groupEntries } from './world.ts'

const groupList = newestFirst(1024)

const exampleRequestId = '0f6c1c1f2a7b4b0f9d3f5c1d2e3a4b5c'

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    group: true
  }
}

export const groupsChapter: Chapter = {
  name: 'groups',
  title: 'Groups',
  nodes: {
    group: {
      placeholder: 'group_id',
      called: 'a group',
      example: '6000000000000001',
      named: { table: 'groups', columns: ['subject'] },
    },
  },
  rows: (vocabulary) => [...groupOperations(vocabulary), ...groupGatewayOperations(), ...groupPages()],
  timers: (deps) => ({ [creationTimer]: makeCreationHandler(deps) }),
  world: [groupEntries],
  leftOutOfWorld: {
    'invite links of groups': 'group_invite_links',
    'join requests': 'group_join_requests',
  },
}

function groupOperations(vocabulary: Vocabulary): NewOperation[] {
  const messaging_product = vocabulary.product
  const output = groupSchema(vocabulary)
  const groupFields = Object.keys(output.properties)
  return [
    defineRead({
      name: 'groups.list',
      method: 'GET',
      path: '/{Version}/{Phone-Number-ID}/groups',
      sentence: 'Lists the groups of a phone number, newest first.',
      permission: 'messaging',
      list: groupList,
      input: Type.Object({}),
      output: groupListSchema,
      examples: {
        input: { limit: 1 },
        output: {
          data: { groups: [{ id: '6000000000000001', subject: 'Regulars', created_at: '1780315200' }] },
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, page }) {
        const { data, paging } = await page.fetch((range) => listGroups(db, node, range), toListedGroup)
        return { data: { groups: data }, paging }
      },
    }),
    defineWrite({
      name: 'groups.create',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/groups',
      sentence: 'Requests a group of a phone number; the event group_lifecycle_update reports its creation.',
      permission: 'messaging',
      briefErrors: true,
      input: groupCreationSchema(vocabulary),
      output: requestedSchema(vocabulary),
      examples: {
        input: {
          messaging_product,
          subject: 'Spring planting',
          description: 'What to plant, and when.',
          join_approval_mode: 'approval_required',
        },
        output: { messaging_product, request_id: exampleRequestId },
      },
      async run({ db, node, clock, random }, { subject, description, join_approval_mode }) {
        const group = { number: node, subject: readSubject(subject), description, join_approval_mode }
        checkRegistered(await findPhoneNumber(db, node))
        return { messaging_product, request_id: await requestGroup(db, { clock, random }, group) }
      },
    }),
    createLink(vocabulary),
    readLink(vocabulary),
    deleteLink(vocabulary),
    listRequests(vocabulary),
    approveRequests(vocabulary),
    rejectRequests(vocabulary),
    removeParticipants(vocabulary),
    defineRead({
      name: 'groups.read',
      method: 'GET',
      path: '/{Version}/{group_id}',
      sentence: 'Reads a group with the users who are in it.',
      permission: 'messaging',
      fields: { available: groupFields, defaults: groupFields, mode: 'replace' },
      input: Type.Object({}),
      output,
      examples: {
        output: {
          id: '6000000000000001',
          subject: 'Regulars',
          description: 'People who come every week.',
          join_approval_mode: 'auto_approve',
          creation_timestamp: writeCreation(vocabulary, 1_780_315_200_000),
          participants: [{ wa_id: '16505551234' }],
          total_participant_count: 1,
        },
      },
      async run({ db, node, project }) {
        const group = await findGroup(db, node)
        if (!group) throw notFound()
        return project(toGroup(vocabulary, group, await listParticipants(db, group)))
      },
    }),
    defineWrite({
      name: 'groups.delete',
      method: 'DELETE',
      path: '/{Version}/{group_id}',
      sentence: 'Deletes a group for good, with its invite link, its join requests and everybody in it.',
      permission: 'messaging',
      input: groupDeletionSchema(vocabulary),
      output: deletedGroupSchema(vocabulary),
      examples: {
        output: { messaging_product, request_id: exampleRequestId, success: true },
        // A group that no other example uses.
        node: '6000000000000003',
      },
      async run({ db, node, clock, random }) {
        const group = await lockGroup(db, node)
        if (!group) throw notFound()
        const request_id = random.trace()
        await deleteGroup(db, group)
        const deletion = { group_id: group.id, type: 'group_delete' as const, request_id }
        await raiseGroupEvent(db, { clock, vocabulary }, group, 'group_lifecycle_update', [deletion])
        return { messaging_product, request_id, success: true }
      },
    }),
  ]
}
