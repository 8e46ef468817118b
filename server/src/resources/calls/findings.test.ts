import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { answer, callSides, offer } from '../../../test/harness/calls.ts'
import type { Answer } from '../../../test/harness/client.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { openStream } from '../../../test/harness/event-stream.ts'
import { startTestServer, useTestServer } from '../../../test/harness/server.ts'
import { startSink } from '../../../test/harness/sink.ts'
import { envelopeOf, handIn, messagesValue, metadata } from '../../../test/harness/webhooks.ts'
import { accounts, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { sessionRefused } from './errors.ts'
import { findingKinds } from './sdp/finding-kinds.ts'

/** A description without the lines that begin so. */
const without = <T extends typeof offer | typeof answer>(session: T, start: string): T => ({
  ...session,
  sdp: session.sdp.replace(new RegExp(`^${start}.*\r\n`, 'gm'), ''),
})
const silentOffer = without(offer, 'a=candidate')
const silentAnswer = without(answer, 'a=candidate')
const unsafeOffer = without(offer, 'a=fingerprint')
const codesOf = (findings: readonly { side: string; code: string; level: string }[]) =>
  findings.map(({ side, code, level }) => `${side} ${code} ${level}`)

onOneDatabase('the findings of a call', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = callSides(server)
  const { business, newUser, callUser, callBusiness, readCall, user: phone } = sides
  const operator = (path: string) => server.client.get(`/operator/${path}`, { token: tokens.operator })

  test('a retrieved call has what is wrong with both descriptions; nothing is wrong with those of the platform', async () => {
    const good = await callBusiness(newUser())
    assert.equal((await business({ action: 'accept', call_id: good, session: answer })).status, 200)
    assert.deepEqual((await readCall(good)).body.findings, [])

    const call = await callBusiness(newUser(), { session: unsafeOffer })
    assert.deepEqual((await readCall(call)).body.findings, [{ side: 'user', ...findingKinds.no_fingerprint }])
    const late = { ...answer, sdp: answer.sdp.replace('a=mid:0', 'a=mid:0\r\na=ptime:40') }
    assert.equal((await business({ action: 'pre_accept', call_id: call, session: late })).status, 200)
    const line = late.sdp.split('\r\n').indexOf('a=ptime:40') + 1
    assert.deepEqual((await readCall(call)).body.findings, [
      { side: 'user', ...findingKinds.no_fingerprint },
      { side: 'business', ...findingKinds.wrong_ptime, line },
    ])
  })

  test('an answer without candidates is an error if the offer has none either', async () => {
    const call = await callUser(newUser(), { session: silentOffer })
    assert.deepEqual(codesOf((await readCall(call)).body.findings), ['business no_candidates warning'])
    assert.equal((await phone(call, 'accept', { session: silentAnswer })).status, 200)
    assert.deepEqual(codesOf((await readCall(call)).body.findings), [
      'user no_candidates error',
      'business no_candidates warning',
    ])
  })

  test('operators see the same list in the records of a call: streamed, listed and by its trace', async (t) => {
    const token = tokens.operator
    const query = { types: 'call,event', phone_number_id: numbers.main }
    const stream = await openStream(t, server.url, { token, path: '/operator/stream', query })
    const call = await callBusiness(newUser(), { session: unsafeOffer })
    const expected = (await readCall(call)).body.findings
    assert.equal(expected.length, 1)
    const streamed = (await stream.first(2)).map(({ data }) => [data.type, data.data.findings])
    assert.deepEqual(streamed, [
      ['event', undefined],
      ['call', expected],
    ])
    const listed = (await operator('feed?types=call&limit=1')).body.data
    assert.deepEqual(listed[0].data.findings, expected)
    const traced = (await operator(`traces/${listed[0].trace}`)).body.data
    assert.deepEqual(
      traced
        .filter(({ type }: { type: string }) => type === 'call')
        .map((one: (typeof listed)[0]) => one.data.findings),
      [expected],
    )
    const waited = (await operator('wait?type=call&since=1h')).body
    assert.ok(Array.isArray(waited.data.findings))

    assert.equal((await phone(call, 'terminate', { reason: 'lost' })).status, 200)
    const ended = await stream.first(4)
    assert.deepEqual(codesOf(ended[3]?.data.data.findings), ['user no_fingerprint error', 'media lost error'])
  })

  test('an event that was handed in says nothing of a call of another number, though it names it', async () => {
    const call = await callBusiness(newUser(), { session: unsafeOffer })
    for (const [phone_number_id, account, expected] of [
      [numbers.main, accounts.private, (await readCall(call)).body.findings],
      [numbers.shared, accounts.shared, null],
    ] as const) {
      const value = {
        ...messagesValue(),
        metadata: { ...metadata, phone_number_id },
        calls: [{ id: call, event: 'terminate' }],
      }
      const handed = await handIn(server, envelopeOf([{ field: 'calls', value }], account))
      assert.equal(handed.status, 200, handed.text)
      const [record] = (await operator(`feed?types=call&limit=1&phone_number_id=${phone_number_id}`)).body.data
      assert.equal(record.data.value.calls[0].id, call)
      assert.deepEqual(record.data.findings, expected)
    }
  })

  test('the record of a call that is not kept any more has no list', async () => {
    const call = await callBusiness(newUser())
    await phone(call, 'terminate')
    await server.database.transaction(async (tx) => {
      await tx.query.deleteFrom('calls').where('id', '=', call).execute()
    })
    const [record] = (await operator('feed?types=call&limit=1')).body.data
    assert.equal(record.data.value.calls[0].id, call)
    assert.equal(record.data.findings, null)
  })

  test('a description is kept byte for byte; in the event a missing last line end is added', async () => {
    for (const [sdp, handedOn] of [
      [offer.sdp, offer.sdp],
      [offer.sdp.trimEnd(), offer.sdp],
      [offer.sdp.replaceAll('\r\n', '\n'), offer.sdp.replaceAll('\r\n', '\n')],
      [offer.sdp.replaceAll('\r\n', '\n').trimEnd(), `${offer.sdp.replaceAll('\r\n', '\n').trimEnd()}\r\n`],
      [`${offer.sdp}a=x-name:Ādä 🌵  \r\n`, `${offer.sdp}a=x-name:Ādä 🌵  \r\n`],
    ] as const) {
      const call = await callBusiness(newUser(), { session: { ...offer, sdp } })
      assert.equal((await readCall(call)).body.sdp.user, sdp)
      const [connect] = await sides.eventsOf(call)
      assert.equal(connect.calls[0].session.sdp, handedOn)
    }
    const call = await callUser(newUser())
    const sdp = answer.sdp.trimEnd()
    assert.equal((await phone(call, 'accept', { session: { ...answer, sdp } })).status, 200)
    assert.equal((await readCall(call)).body.sdp.user, sdp)
    const [connect] = await sides.eventsOf(call)
    assert.equal(connect.calls[0].session.sdp, answer.sdp)
  })
})

