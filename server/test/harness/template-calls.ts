import assert from 'node:assert/strict'
import { second } from '../../src/base/time/duration.ts'
import type { Answer, CallOptions } from './client.ts'
import type { TestServer } from './server.ts'
import { ids, tokens } from './world.ts'

/** A body that keeps every rule. */
export const body = { type: 'BODY', text: 'Thank you for your visit.' }

export const bodyWith = (text: string, ...examples: string[]) => ({
  type: 'BODY',
  text,
  example: { body_text: [examples] },
})
export const buttons = (...list: object[]) => ({ type: 'BUTTONS', buttons: list })

/** What a business and the review do with templates. */
export function templateCalls(server: TestServer) {
  const ofAccount = (account: string) => `/v23.0/${account}/message_templates`
  const callRow = (name: string, path: string, options: CallOptions) =>
    server.client.callRow(server.client.row(name), path, options)
  let count = 0

  function create(
    members: object = {},
    { account = ids.account, ...options }: CallOptions & { account?: string } = {},
  ) {
    const json = { name: `made_${count++}`, language: 'en_US', category: 'UTILITY', components: [body], ...members }
    return callRow('templates.create', ofAccount(account), { token: tokens.owner, json, ...options })
  }

  function review(id: string, json: object, token: string = tokens.gateway): Promise<Answer> {
    return callRow('gateway.review_template', `/gateway/templates/${id}`, { token, json })
  }

  return {
    create,
    review,
    /** Creates a template that keeps the rules, and returns its id. */
    async make(members: object = {}): Promise<string> {
      const answer = await create(members)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.id
    },
    read: (id: string, query: Record<string, string> = {}, token: string = tokens.owner) =>
      callRow('templates.read', `/v23.0/${id}`, { token, query }),
    list: (query: Record<string, string> = {}, account: string = ids.account) =>
      callRow('templates.list', ofAccount(account), { token: tokens.owner, query }),
    edit: (id: string, json: object, token: string = tokens.owner) =>
      callRow('templates.edit', `/v23.0/${id}`, { token, json }),
    delete: (id: string) => callRow('templates.delete', `/v23.0/${id}`, { token: tokens.owner }),
    deleteByName: (query: Record<string, string>, account: string = ids.account) =>
      callRow('templates.delete_by_name', ofAccount(account), { token: tokens.owner, query }),
    /** Lets time pass, in which a template that waits for its review goes on waiting. */
    async settle(): Promise<void> {
      server.clock.advance(second)
      await server.app.settle()
    },
    /** What was raised meanwhile about templates, oldest first. */
    async eventsOf(work: () => Promise<unknown>) {
      const { query } = server.database.read
      const last = await query.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
      await work()
      const events = await query
        .selectFrom('events')
        .select(['account_id', 'field', 'value'])
        .where('id', '>', last?.id ?? 0)
        .orderBy('id')
        .execute()
      return events.map(({ account_id, field, value }) => ({ account_id, field, value: JSON.parse(value) }))
    },
  }
}
