import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, assertThrown } from '../../../test/harness/errors.ts'
import { countStatuses } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { body, bodyWith, templateCalls } from '../../../test/harness/template-calls.ts'
import { accounts, ids, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { day, hour, second } from '../../base/time/duration.ts'
import { notFound } from '../../graph/errors.ts'
import type { ErrorDefinition } from '../../graph/graph-error.ts'
import { creationLimitReached } from '../../limits/errors.ts'
import { templateCategoryDiffers, templateExists, templateNameRests, tooManyTemplates } from './errors.ts'
import { templateLanguages } from './schemas.ts'
import { findSendableTemplate } from './sending/sendable.ts'
import { templateDisabled, templateNotSendable, templatePaused } from './sending/sending-errors.ts'

/** An account of the owner that has no templates at first; its business is not verified. */
const empty = accounts.onBehalf

onOneDatabase('templates', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const calls = templateCalls(server)

  describe('that are created', () => {
    test('templates that are created: 200 PENDING; with the response they are approved, and read as they were given', async () => {
      const created_time = new Date(server.clock.now()).toISOString()
      const components = [bodyWith('We have {{1}} and this.', 'a')]
      const answer = await calls.create({ name: 'first_one', language: 'de', components })
      assert.deepEqual(answer.body, { id: answer.body.id, status: 'PENDING', category: 'UTILITY' })
      const template = {
        ...{
          id: answer.body.id,
          name: 'first_one',
          language: 'de',
          category: 'UTILITY',
          status: 'APPROVED',
          components,
        },
        ...{ parameter_format: 'POSITIONAL', message_send_ttl_seconds: 2_592_000 },
        ...{ quality_score: { score: 'UNKNOWN', date: created_time }, rejected_reason: 'NONE' },
        ...{ created_time, last_updated_time: created_time },
      }
      assert.deepEqual((await calls.read(answer.body.id)).body, template)
    })

    test('a life of -1 reads back as 30 days', async () => {
      const id = await calls.make({ message_send_ttl_seconds: -1 })
      assert.equal((await calls.read(id)).body.message_send_ttl_seconds, 2_592_000)
    })

    test('200 as a form whose components are JSON', async () => {
      const form = { name: 'as_a_form', language: 'en', category: 'MARKETING', components: JSON.stringify([body]) }
      const answer = await calls.create({}, { json: undefined, form })
      assert.equal(answer.status, 200, answer.text)
    })

    test('the languages are those of the specification', () => {
      const text = readFileSync(new URL('../../../../docs/spec/messages.md', import.meta.url), 'utf8')
      assert.deepEqual(templateLanguages, /^Languages: `([^`]+)`\.$/m.exec(text)?.[1]?.split(' '))
    })

    test('templates that are created: 422 with a name and language that are there; 200 in another language, 422 with another category', async () => {
      await calls.make({ name: 'same' })
      assertError(await calls.create({ name: 'same' }), templateExists)
      assert.equal((await calls.create({ name: 'same', language: 'en_GB' })).status, 200)
      const other = await calls.create({ name: 'same', language: 'de', category: 'MARKETING' })
      assertError(other, templateCategoryDiffers({ category: 'UTILITY' }))
    })

    test('of several templates of one name created at the same moment one is stored', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => calls.create({ name: 'at_once' })))
      assert.deepEqual(countStatuses(answers), { 200: 1, 422: 4 })
    })

    test('a template may have the name of one in another account', async () => {
      await calls.make({ name: 'in_two' })
      assert.equal((await calls.create({ name: 'in_two' }, { account: accounts.shared })).status, 200)
    })
  })

  describe('that are listed', () => {
    const names = (answer: { body: { data: { name: string }[] } }) => answer.body.data.map(({ name }) => name)
    const find = async (query: Record<string, string>) => names(await calls.list(query, accounts.smallBusiness)).sort()

    test('newest first, page by page, filtered, with a summary', async () => {
      const account = accounts.smallBusiness
      const make = async (members: object) => {
        server.clock.advance(second)
        assert.equal((await calls.create(members, { account })).status, 200)
      }
      await make({ name: 'roses', components: [{ type: 'BODY', text: 'Red as 100% LOVE_' }] })
      await make({ name: 'roses', language: 'de', components: [{ type: 'BODY', text: 'Rosen' }] })
      await make({ name: 'tulips', category: 'MARKETING' })
      await make({ name: 'ferns' })
      const [ferns] = (await calls.list({ name: 'ferns' }, account)).body.data
      await calls.review(ferns.id, { status: 'PAUSED' })

      const { body: first } = await calls.list({ limit: '2', fields: 'name,language' }, account)
      assert.deepEqual(first.data, [
        { name: 'ferns', language: 'en_US' },
        { name: 'tulips', language: 'en_US' },
      ])
      const next = await calls.list({ limit: '2', fields: 'language', after: first.paging.cursors.after }, account)
      assert.deepEqual(next.body.data, [{ language: 'de' }, { language: 'en_US' }])
      assert.equal(next.body.paging.next, undefined)

      assert.deepEqual(await find({ name: 'roses' }), ['roses', 'roses'])
      assert.deepEqual(await find({ name: 'rose' }), [])
      assert.deepEqual(await find({ name_or_content: 'ROSE' }), ['roses', 'roses'])
      assert.deepEqual(await find({ name_or_content: 'love_' }), ['roses'])
      assert.deepEqual(await find({ name_or_content: '0%' }), ['roses'])
      assert.deepEqual(await find({ name_or_content: 'l_ve' }), [])
      assert.deepEqual(await find({ name_or_content: '\\' }), [])
      assert.deepEqual(await find({ status: 'PAUSED' }), ['ferns'])
      assert.deepEqual(await find({ status: '["PAUSED","APPROVED"]', category: 'MARKETING' }), ['tulips'])
      assert.deepEqual(await find({ language: '["de","fr"]' }), ['roses'])
      assert.deepEqual(await find({ quality_score: 'GREEN' }), [])
      assert.equal((await find({ quality_score: 'UNKNOWN' })).length, 4)

      const all = 'total_count,message_template_count,message_template_limit,are_translations_complete'
      const { body: counted } = await calls.list({ summary: all, name: 'roses', limit: '1' }, account)
      assert.deepEqual(counted.summary, {
        total_count: 2,
        message_template_count: 3,
        message_template_limit: 250,
        are_translations_complete: true,
      })
      assert.deepEqual((await calls.list({ summary: ' total_count ' }, account)).body.summary, { total_count: 4 })
      const verified = await calls.list({ summary: 'message_template_limit' })
      assert.deepEqual(verified.body.summary, { message_template_limit: 6000 })
    })

    for (const query of [
      { limit: '0' },
      { limit: '1001' },
      { status: 'GOOD' },
      { status: '["PENDING"' },
      { status: '[]' },
      { status: '[1]' },
      { status: '[["PENDING"]]' },
      { category: '{}' },
      { language: 'xx' },
      { quality_score: 'BLUE' },
      { summary: 'all' },
      { fields: 'colour' },
      { after: 'x' },
    ] as Record<string, string>[]) {
      test(`templates that are listed: 400 with ${JSON.stringify(query)}`, async () => {
        assert.equal((await calls.list(query)).status, 400)
      })
    }

    test('templates that are listed: 200 with a limit of 1000', async () => {
      assert.equal((await calls.list({ limit: '1000' })).status, 200)
    })
  })

  describe('that are deleted', () => {
    test('templates are deleted by name in every language, by hsm_id in one, by id in one', async () => {
      const english = await calls.make({ name: 'going' })
      const german = await calls.make({ name: 'going', language: 'de' })
      const french = await calls.make({ name: 'going', language: 'fr' })
      assert.deepEqual((await calls.delete(french)).body, { success: true })
      assertError(await calls.read(french), notFound)
      assert.deepEqual((await calls.deleteByName({ name: 'going', hsm_id: german })).body, { success: true })
      assertError(await calls.read(german), notFound)
      assert.equal((await calls.read(english)).status, 200)
      await calls.make({ name: 'going', language: 'de' })
      assert.deepEqual((await calls.deleteByName({ name: 'going' })).body, { success: true })
      assert.deepEqual((await calls.list({ name: 'going' })).body.data, [])
    })

    test('templates that are deleted: 404 for a name that is not there, and for an id of another name; 400 without a name', async () => {
      assertError(await calls.deleteByName({ name: 'nowhere' }), notFound)
      const id = await calls.make({ name: 'staying' })
      assertError(await calls.deleteByName({ name: 'hello_world', hsm_id: id }), notFound)
      assert.equal((await calls.deleteByName({ hsm_id: id })).status, 400)
      assert.equal((await calls.read(id)).status, 200)
    })

    test('each language is reported', async () => {
      const english = await calls.make({ name: 'reported' })
      const german = await calls.make({ name: 'reported', language: 'de' })
      const events = await calls.eventsOf(() => calls.deleteByName({ name: 'reported' }))
      const seen = events.map(({ value }) => [value.event, value.message_template_id, value.message_template_language])
      assert.deepEqual(
        seen.sort((one, other) => one[1] - other[1]),
        [
          ['DELETED', Number(english), 'en_US'],
          ['DELETED', Number(german), 'de'],
        ].sort((one, other) => Number(one[1]) - Number(other[1])),
      )
    })

    test('the name of an approved one rests for 30 days, in any language', async () => {
      const id = await calls.make({ name: 'resting' })
      await calls.make({ name: 'resting', language: 'de' })
      await calls.delete(id)
      // A language is left, so that the name is in use.
      await calls.make({ name: 'resting', language: 'fr' })
      const until = new Date(server.clock.now() + 30 * day).toISOString()
      await calls.deleteByName({ name: 'resting' })
      for (const language of ['en_US', 'es']) {
        assertError(await calls.create({ name: 'resting', language }), templateNameRests({ until }))
      }
      server.clock.advance(30 * day - 1)
      assertError(await calls.create({ name: 'resting' }), templateNameRests({ until }))
      server.clock.advance(1)
      assert.equal((await calls.create({ name: 'resting' })).status, 200)
    })
  })

  describe('of others', () => {
    test('404 for a stranger, 403 without the permission', async () => {
      for (const [token, status] of [
        [tokens.stranger, 404],
        [tokens.partner, 404],
        [tokens.messagingOnly, 403],
        [tokens.managementOnly, 200],
      ] as const) {
        assert.equal((await calls.read(ids.template, {}, token)).status, status)
      }
      assertError(await calls.deleteByName({ name: 'hello_world', hsm_id: strangerIds.template }), notFound)
      assertError(await calls.read(strangerIds.template), notFound)
    })
  })

  describe('to send', () => {
    const find = (name: string, language = 'en_US', account: string = ids.account) =>
      findSendableTemplate(server.database.read, account, name, language)

    test('templates to send are approved, of the account, and in exactly that language', async () => {
      const found = await find('hello_world')
      assert.deepEqual([found.id, found.message_send_ttl_seconds], [ids.template, 2_592_000])
      assert.deepEqual(found.components, [{ type: 'BODY', text: 'Welcome to Lucky Shrub.' }])
      for (const [name, language, account] of [
        ['hello_world', 'en', ids.account],
        ['hello_worlds', 'en_US', ids.account],
        ['hello_world', 'en_US', strangerIds.account],
      ] as const) {
        await assert.rejects(find(name, language, account), (error) => {
          assertThrown(error, templateNotSendable)
          return true
        })
      }
    })

    test('templates to send are neither paused nor disabled', async () => {
      const id = await calls.make({ name: 'to_send' })
      const refused = (definition: ErrorDefinition) =>
        assert.rejects(find('to_send'), (error) => {
          assertThrown(error, definition)
          return true
        })
      assert.equal((await find('to_send')).id, id)
      await calls.review(id, { status: 'PAUSED' })
      await refused(templatePaused)
      await calls.review(id, { status: 'DISABLED' })
      await refused(templateDisabled)
    })
  })
})

onOneDatabase('how many templates there may be', 'postgres', (engine) => {
  const env = { MAX_TEMPLATES: '2', MAX_TEMPLATES_VERIFIED: '4', TEMPLATE_NAME_REST: '1h' }
  const server = useTestServer({ engine, env })
  const calls = templateCalls(server)

  test('how many templates there may be: 422 with one name too many; languages do not count, and a deleted name no more', async () => {
    await calls.create({ name: 'one' }, { account: empty })
    await calls.create({ name: 'two' }, { account: empty })
    assertError(await calls.create({ name: 'three' }, { account: empty }), tooManyTemplates({ max: 2 }))
    assert.equal((await calls.create({ name: 'two', language: 'de' }, { account: empty })).status, 200)
    await calls.deleteByName({ name: 'two' }, empty)
    assert.equal((await calls.create({ name: 'three' }, { account: empty })).status, 200)
    assertError(await calls.create({ name: 'four' }, { account: empty }), tooManyTemplates({ max: 2 }))
  })

  test('an account of a verified business may have more', async () => {
    await calls.make({ name: 'fourth' })
    assertError(await calls.create({ name: 'fifth' }), tooManyTemplates({ max: 4 }))
  })

  test('a name rests as long as the setting says', async () => {
    const account = accounts.shared
    const { body: made } = await calls.create({ name: 'short' }, { account })
    await calls.delete(made.id)
    server.clock.advance(hour - 1)
    assert.equal((await calls.create({ name: 'short' }, { account })).status, 422)
    server.clock.advance(1)
    assert.equal((await calls.create({ name: 'short' }, { account })).status, 200)
  })
})

onOneDatabase('how often templates are created', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_TEMPLATE_CREATION: '2/1h' } })
  const calls = templateCalls(server)

  test('how often templates are created: 429 with the one beyond the limit of the account', async () => {
    await calls.make()
    await calls.make()
    const answer = await calls.create()
    const counted = 'message templates created, per account'
    assertError(answer, creationLimitReached({ count: 2, period: '1h', counted, seconds: 3600 }))
    assert.equal(answer.headers.get('retry-after'), '3600')
    assert.equal((await calls.create({}, { account: accounts.shared })).status, 200)
  })
})

onOneDatabase('templates in the other vocabulary', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' }, world: testWorld() })
  const calls = templateCalls(server)

  test('templates are the same in the other vocabulary', async () => {
    const id = await calls.make({ name: 'also_here' })
    assert.equal((await calls.read(id)).body.status, 'APPROVED')
    assert.equal((await calls.list({ name: 'also_here' })).body.data.length, 1)
    assert.equal((await calls.edit(id, { message_send_ttl_seconds: 60 })).status, 200)
    assert.equal((await calls.delete(id)).status, 200)
  })
})
