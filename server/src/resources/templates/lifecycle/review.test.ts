import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { subscribe } from '../../../../test/harness/subscriber.ts'
import { buttons, templateCalls } from '../../../../test/harness/template-calls.ts'
import { accounts, ids, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { insertToken } from '../../../auth/tokens.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { notFound } from '../../../graph/errors.ts'
import { setTimer } from '../../../timers/set.ts'
import {
  rejectionReasonNotTaken,
  rejectionReasonRequired,
  reviewCategoryNotPossible,
  reviewEmpty,
  templateMoveNotPossible,
  templateNotEditable,
} from '../errors.ts'
import { rejectionReasons, templateStatuses } from '../schemas.ts'
import { findSendableTemplate } from '../sending/sendable.ts'
import { templateNotSendable } from '../sending/sending-errors.ts'
import { reviewTimer } from './review.ts'
import { checkEditable, checkReview, type TemplateStatus, templateMoves } from './states.ts'

const status = 'message_template_status_update'

describe('the states of a template', () => {
  const possible: Readonly<Record<TemplateStatus, readonly TemplateStatus[]>> = {
    PENDING: ['APPROVED', 'REJECTED'],
    APPROVED: ['PAUSED', 'DISABLED'],
    PAUSED: ['APPROVED', 'DISABLED'],
    REJECTED: [],
    DISABLED: [],
  }

  for (const from of templateStatuses) {
    test(`${from} can become ${possible[from].join(' or ') || 'nothing else'} by review, and stays what it is`, () => {
      for (const to of templateStatuses) {
        if (to === from) assert.equal(checkReview(from, to), false)
        else if (possible[from].includes(to)) assert.equal(checkReview(from, to), true)
        else assert.throws(() => checkReview(from, to), { id: templateMoveNotPossible.id })
      }
    })
  }

  test('what is reviewed or over cannot be edited', () => {
    for (const from of ['APPROVED', 'REJECTED', 'PAUSED'] as const) checkEditable(from)
    for (const from of ['PENDING', 'DISABLED'] as const) assert.throws(() => checkEditable(from))
  })

  test('every move has its reason', () => {
    for (const { why } of templateMoves) assert.match(why, /\w/)
  })
})

onOneDatabase('the review of templates', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { TEMPLATE_REVIEW: 'manual' } })
  const calls = templateCalls(server)
  const statusOf = async (id: string) => (await calls.read(id)).body.status
  const writeValue = (id: string, name: string, event: string, reason = 'NONE') => ({
    event,
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: 'en_US',
    message_template_category: 'UTILITY',
    reason,
  })

  test('waits, is rejected with a reason, edited, and approved; each is reported', async () => {
    const id = await calls.make({ name: 'reviewed' })
    await calls.settle()
    assert.equal(await statusOf(id), 'PENDING')
    const events = await calls.eventsOf(async () => {
      assert.deepEqual((await calls.review(id, { status: 'REJECTED', reason: 'SCAM' })).body, { success: true })
      assert.equal((await calls.read(id)).body.rejected_reason, 'SCAM')
      const components = [{ type: 'BODY', text: 'Something else.' }]
      assert.equal((await calls.edit(id, { components })).status, 200)
      const { status: now, rejected_reason, components: stored } = (await calls.read(id)).body
      assert.deepEqual([now, rejected_reason, stored], ['PENDING', 'NONE', components])
      await calls.settle()
      assert.equal(await statusOf(id), 'PENDING')
      await calls.review(id, { status: 'APPROVED' })
    })
    const account_id = ids.account
    assert.deepEqual(events, [
      { account_id, field: status, value: writeValue(id, 'reviewed', 'REJECTED', 'SCAM') },
      { account_id, field: status, value: writeValue(id, 'reviewed', 'PENDING') },
      { account_id, field: status, value: writeValue(id, 'reviewed', 'APPROVED') },
    ])
  })

  test('what waits for its review cannot be edited or sent', async () => {
    const id = await calls.make({ name: 'waiting' })
    const possible = 'APPROVED or PAUSED or REJECTED'
    const edited = await calls.edit(id, { components: [{ type: 'BODY', text: 'Something else.' }] })
    assertError(edited, templateNotEditable({ status: 'PENDING', possible }))
    const refused = () => findSendableTemplate(server.database.read, ids.account, 'waiting', 'en_US')
    await assert.rejects(refused, { id: templateNotSendable.id })
    await calls.review(id, { status: 'REJECTED', reason: 'SCAM' })
    await assert.rejects(refused, { id: templateNotSendable.id })
  })

  test('a timer for the approval that an earlier version left is still due', async () => {
    const id = await calls.make()
    const tools = { clock: server.clock, random: systemRandom }
    await server.database.transaction((tx) =>
      setTimer(tx, tools, { kind: reviewTimer, due_time: server.clock.now(), payload: { id } }),
    )
    await server.app.settle()
    assert.equal(await statusOf(id), 'APPROVED')
  })

  test('the name of one that was never approved can be used again', async () => {
    const id = await calls.make({ name: 'not_resting' })
    await calls.delete(id)
    assert.equal((await calls.create({ name: 'not_resting' })).status, 200)
  })

  test('the status that it has already: 200, and nothing happens', async () => {
    const id = await calls.make()
    const events = await calls.eventsOf(async () => {
      assert.equal((await calls.review(id, { status: 'PENDING' })).status, 200)
    })
    assert.deepEqual(events, [])
  })

  test('422 for a move that is not in the table; DISABLED is final and says since when', async () => {
    const id = await calls.make({ name: 'disabled' })
    const refused = await calls.review(id, { status: 'PAUSED' })
    assertError(refused, templateMoveNotPossible({ status: 'PENDING', to: 'PAUSED', possible: 'APPROVED, REJECTED' }))
    await calls.review(id, { status: 'APPROVED' })
    await calls.review(id, { status: 'PAUSED' })
    const [event] = await calls.eventsOf(() => calls.review(id, { status: 'DISABLED' }))
    const disable_date = String(Math.floor(server.clock.now() / 1000))
    assert.deepEqual(event?.value, { ...writeValue(id, 'disabled', 'DISABLED'), disable_info: { disable_date } })
    const over = await calls.review(id, { status: 'APPROVED' })
    assertError(over, templateMoveNotPossible({ status: 'DISABLED', to: 'APPROVED', possible: 'nothing' }))
  })

  test('the review of templates: 400 without a reason, with one that is not asked for, and with nothing', async () => {
    const id = await calls.make()
    assertError(await calls.review(id, { status: 'REJECTED' }), rejectionReasonRequired({ reasons: rejectionReasons }))
    assertError(await calls.review(id, { status: 'APPROVED', reason: 'SCAM' }), rejectionReasonNotTaken)
    assertError(await calls.review(id, {}), reviewEmpty)
    assert.equal((await calls.review(id, { status: 'GOOD' })).status, 400)
    assert.equal((await calls.review(id, { status: 'REJECTED', reason: 'UGLY' })).status, 400)
    assert.equal((await calls.review(id, { quality_score: 'BLUE' })).status, 400)
    assert.equal(await statusOf(id), 'PENDING')
  })

  test('a quality score is kept and reported, once', async () => {
    const id = await calls.make({ name: 'scored' })
    server.clock.advance(1000)
    const date = new Date(server.clock.now()).toISOString()
    const events = await calls.eventsOf(async () => {
      await calls.review(id, { quality_score: 'YELLOW' })
      await calls.review(id, { quality_score: 'YELLOW' })
    })
    assert.deepEqual(events, [
      {
        account_id: ids.account,
        field: 'message_template_quality_update',
        value: {
          previous_quality_score: 'UNKNOWN',
          new_quality_score: 'YELLOW',
          message_template_id: Number(id),
          message_template_name: 'scored',
          message_template_language: 'en_US',
        },
      },
    ])
    assert.deepEqual((await calls.read(id)).body.quality_score, { score: 'YELLOW', date })
  })

  test('a category is set for every language of the name, and each is reported', async () => {
    const english = await calls.make({ name: 'sorted', message_send_ttl_seconds: 60 })
    const german = await calls.make({ name: 'sorted', language: 'de' })
    const events = await calls.eventsOf(() => calls.review(german, { category: 'MARKETING' }))
    assert.deepEqual(
      events.map(({ field, value }) => [field, value.previous_category, value.new_category]),
      Array(2).fill(['template_category_update', 'UTILITY', 'MARKETING']),
    )
    assert.deepEqual(events.map(({ value }) => value.message_template_language).sort(), ['de', 'en_US'])
    const { category, previous_category, message_send_ttl_seconds } = (await calls.read(english)).body
    assert.deepEqual([category, previous_category, message_send_ttl_seconds], ['MARKETING', 'UTILITY', 2_592_000])
  })

  test('the review of templates: 422 for a category that the components do not fit, and nothing of it stays', async () => {
    const catalog = buttons({ type: 'CATALOG', text: 'View' })
    const id = await calls.make({
      category: 'MARKETING',
      components: [{ type: 'BODY', text: 'Look at this.' }, catalog],
    })
    const review = { status: 'APPROVED', quality_score: 'RED', category: 'UTILITY' }
    assertError(await calls.review(id, review), reviewCategoryNotPossible({ category: 'UTILITY' }))
    const { status: left, quality_score } = (await calls.read(id)).body
    assert.deepEqual([left, quality_score.score], ['PENDING', 'UNKNOWN'])
    const plain = await calls.make()
    const toCodes = await calls.review(plain, { category: 'AUTHENTICATION' })
    assertError(toCodes, reviewCategoryNotPossible({ category: 'AUTHENTICATION' }))
  })

  test('a list for the review, of what the token sees', async () => {
    const token = 'token-of-a-gateway-for-one-account'
    await server.database.transaction((tx) =>
      insertToken(tx, server.clock, systemRandom, {
        ...{ secret: token, app_id: ids.application, scopes: ['gateway'], expires_time: null },
        accounts: [accounts.shared],
      }),
    )
    const list = (query: Record<string, string>, by: string = tokens.gateway) => {
      const row = server.client.row('gateway.list_templates')
      return server.client.callRow(row, '/gateway/templates', { token: by, query })
    }
    const { body: shared } = await calls.create({ name: 'seen' }, { account: accounts.shared })
    const foreign = await calls.make({ name: 'unseen' })
    const seen = await list({ status: 'PENDING' }, token)
    assert.deepEqual(
      seen.body.data.map(({ id, account_id }: Record<string, string>) => [id, account_id]),
      [[shared.id, accounts.shared]],
    )
    const everything = await list({ limit: '1000' })
    const all = everything.body.data.map(({ id }: { id: string }) => id)
    for (const id of [shared.id, foreign, strangerIds.template]) assert.ok(all.includes(id))
    assert.deepEqual((await list({ status: 'DISABLED', limit: '1' })).body.data.length, 1)
    assertError(await calls.review(foreign, { status: 'APPROVED' }, token), notFound)
    assertError(await calls.review('1234567890123456', { status: 'APPROVED' }), notFound)
    assertError(await calls.review(ids.phone_number, { status: 'APPROVED' }), notFound)
    assert.equal((await calls.review(shared.id, { status: 'APPROVED' }, token)).status, 200)
  })
})

