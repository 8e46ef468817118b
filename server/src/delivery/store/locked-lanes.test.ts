import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { useTestServer } from '../../../test/harness/server.ts'
import { type Subscriber, subscribe } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import { envelopeOf, handIn, messagesValue, metadata, textMessage, userOf } from '../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, tokens } from '../../../test/harness/world.ts'
import { raiseEvents } from '../raise/outbox.ts'

/** Somebody's session has locked a row and does not let go: an operator's, or a process that hangs. */
describe('a locked row of the deliveries of one subscriber (postgres)', () => {
  let holder: pg.Client
  after(() => holder.end())
  // A statement that waited for the lock would wait in vain: the tests unlock it only when everybody else is done.
  const server = useTestServer({ engine: 'postgres' })
  before(async () => {
    holder = new pg.Client({ connectionString: server.databaseUrl as string })
    await holder.connect()
    for (const token of [tokens.owner, tokens.partner]) {
      const answer = await server.client.post(`/v23.0/${accounts.shared}/subscribed_apps`, { token, json: {} })
      assert.equal(answer.status, 200, answer.text)
    }
  })

  let sent = 0
  /** An event that both apps hear of. */
  async function raise(): Promise<string> {
    const id = `message.${++sent}`
    const value = messagesValue(textMessage(id, 'Hello', userOf(sent)))
    const change = {
      field: 'messages',
      value: { ...value, metadata: { ...metadata, phone_number_id: numbers.shared } },
    }
    const answer = await handIn(server, envelopeOf([change], accounts.shared))
    assert.equal(answer.status, 200, answer.text)
    return id
  }

  async function subscribeBoth(t: TestContext): Promise<{ owners: Subscriber; partners: Subscriber }> {
    const owners = await subscribe(t, server)
    const partners = await subscribe(t, server, { app: { token: tokens.partner, id: partnerIds.application } })
    return { owners, partners }
  }

  async function countWaiting(app_id: string): Promise<number> {
    const rows = await server.database.read.query
      .selectFrom('deliveries')
      .select('id')
      .where('state', '=', 'waiting')
      .where('app_id', '=', app_id)
      .execute()
    return rows.length
  }

  const listNotes = () => server.database.read.query.selectFrom('lane_wakes').selectAll().execute()

  const lockLanes = (strength: string) =>
    holder.query(`BEGIN; SELECT id FROM lanes WHERE app_id = '${partnerIds.application}' FOR ${strength}`)

  for (const strength of ['UPDATE', 'NO KEY UPDATE']) {
    test(`a locked row of the deliveries of one subscriber: its lane, idle, FOR ${strength}: events are raised, the others hear of them, and it hears later`, async (t) => {
      const { owners, partners } = await subscribeBoth(t)
      await raise()
      await server.app.settle()
      const before = partners.posts.length
      await lockLanes(strength)
      const raised = [await raise(), await raise(), await raise()]
      await until(async () => (await countWaiting(ids.application)) === 0, 'the free lane is done')
      assert.deepEqual(owners.messageIds().slice(-3).toSorted(), raised)
      assert.equal(partners.posts.length, before, 'a lane that is locked cannot be claimed')
      await holder.query('ROLLBACK')
      await until(async () => (await countWaiting(partnerIds.application)) === 0, 'the locked lane is done')
      assert.deepEqual(partners.messageIds().slice(-3).toSorted(), raised)
      await until(async () => (await listNotes()).length === 0, 'no note is left')
    })
  }

  test('many events for a locked lane leave one note', async (t) => {
    const { partners } = await subscribeBoth(t)
    t.after(() => holder.query('ROLLBACK'))
    await lockLanes('UPDATE')
    const raised = [await raise(), await raise(), await raise()]
    assert.equal((await listNotes()).length, 1)
    await holder.query('ROLLBACK')
    await until(async () => (await countWaiting(partnerIds.application)) === 0, 'the locked lane is done')
    assert.deepEqual(partners.messageIds().toSorted(), raised.toSorted())
    await until(async () => (await listNotes()).length === 0, 'the note is taken in')
  })

  test('an event that relies on a note is committed after the lane was unlocked and worked off: it is sent', async (t) => {
    const { partners } = await subscribeBoth(t)
    t.after(() => holder.query('ROLLBACK'))
    await lockLanes('UPDATE')
    const first = await raise()
    const second = { id: 'message.late', ...Promise.withResolvers<void>() }
    t.after(() => second.resolve())
    const isRaised = Promise.withResolvers<void>()
    const value = JSON.stringify(messagesValue(textMessage(second.id, 'Hello', userOf(99))))
    const place = { account_id: accounts.shared, phone_number_id: numbers.shared }
    const raising = server.database.transaction(async (tx) => {
      await raiseEvents(tx, server.clock, [{ ...place, field: 'messages', conversation: 'late', value }])
      // Sends what was held back until somebody awaits a result.
      await tx.query.selectFrom('apps').select('id').execute()
      isRaised.resolve()
      await second.promise
    })
    await isRaised.promise
    await holder.query('ROLLBACK')
    await until(async () => (await countWaiting(partnerIds.application)) === 0, 'what is visible is sent')
    const isFree = async () =>
      (
        await server.database.read.query
          .selectFrom('lanes')
          .select('id')
          .where('app_id', '=', partnerIds.application)
          .where('leased_until', '>', 0)
          .execute()
      ).length === 0
    await until(isFree, 'the lane is released')
    assert.equal((await listNotes()).length, 1, 'the note stays for the event that is not committed')
    second.resolve()
    await raising
    await partners.whenPosted(2)
    assert.deepEqual(partners.messageIds(), [first, second.id])
    await until(async () => (await listNotes()).length === 0, 'the note is taken in')
  })

  test('a locked row of the deliveries of one subscriber: its lane, at work: what came of the others is stored, and its own when it is unlocked, once', async (t) => {
    const { owners, partners } = await subscribeBoth(t)
    // Both lanes are held: their posts are under way when the row is locked.
    const answers: (() => void)[] = []
    for (const subscriber of [owners, partners])
      subscriber.answerWith((_post, response) => answers.push(() => response.end()))
    const first = await raise()
    await Promise.all([owners.whenPosted(1), partners.whenPosted(1)])
    await lockLanes('NO KEY UPDATE')
    for (const subscriber of [owners, partners]) subscriber.answerWith((_post, response) => response.end())
    for (const answer of answers) answer()
    const second = await raise()
    await until(async () => (await countWaiting(ids.application)) === 0, 'the free lane is stored')
    assert.ok((await countWaiting(partnerIds.application)) > 0, 'the locked one is not')
    await holder.query('ROLLBACK')
    await until(async () => (await countWaiting(partnerIds.application)) === 0, 'the locked lane is stored')
    assert.deepEqual(partners.messageIds(), [first, second], 'nothing was sent twice')
  })

  test('a delivery, at work: what came of all others is stored', async (t) => {
    const { owners, partners } = await subscribeBoth(t)
    const answers: (() => void)[] = []
    partners.answerWith((_post, response) => answers.push(() => response.end()))
    await raise()
    await raise()
    await partners.whenPosted(2)
    await until(async () => (await countWaiting(ids.application)) === 0, 'the free lane is stored')
    assert.equal(owners.posts.length, 2)
    await holder.query(
      `BEGIN; SELECT id FROM deliveries WHERE app_id = '${partnerIds.application}' AND state = 'waiting' ORDER BY id LIMIT 1 FOR UPDATE`,
    )
    for (const answer of answers) answer()
    await until(async () => (await countWaiting(partnerIds.application)) === 1, 'all but the locked one are stored')
    await raise()
    await until(async () => (await countWaiting(ids.application)) === 0, 'the free lane goes on')
    await holder.query('ROLLBACK')
    partners.answerWith((_post, response) => response.end())
    await until(async () => (await countWaiting(partnerIds.application)) === 0, 'the locked one is stored')
    assert.equal(partners.posts.length, 3, 'nothing was sent twice')
  })
})
