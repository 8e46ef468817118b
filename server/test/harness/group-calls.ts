import assert from 'node:assert/strict'
import type { Answer } from './client.ts'
import type { TestServer } from './server.ts'
import { numbers, tokens } from './world.ts'

export interface StoredEvent {
  readonly field: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an event.
  readonly value: any
}

type Row = 'list' | 'create' | 'read' | 'delete' | `${string}_${string}`

/** Calls the operations of groups, the gateway's included. */
export function groupCalls(server: TestServer) {
  const messaging_product = 'msgapp'
  const call = (row: Row, path: string, json?: object, query?: Record<string, string>) =>
    server.client.callRow(server.client.row(`groups.${row}`), `/v23.0/${path}`, {
      token: tokens.owner,
      ...(json && { json }),
      ...(query && { query }),
    })
  const calls = {
    list: (query: Record<string, string> = {}, number: string = numbers.main) =>
      call('list', `${number}/groups`, undefined, query),
    create: (body: object, number: string = numbers.main) =>
      call('create', `${number}/groups`, { messaging_product, ...body }),
    read: (group: string, query: Record<string, string> = {}) => call('read', group, undefined, query),
    delete: (group: string, body: object = {}) => call('delete', group, body),
    createLink: (group: string) => call('create_invite_link', `${group}/invite_link`, { messaging_product }),
    readLink: (group: string) => call('read_invite_link', `${group}/invite_link`),
    deleteLink: (group: string) => call('delete_invite_link', `${group}/invite_link`, { messaging_product }),
    requests: (group: string, query: Record<string, string> = {}) =>
      call('list_join_requests', `${group}/join_requests`, undefined, query),
    approve: (group: string, join_requests: string[]) =>
      call('approve_join_requests', `${group}/join_requests`, { messaging_product, join_requests }),
    reject: (group: string, join_requests: string[]) =>
      call('reject_join_requests', `${group}/join_requests`, { messaging_product, join_requests }),
    remove: (group: string, ...users: string[]) =>
      call('remove_participants', `${group}/participants`, {
        messaging_product,
        participants: users.map((user) => ({ user })),
      }),
    join: (invite_link: string, user_wa_id: string, name?: string): Promise<Answer> =>
      server.client.post('/gateway/groups/join', { token: tokens.gateway, json: { invite_link, user_wa_id, name } }),
    /** Lets requested groups be created. */
    async pass(): Promise<void> {
      server.clock.advance(1000)
      await server.app.settle()
    },
    /** An existing group with its link. */
    async make(body: object = {}): Promise<{ id: string; link: string }> {
      const asked = await calls.create({ subject: 'Gardeners', ...body })
      assert.equal(asked.status, 200, asked.text)
      await calls.pass()
      const created = (await calls.events()).find(({ value }) => value.groups[0].request_id === asked.body.request_id)
      assert.ok(created, 'the group was told of')
      const { group_id, invite_link } = created.value.groups[0]
      return { id: group_id, link: invite_link }
    },
    /** The ids of the waiting requests, by user. */
    async waiting(group: string): Promise<Record<string, string>> {
      const { body } = await calls.requests(group)
      return Object.fromEntries(
        body.data.map(({ wa_id, join_request_id }: Record<string, string>) => [wa_id, join_request_id]),
      )
    },
    async users(group: string): Promise<string[]> {
      const { body } = await calls.read(group, { fields: 'participants' })
      return body.participants.map(({ wa_id }: { wa_id: string }) => wa_id)
    },
    /** Every event that was raised, oldest first. */
    async events(): Promise<StoredEvent[]> {
      const rows = await server.database.read.query
        .selectFrom('events')
        .select(['field', 'value'])
        .where('field', 'like', 'group%')
        .orderBy('id')
        .execute()
      return rows.map(({ field, value }) => ({ field, value: JSON.parse(value) }))
    },
    /** The events of one group during some work. */
    async eventsOf(group: string, work: () => Promise<unknown>): Promise<StoredEvent[]> {
      const before = (await calls.events()).length
      await work()
      return (await calls.events()).slice(before).filter(({ value }) => value.groups[0].group_id === group)
    },
  }
  return calls
}

/** Ids of users that no test has used. */
export function freshUsers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(16505550000 + index))
}