onOneDatabase('the events of templates', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { WEBHOOK_BATCH: '10' } })
  const calls = templateCalls(server)

  test('the events of templates reach the callback of the account, with the second in which they happened', async (t) => {
    const subscriber = await subscribe(t, server, { fields: [status, 'message_template_quality_update'] })
    const id = await calls.make({ name: 'told' })
    await subscriber.whenPosted(1)
    const time = Math.floor(server.clock.now() / 1000)
    const [post] = subscriber.posts
    assert.deepEqual(JSON.parse(String(post?.body)), {
      object: 'msgapp_business_account',
      entry: [
        {
          id: ids.account,
          time,
          changes: [
            {
              field: status,
              value: {
                event: 'APPROVED',
                message_template_id: Number(id),
                message_template_name: 'told',
                message_template_language: 'en_US',
                message_template_category: 'UTILITY',
                reason: 'NONE',
              },
            },
          ],
        },
      ],
    })
  })

  test('the events of templates that are sent later, and together, keep their own seconds', async (t) => {
    const subscriber = await subscribe(t, server, { fields: [status, 'messages'] })
    subscriber.answerWith((_post, response) => response.writeHead(500).end())
    const id = await calls.make()
    const first = Math.floor(server.clock.now() / 1000)
    await calls.review(id, { status: 'PAUSED' })
    await server.app.settle()
    server.clock.advance(60_000)
    const second = Math.floor(server.clock.now() / 1000)
    await calls.review(id, { status: 'APPROVED' })
    subscriber.answerWith((_post, response) => response.end())
    server.clock.advance(3_600_000)
    await server.app.settle()
    const entries = subscriber.posts.flatMap(({ body }) => JSON.parse(String(body)).entry)
    const times = entries.flatMap(({ time, changes }) =>
      changes.map(({ value }: { value: { event: string } }) => `${value.event} ${time}`),
    )
    assert.deepEqual([...new Set(times)], [`APPROVED ${first}`, `PAUSED ${first}`, `APPROVED ${second}`])
  })
})
