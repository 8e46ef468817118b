import assert from 'node:assert/strict'
import type { Answer, CallOptions } from './client.ts'
import type { TestServer } from './server.ts'
import { envelopeOf, handIn } from './webhooks.ts'
import { ids, numbers, tokens } from './world.ts'

/** Both sides of the chats of one number, each through its own door. */
export function messageSides(server: TestServer, phone_number_id: string = numbers.main) {
  let lastUser = 16_505_570_000
  let lastMessage = 0

  const post = (body: object, options: CallOptions = {}): Promise<Answer> =>
    server.client.callRow(server.client.row('messages.send'), `/v23.0/${phone_number_id}/messages`, {
      token: tokens.owner,
      json: { messaging_product: 'msgapp', ...body },
      ...options,
    })

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every shape, and says itself what it expects.
  const readEvents = async (): Promise<any[]> => {
    const rows = await server.database.read.query.selectFrom('events').selectAll().orderBy('id').execute()
    return rows.filter(({ field, value }) => field === 'messages' && value !== '').map(({ value }) => JSON.parse(value))
  }

  const gateway = (path: string, body: object): Promise<Answer> =>
    server.client.post(`/gateway/${path}`, { token: tokens.gateway, json: body })
  const read = (path: string, query: Record<string, string> = {}): Promise<Answer> =>
    server.client.get(`/gateway/${path}`, { token: tokens.gateway, query })

  return {
    /** Posts at the gateway door, and reads there. */
    gateway,
    read,
    /** What the phone of a user did with a message. */
    act: (id: string, action: string, rest: object = {}): Promise<Answer> =>
      gateway(`messages/${id}`, { action, ...rest }),
    /** A message as the users' side sees it. */
    async show(id: string) {
      const row = server.client.row('gateway.read_message')
      const shown = await server.client.callRow(row, `/gateway/messages/${id}`, { token: tokens.gateway })
      assert.equal(shown.status, 200, shown.text)
      return shown.body
    },
    /** The messages of users that were delivered to the business. */
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into messages of every shape, and says itself what it expects.
    async readDelivered(from: string): Promise<any[]> {
      const events = await readEvents()
      return events.flatMap(({ messages }) => messages ?? []).filter((message) => message.from === from)
    },
    post,
    readEvents,
    /** A user whom no test has met. */
    newUser: (): string => String(++lastUser),
    /** What a user writes, handed in by the edge; opens the window. */
    async write(from: string, message: object = {}): Promise<string> {
      const id = `wamid.in${phone_number_id}${++lastMessage}`
      const timestamp = String(Math.floor(server.clock.now() / 1000))
      const value = {
        messaging_product: 'msgapp',
        metadata: { display_phone_number: '', phone_number_id },
        contacts: [{ profile: { name: 'Ada' }, wa_id: from }],
        messages: [{ from, id, timestamp, type: 'text', text: { body: 'Hello' }, ...message }],
      }
      const handed = await handIn(server, envelopeOf([{ field: 'messages', value }], ids.account))
      assert.equal(handed.status, 200, handed.text)
      return id
    },
    /** Sends what must be taken, and returns its id. */
    async send(to: string, body: object = { text: { body: 'Hello' } }): Promise<string> {
      const answer = await post({ to, ...body })
      assert.equal(answer.status, 200, answer.text)
      return answer.body.messages[0].id
    },
    /** The statuses of a message that were delivered, in order. */
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into statuses of every shape, and says itself what it expects.
    async statusesOf(id: string): Promise<any[]> {
      const events = await readEvents()
      return events.flatMap(({ statuses }) => statuses ?? []).filter((status) => status.id === id)
    },
    async namesOf(id: string): Promise<string> {
      const events = await readEvents()
      const statuses = events.flatMap(({ statuses }) => statuses ?? []).filter((status) => status.id === id)
      return statuses.map(({ status, errors }) => (errors ? `${status} ${errors[0].code}` : status)).join(', ')
    },
  }
}
