import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWorld } from '../src/world/read.ts'
import { onOneDatabase } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { tokens } from './harness/world.ts'

/** One id of each length; beyond 16 digits a number could not hold them unharmed. */
const long = {
  business: '212345678901239',
  app: '3123456789012349',
  account: '12345678901234567',
  phone_number: '412345678901234567',
  account_number: '4112345678901234567',
  template: '51234567890123456789',
  group: '99999999999999999999',
}

const world = {
  businesses: [{ id: long.business, name: 'Long' }],
  apps: [{ id: long.app, business_id: long.business, secret: 'long-secret', name: 'Long app' }],
  tokens: [{ token: 'long-token', app_id: long.app }],
  accounts: [
    {
      id: long.account,
      business_id: long.business,
      name: 'Long',
      subscribed_apps: [long.app],
      phone_numbers: [
        {
          id: long.phone_number,
          account_number_id: long.account_number,
          display_phone_number: '+1 631-555-1077',
          registered: true,
          groups: [{ id: long.group, subject: 'Long', description: '', join_approval_mode: 'auto_approve' }],
        },
      ],
      templates: [
        {
          id: long.template,
          name: 'long_ids',
          language: 'en_US',
          category: 'UTILITY',
          components: [{ type: 'BODY', text: 'Welcome.' }],
        },
      ],
    },
  ],
}

onOneDatabase('ids of 15 to 20 digits', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const token = 'long-token'
  const apply = (raw: string, type: string) =>
    server.client.post('/operator/world', { token: tokens.operator, raw, headers: { 'content-type': type } })

  test('ids of 15 to 20 digits are text wherever they are shown', async () => {
    const applied = await apply(JSON.stringify(world), 'application/json')
    assert.equal(applied.status, 200, applied.text)
    for (const id of [long.account, long.phone_number, long.template, long.group, long.business]) {
      const read = await server.client.get(`/v23.0/${id}`, { token })
      assert.deepEqual([read.status, read.body.id], [200, id], read.text)
      assert.ok(!read.text.includes(`:${id}`), read.text)
    }
    const list = await server.client.get(`/v23.0/${long.account}/phone_numbers`, { token })
    assert.equal(list.body.data[0].id, long.phone_number)
    const user = '16505557077'
    const written = { phone_number_id: long.phone_number, from: user, type: 'text', text: { body: 'Hi' } }
    assert.equal((await server.client.post('/gateway/messages', { token: tokens.gateway, json: written })).status, 200)
    const json = { messaging_product: 'whatsapp', to: user, text: { body: 'Hello' } }
    assert.equal((await server.client.post(`/v23.0/${long.phone_number}/messages`, { token, json })).status, 200)
    const deleted = await server.client.delete(`/v23.0/${long.account}/message_templates`, {
      token,
      query: { name: 'long_ids' },
    })
    assert.equal(deleted.status, 200, deleted.text)
    const events = await server.database.read.query.selectFrom('events').selectAll().execute()
    const values = events.filter(({ account_id }) => account_id === long.account).map(({ value }) => JSON.parse(value))
    for (const { metadata } of values.filter(({ metadata }) => metadata)) {
      assert.equal(metadata.phone_number_id, long.phone_number)
    }
    const ofTemplate = values.filter(({ message_template_id }) => message_template_id !== undefined)
    assert.deepEqual(
      ofTemplate.map(({ message_template_id }) => message_template_id),
      [long.template],
    )
  })

  test('ids of 15 to 20 digits are exported in quotes, and the export can be applied', async () => {
    const yaml = await server.client.get('/operator/world', {
      token: tokens.operator,
      headers: { accept: 'application/yaml' },
    })
    assert.equal(yaml.status, 200, yaml.text)
    for (const id of [long.business, long.app, long.account, long.phone_number, long.account_number, long.group]) {
      assert.match(yaml.text, new RegExp(`: ["']${id}["']`))
      assert.doesNotMatch(yaml.text, new RegExp(`: ${id}\\b`))
    }
    const { content } = readWorld(yaml.text, 'export')
    assert.ok(JSON.stringify(content).includes(`"${long.group}"`))
  })

  test('an id without quotes is refused with what to do', async () => {
    const refused = await apply('businesses: [{ id: 2123456789012345678, name: Lost }]', 'application/yaml')
    assert.ok(refused.status >= 400, refused.text)
    assert.match(
      refused.text,
      /businesses\[0\]\.id: it must be an id: a string \(in quotes\) of 15 or 16 digits, .*or of 15 to 20 digits with VOCABULARY=whatsapp/,
    )
  })
})

onOneDatabase('ids of more than 16 digits in the first vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  test('ids of more than 16 digits in the first vocabulary are refused, as ids that a number cannot hold', async () => {
    for (const id of [long.account, '9007199254740992']) {
      const json = { businesses: [{ id, name: 'Long' }] }
      const refused = await server.client.post('/operator/world', { token: tokens.operator, json })
      assert.equal(refused.status, 400, refused.text)
      assert.match(refused.body.error.message, /businesses\[0\]\.id: it must be an id: .* below 2\^53\.$/)
    }
    const json = { businesses: [{ id: '9007199254740991', name: 'Long' }] }
    assert.equal((await server.client.post('/operator/world', { token: tokens.operator, json })).status, 200)
  })
})