onOneDatabase('SDP_STRICT', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { SDP_STRICT: 'on' } })
  const { business, gateway, permit, newUser, callUser, callBusiness, readCall, user: phone } = callSides(server)
  const refusal = (kind: keyof typeof findingKinds) => {
    const { message, code } = findingKinds[kind]
    const [fault = '', advice = ''] = message.split('; ')
    return sessionRefused({ fault, advice, code })
  }
  const listCalls = async (user_wa_id: string) =>
    (await server.client.get('/gateway/calls', { token: tokens.gateway, query: { user_wa_id } })).body.data

  test('offers with an error are refused at both doors, and nothing rings', async () => {
    const user = newUser()
    const refused = await gateway('calls', { phone_number_id: numbers.main, from: user, session: unsafeOffer })
    assertError(refused, refusal('no_fingerprint'))
    assert.equal(refused.status, 400)
    assert.equal(refused.body.error.code, 100)
    const { message } = findingKinds.no_fingerprint
    assert.equal(refused.body.error.message, `session.sdp: ${message} (no_fingerprint).`)
    await permit(user)
    assertError(await business({ action: 'connect', to: user, session: unsafeOffer }), refusal('no_fingerprint'))
    assert.deepEqual(await listCalls(user), [])
  })

  test('answers with an error are refused at both doors, and the call stays as it was', async () => {
    const wrong = { ...answer, sdp: answer.sdp.replace('a=setup:active', 'a=setup:actpass') }
    const toBusiness = await callBusiness(newUser())
    for (const action of ['pre_accept', 'accept']) {
      assertError(await business({ action, call_id: toBusiness, session: wrong }), refusal('wrong_setup'))
    }
    const toUser = await callUser(newUser())
    assertError(await phone(toUser, 'accept', { session: wrong }), refusal('wrong_setup'))
    for (const call of [toBusiness, toUser]) {
      const { body } = await readCall(call)
      assert.deepEqual([body.state, Object.keys(body.sdp).length, body.findings], ['initiated', 1, []])
    }
    assert.equal((await business({ action: 'pre_accept', call_id: toBusiness, session: answer })).status, 200)
    assert.equal((await business({ action: 'accept', call_id: toBusiness })).status, 200)
    assert.equal((await phone(toUser, 'accept', { session: answer })).status, 200)
  })

  test('an answer without candidates is refused if the offer has none either, and taken otherwise', async () => {
    const silent = await callUser(newUser(), { session: silentOffer })
    assertError(await phone(silent, 'accept', { session: silentAnswer }), refusal('no_candidates_at_all'))
    assert.equal((await readCall(silent)).body.state, 'initiated')
    const heard = await callBusiness(newUser(), { session: silentOffer })
    assertError(
      await business({ action: 'accept', call_id: heard, session: silentAnswer }),
      refusal('no_candidates_at_all'),
    )
    assert.equal((await business({ action: 'accept', call_id: heard, session: answer })).status, 200)
    assert.equal((await phone(await callUser(newUser()), 'accept', { session: silentAnswer })).status, 200)
  })

  test('a refused answer leaves the call ringing for as long as it would have', async () => {
    const silent = await callUser(newUser(), { session: silentOffer })
    assertError(await phone(silent, 'accept', { session: silentAnswer }), refusal('no_candidates_at_all'))
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual((await readCall(silent)).body.ending, 'timed_out')
  })

  test('warnings are taken', async () => {
    const call = await callBusiness(newUser(), { session: without(offer, 'a=ssrc') })
    const session = { ...answer, sdp: answer.sdp.trimEnd() }
    assert.equal((await business({ action: 'accept', call_id: call, session })).status, 200)
    assert.deepEqual(codesOf((await readCall(call)).body.findings), [
      'user no_ssrc warning',
      'business no_line_end warning',
    ])
  })
})

