import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { subscribe } from '../../../../test/harness/subscriber.ts'
import { numbers, tokens } from '../../../../test/harness/world.ts'
import { recipientBlocked } from '../errors.ts'

onBothDatabases('sends of one moment', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)
  const users = Array.from({ length: 6 }, () => sides.newUser())
  const [blocked] = users as [string]
  before(async () => {
    for (const user of users) await sides.write(user)
    const block = { messaging_product: 'msgapp', block_users: [{ user: blocked }] }
    const row = server.client.row('messages.block_users')
    const path = `/v23.0/${numbers.main}/block_users`
    assert.equal((await server.client.callRow(row, path, { token: tokens.owner, json: block })).status, 200)
  })

  test('sends of one moment are each answered by themselves, and raise the webhooks, activities and messages of each', async (t) => {
    const subscriber = await subscribe(t, server)
    const sends = Array.from({ length: 48 }, (_, index) => {
      const to = users[index % users.length] as string
      // Some are refused by their form, and some by a rule.
      if (index % 11 === 5) return { to, body: { to, type: 'text', text: {} }, status: 400 }
      const body = { to, text: { body: `text ${index}` } }
      return { to, body, status: to === blocked ? 422 : 200 }
    })
    const answers = await Promise.all(sends.map(({ body }) => sides.post(body)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      sends.map(({ status }) => status),
    )
    for (const answer of answers.filter(({ status }) => status === 422)) assertError(answer, recipientBlocked)
    const sent = answers.flatMap(({ status, body }, index) =>
      status === 200 ? [{ id: body.messages[0].id as string, to: sends[index]?.to as string, index }] : [],
    )
    await server.app.settle()
    const statuses = subscriber.posts.flatMap(({ body }) =>
      JSON.parse(String(body)).entry.flatMap((entry: { changes: { value: { statuses?: object[] } }[] }) =>
        entry.changes.flatMap(({ value }) => value.statuses ?? []),
      ),
    ) as { id: string; status: string; recipient_id: string }[]
    for (const { id, to, index } of sent) {
      const own = statuses.filter((one) => one.id === id)
      assert.deepEqual(
        own.map(({ status }) => status),
        ['sent', 'delivered'],
      )
      assert.equal(own[0]?.recipient_id, to)
      assert.equal((await sides.show(id)).text.body, `text ${index}`)
    }
    assert.equal(statuses.length, 2 * sent.length)
    const { query } = server.database.read
    const activities = await query
      .selectFrom('activities')
      .select('trace')
      .where('operation', '=', 'messages.send')
      .execute()
    assert.equal(new Set(activities.map(({ trace }) => trace)).size, sent.length)
    for (const user of users.slice(1)) {
      const chat = await query.selectFrom('chats').selectAll().where('user_wa_id', '=', user).executeTakeFirstOrThrow()
      const last = await query
        .selectFrom('messages')
        .select('id')
        .where('chat_id', '=', chat.id)
        .orderBy('position', 'desc')
        .executeTakeFirst()
      assert.equal(chat.last_message_id, last?.id)
    }
  })

  test('sends of one moment are refused when their token was revoked meanwhile', async () => {
    const { database, clock } = server
    const count = async () =>
      Number(
        (
          await database.read.query
            .selectFrom('messages')
            .select(({ fn }) => fn.countAll().as('n'))
            .executeTakeFirstOrThrow()
        ).n,
      )
    const known = await count()
    const revoke = (revoked_time: number | null) =>
      database.transaction(({ query }) => query.updateTable('tokens').set({ revoked_time }).execute())
    const posts = users.slice(1).flatMap((to) => [1, 2, 3].map((n) => sides.post({ to, text: { body: `late ${n}` } })))
    await revoke(clock.now())
    const statuses = (await Promise.all(posts)).map(({ status }) => status)
    assert.ok(
      statuses.every((status) => status === 200 || status === 401),
      String(statuses),
    )
    assert.equal((await count()) - known, statuses.filter((status) => status === 200).length)
    await revoke(null)
  })
})
