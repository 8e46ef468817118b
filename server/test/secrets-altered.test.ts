import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { systemRandom } from '../src/base/keys/random.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorld } from '../src/world/read.ts'
import { onBothDatabases } from './harness/databases.ts'
import { startTestServer } from './harness/server.ts'
import { subscribe } from './harness/subscriber.ts'
import { envelopeOf, handIn, messagesChange, metadata, signHubByHand, textMessage } from './harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, tokens } from './harness/world.ts'

const minute = 60_000

onBothDatabases("an app's secret that was altered in the database", (engine) => {
  test("an app's secret that was altered in the database holds up the events of that app alone, is told in the log, and can be put right with a world file", async (t) => {
    const lines: string[] = []
    const log = Object.assign(pino({ level: 'info' }, { write: (line: string) => lines.push(line) }), { line() {} })
    const server = await startTestServer({ engine, log })
    t.after(() => server.stop())
    const { database, client, clock } = server
    const partner = { token: tokens.partner, id: partnerIds.application }
    const owners = await subscribe(t, server)
    const partners = await subscribe(t, server, { app: partner })
    for (const token of [tokens.owner, tokens.partner]) {
      assert.equal((await client.post(`/v23.0/${accounts.shared}/subscribed_apps`, { token, json: {} })).status, 200)
    }
    const message = messagesChange(textMessage('wamid.A'))
    const change = {
      ...message,
      value: { ...message.value, metadata: { ...metadata, phone_number_id: numbers.shared } },
    }
    const envelope = envelopeOf([change], accounts.shared)

    await database.transaction(async ({ query }) => {
      const find = query.selectFrom('apps').select('secret').where('id', '=', partner.id)
      const { secret } = await find.executeTakeFirstOrThrow()
      await query.updateTable('apps').set({ secret }).where('id', '=', ids.application).execute()
    })
    assert.equal((await handIn(server, envelope)).status, 200)
    await server.app.settle()
    assert.deepEqual([owners.messageIds(), partners.messageIds()], [[], ['wamid.A']])
    const told = lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)
    const problem = `apps.secret of ${ids.application} cannot be opened: it was altered in the database, or belongs to another row`
    assert.deepEqual([...new Set(told.map(({ err }) => err.message))], [problem])

    const body = JSON.stringify(envelope)
    const headers = { 'x-hub-signature-256': signHubByHand(body, 'anything'), 'content-type': 'application/json' }
    const signed = await fetch(`${server.url}/msgapp/webhooks`, { method: 'POST', headers, body })
    assert.equal(signed.status, 500)
    assert.ok(!(await signed.text()).includes('apps.secret'), 'callers are told nothing of it')
    assert.equal((await client.get(`/v23.0/${ids.phone_number}`, { token: tokens.owner })).status, 200)

    const apps = [{ id: ids.application, business_id: ids.business, secret: 'put right' }]
    await applyWorld(database, clock, systemRandom, readWorld(JSON.stringify({ apps }), 'mend'))
    clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(owners.messageIds(), ['wamid.A'])
    const [post] = owners.posts
    assert.equal(post?.headers['x-hub-signature-256'], signHubByHand(post?.body ?? '', 'put right'))
  })
})
