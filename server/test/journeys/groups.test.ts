import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { chooseVocabulary } from '../../src/graph/vocabulary.ts'
import { makeEnvelopeCheck } from '../../src/resources/webhooks/inbound/envelope.ts'
import { onBothDatabases } from '../harness/databases.ts'
import { groupCalls } from '../harness/group-calls.ts'
import { startTestServer } from '../harness/server.ts'
import { type Sink, startSink } from '../harness/sink.ts'
import { ids, testWorld } from '../harness/world.ts'

const [ada, bob] = ['16505551111', '16505552222']

/** The world of the tests, whose owner hears of groups at the sink. */
function worldWithSubscriber(sink: Sink): object {
  const world = testWorld()
  const fields = ['group_lifecycle_update', 'group_participants_update']
  const webhook = { callback_url: `${sink.url}/hook`, verify_token: 'vt', fields }
  return { ...world, apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)) }
}

/** What the business has heard since it was asked last: each post signed, and an envelope that the receiver would take. */
function makeEar(sink: Sink) {
  const checkEnvelope: (body: unknown) => void = makeEnvelopeCheck(chooseVocabulary('msgapp'))
  let heard = 0
  return () => {
    const posts = sink.requests.slice(heard)
    heard = sink.requests.length
    return posts.map(({ body, headers }) => {
      const signature = createHmac('sha256', 'shrub-app-secret').update(body).digest('hex')
      assert.equal(headers['x-hub-signature-256'], `sha256=${signature}`)
      const envelope = JSON.parse(body.toString())
      checkEnvelope(envelope)
      const [entry, ...others] = envelope.entry
      assert.deepEqual([envelope.object, entry.id, others], ['msgapp_business_account', ids.account, []])
      const [{ field, value }] = entry.changes
      return { field, ...value.groups[0] }
    })
  }
}

onBothDatabases('the life of a group', (engine) => {
  test('the life of a group: from its creation through invitation, requests and approval to its deletion', async (t) => {
    const sink = await startSink(t, (_request, response) => response.end())
    const server = await startTestServer({ engine, world: worldWithSubscriber(sink) })
    t.after(() => server.stop())
    const calls = groupCalls(server)
    const listen = makeEar(sink)

    const asked = await calls.create({ subject: 'Spring planting', join_approval_mode: 'approval_required' })
    await calls.pass()
    const [created, ...nothingElse] = listen()
    assert.deepEqual(nothingElse, [])
    assert.deepEqual(
      [created.field, created.type, created.request_id, created.subject],
      ['group_lifecycle_update', 'group_create', asked.body.request_id, 'Spring planting'],
    )
    const { group_id, invite_link } = created
    assert.match(await (await fetch(invite_link)).text(), /Spring planting/)

    await calls.join(invite_link, ada, 'Ada')
    await calls.join(invite_link, bob, 'Bob')
    await calls.pass()
    const requests = listen()
    assert.deepEqual(
      requests.map(({ field, type, wa_id }) => [field, type, wa_id]),
      [
        ['group_participants_update', 'group_join_request_created', ada],
        ['group_participants_update', 'group_join_request_created', bob],
      ],
    )
    const [ofAda, ofBob] = requests.map(({ join_request_id }) => join_request_id)

    assert.deepEqual((await calls.approve(group_id, [ofAda])).body.approved_join_requests, [ofAda])
    assert.deepEqual((await calls.reject(group_id, [ofBob])).body.rejected_join_requests, [ofBob])
    await calls.pass()
    const [added, revoked] = listen()
    assert.deepEqual(
      [added.type, added.reason, added.added_participants[0].wa_id],
      ['group_participants_add', 'invite_link', ada],
    )
    assert.deepEqual([revoked.type, revoked.wa_id], ['group_join_request_revoked', bob])
    assert.deepEqual((await calls.read(group_id)).body.participants, [{ wa_id: ada }])

    const renewed = (await calls.createLink(group_id)).body.invite_link
    assert.equal((await calls.join(invite_link, bob)).status, 404)
    assert.equal((await calls.join(renewed, bob)).body.status, 'requested')
    await calls.remove(group_id, ada)
    await calls.pass()
    const [again, removed] = listen()
    assert.deepEqual([again.type, again.wa_id], ['group_join_request_created', bob])
    assert.deepEqual(
      [removed.type, removed.initiated_by, removed.removed_participants[0].wa_id],
      ['group_participants_remove', 'business', ada],
    )

    const deletion = await calls.delete(group_id)
    await calls.pass()
    assert.deepEqual(
      listen().map(({ type, request_id }) => [type, request_id]),
      [['group_delete', deletion.body.request_id]],
    )
    assert.equal((await fetch(renewed)).status, 404)
    const { groups } = (await calls.list()).body.data
    assert.deepEqual(
      groups.map(({ id }: { id: string }) => id),
      [ids.group],
    )
  })
})
