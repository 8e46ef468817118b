import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { useTestServer } from './harness/server.ts'
import { numbers, tokens } from './harness/world.ts'

onBothDatabases('fifty requests at once with one Idempotency-Key', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)

  test('fifty requests at once with one Idempotency-Key on two processes send one message, and all get the first response', async (t) => {
    const other = await startSecondProcess(server)
    t.after(() => other.app.close(1000))
    for (const key of ['first', 'second']) {
      const to = sides.newUser()
      await sides.write(to)
      const json = { messaging_product: 'msgapp', to, text: { body: 'Hello' } }
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? server.client : other.client).post(`/v23.0/${numbers.main}/messages`, {
            token: tokens.owner,
            json,
            headers: { 'idempotency-key': key },
          }),
        ),
      )
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')
      assert.equal(replayed.length, 49)
      assert.equal(await sides.namesOf(answers[0]?.body.messages[0].id), 'sent, delivered')
      const { query } = server.database.read
      const sent = await query
        .selectFrom('messages')
        .select('id')
        .where('chat_id', '=', `${numbers.main}/${to}`)
        .execute()
      assert.equal(sent.length, 2, 'what the user wrote, and one response to it')
    }
  })
})
