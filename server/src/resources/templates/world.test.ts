import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { card, carousel, copyCode, link, offer } from '../../../test/harness/public-templates.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { templateCalls } from '../../../test/harness/template-calls.ts'
import { accounts, ids, numbers, templates, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { argumentWrong } from '../../graph/errors.ts'
import { applyWorld } from '../../world/apply.ts'
import { exportWorld } from '../../world/export.ts'
import { readWorld } from '../../world/read.ts'

const body = { type: 'BODY', text: 'We are open.' }

onOneDatabase('templates of a world file', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const calls = templateCalls(server)
  const entry = (id: string, members: object = {}) => ({
    ...{ id, name: 'of_the_file', language: 'en_US', category: 'UTILITY', components: [body], ...members },
  })

  async function apply(...list: object[]) {
    const account = { id: accounts.shared, business_id: ids.business, name: 'Lucky Shrub Wholesale', templates: list }
    const world = readWorld(JSON.stringify({ accounts: [account] }), 'file')
    return applyWorld(server.database, server.clock, systemRandom, world)
  }

  const refused = (pattern: RegExp, ...list: object[]) => assert.rejects(apply(...list), pattern)

  test('templates of a world file are approved unless the file says otherwise, and no event is raised', async () => {
    const events = await calls.eventsOf(async () => {
      await apply(
        entry('5200000000000001'),
        entry('5200000000000002', {
          language: 'de',
          status: 'REJECTED',
          rejected_reason: 'SCAM',
          quality_score: 'RED',
        }),
        entry('5200000000000003', { name: 'waiting', status: 'PENDING', message_send_ttl_seconds: 60 }),
        entry('5200000000000004', { name: 'pictured', components: [{ type: 'header', format: 'image' }, body] }),
      )
    })
    assert.deepEqual(events, [])
    assert.equal((await calls.read('5200000000000001')).body.status, 'APPROVED')
    const { status, rejected_reason, quality_score } = (await calls.read('5200000000000002')).body
    assert.deepEqual([status, rejected_reason, quality_score.score], ['REJECTED', 'SCAM', 'RED'])
    const waiting = (await calls.read('5200000000000003')).body
    assert.deepEqual([waiting.status, waiting.message_send_ttl_seconds], ['PENDING', 60])
    const { components } = (await calls.read('5200000000000004')).body
    assert.deepEqual(components, [{ type: 'HEADER', format: 'IMAGE' }, body])
  })

  test('applied again they change nothing; what differs is changed', async () => {
    const list = [entry('5200000000000005', { name: 'again' })]
    await apply(...list)
    const before = (await calls.read('5200000000000005')).body
    server.clock.advance(1000)
    await apply(...list)
    assert.deepEqual((await calls.read('5200000000000005')).body, before)
    await apply(
      entry('5200000000000005', { name: 'again', status: 'PAUSED', components: [{ ...body, text: 'Closed.' }] }),
    )
    const { status, components } = (await calls.read('5200000000000005')).body
    assert.deepEqual([status, components], ['PAUSED', [{ type: 'BODY', text: 'Closed.' }]])
  })

  test('the forms of the public platform are applied and exported in either vocabulary; read and sent they do no harm in the first', async () => {
    const image = { type: 'HEADER', format: 'IMAGE' }
    const cards = [card({ header: image }), card({ header: image })]
    const list = [
      entry('5200000000000030', { name: 'row', components: [body, carousel(...cards)] }),
      entry('5200000000000031', {
        ...{ name: 'sale', category: 'MARKETING' },
        components: [body, offer(), { type: 'BUTTONS', buttons: [copyCode, link('https://shrub.example')] }],
      }),
      entry('5200000000000032', {
        name: 'call',
        components: [body, { type: 'BUTTONS', buttons: [{ type: 'VOICE_CALL', text: 'Call' }] }],
      }),
    ]
    await apply(...list)
    let exported = ''
    for await (const part of exportWorld(server.database.read)) exported += part
    for (const text of ['type: CAROUSEL', 'has_expiration: true', 'type: VOICE_CALL'])
      assert.ok(exported.includes(text))
    const before = await readRows()
    await applyWorld(server.database, server.clock, systemRandom, readWorld(exported, 'file'))
    assert.deepEqual(await readRows(), before)

    const path = `/v23.0/5200000000000030`
    const token = tokens.owner
    const { components } = (await server.client.get(path, { token })).body
    assert.deepEqual(components, [body, { ...carousel(...cards), cards: before[0]?.components[1]?.cards }])
    assert.equal((await server.client.get('/gateway/templates', { token: tokens.gateway })).status, 200)
    assert.equal((await server.client.post(path, { token, json: { message_send_ttl_seconds: 60 } })).status, 200)
    const edited = await server.client.post(path, { token, json: { components } })
    assertError(edited, like(argumentWrong, { argument: 'components[1].type' }))
    const sent = await server.client.post(`/v23.0/${numbers.main}/messages`, {
      token,
      json: {
        ...{ messaging_product: 'msgapp', to: '16505559876', type: 'template' },
        template: { name: 'row', language: { code: 'en_US' } },
      },
    })
    assert.equal(sent.status, 422)
    assert.equal((await calls.delete('5200000000000030')).status, 200)
  })

  async function readRows() {
    const { query } = server.database.read
    const columns = ['id', 'components', 'content', 'status', 'category'] as const
    return query
      .selectFrom('message_templates')
      .select(columns)
      .where('id', 'like', '520000000000003%')
      .orderBy('id')
      .execute()
  }

  test('a name of the file counts and rests like any other', async () => {
    await apply(entry('5200000000000006', { name: 'to_rest' }))
    assert.equal((await calls.delete('5200000000000006')).status, 200)
    assert.equal((await calls.create({ name: 'to_rest' }, { account: accounts.shared })).status, 422)
    // A file may use it all the same.
    await apply(entry('5200000000000007', { name: 'to_rest' }))
    assert.equal((await calls.read('5200000000000007')).status, 200)
  })

  test('templates of a world file are refused where they break a rule of form, with the place', async () => {
    await refused(
      /templates\[0\]\.components\[0\]\.text: it must have 1 to 1024 characters\./,
      entry('5200000000000010', { components: [{ type: 'BODY', text: '' }] }),
    )
    await refused(/rejected_reason: it goes with/, entry('5200000000000010', { status: 'REJECTED' }))
    await refused(/rejected_reason: it goes with/, entry('5200000000000010', { rejected_reason: 'SCAM' }))
    await refused(/message_send_ttl_seconds/, entry('5200000000000010', { message_send_ttl_seconds: 7 }))
    await refused(/colour/, entry('5200000000000010', { colour: 'red' }))
    await refused(
      /that name and language/,
      entry('5200000000000010', { name: 'b' }),
      entry('5200000000000011', { name: 'b' }),
    )
    const marketing = { name: 'b', language: 'de', category: 'MARKETING' }
    await refused(
      /templates\[1\]\.category/,
      entry('5200000000000010', { name: 'b' }),
      entry('5200000000000011', marketing),
    )
  })

  test('templates of a world file are refused where the store has something against them', async () => {
    await apply(entry('5200000000000020', { name: 'stored' }))
    await refused(/which cannot be changed/, entry('5200000000000020', { name: 'renamed' }))
    await refused(/for template 5200000000000020/, entry('5200000000000021', { name: 'stored' }))
    const other = { name: 'stored', language: 'de', category: 'MARKETING' }
    await refused(/with the category UTILITY/, entry('5200000000000021', other))
    await refused(/the store has it in account 1000000000000001/, entry(templates.order))
  })
})