onOneDatabase('a subscriber that answers a call from inside its handler', 'sqlite', (engine) => {
  test('pre_accept and accept come before the response of the webhook of connect', async (t: TestContext) => {
    const taken: Answer[] = []
    const { promise: isAnswered, resolve: noteAnswered } = Promise.withResolvers<void>()
    const sink = await startSink(t, async ({ body }, response) => {
      const { calls } = JSON.parse(body.toString()).entry[0].changes[0].value
      if (calls?.[0].event === 'connect') {
        const { business, readCall } = callSides(server)
        const call_id = calls[0].id
        taken.push(await business({ action: 'pre_accept', call_id, session: answer }))
        taken.push(await business({ action: 'accept', call_id, session: answer }))
        taken.push(await readCall(call_id))
        noteAnswered()
      }
      response.writeHead(200).end()
    })
    const world = testWorld()
    const [app, ...others] = world.apps
    assert.ok(app)
    const webhook = { callback_url: `${sink.url}/hook`, verify_token: 'vt', fields: ['calls'] }
    const server = await startTestServer({ engine, world: { ...world, apps: [{ ...app, webhook }, ...others] } })
    t.after(() => server.stop())
    const { callBusiness, newUser } = callSides(server)
    await callBusiness(newUser())
    await server.app.settle()
    await isAnswered
    assert.deepEqual(
      taken.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal(taken[2]?.body.state, 'accepted')
  })
})
