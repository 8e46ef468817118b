import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { startTestServer, type TestServer } from '../../../test/harness/server.ts'
import { ownersApp, subscribe } from '../../../test/harness/subscriber.ts'
import { until } from '../../../test/harness/until.ts'
import {
  envelopeOf,
  handIn,
  handInText,
  messagesChange,
  metadata,
  textMessage,
  userOf,
} from '../../../test/harness/webhooks.ts'
import { accounts, numbers, partnerIds, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { silentLog } from '../../base/log/log.ts'
import type { ManualClock } from '../../base/time/clock.ts'
import { EgressError } from '../../egress/egress-error.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { Metrics } from '../../http/observe/http-metrics.ts'
import type { AttemptDeps } from '../post/attempt.ts'
import { DeliveryMetrics } from './delivery-metrics.ts'
import { DeliveryWorker } from './worker.ts'

/** Short, because leases are renewed in real time; whether they are over is up to the clock of the test. */
const lease = 200

const partner = { token: tokens.partner, id: partnerIds.application }

type Send = AttemptDeps['egress']['send']
type Answer = Awaited<ReturnType<Send>>

const taken: Answer = { status: 200, headers: {}, body: Buffer.from('thanks') } as unknown as Answer

/** A process that delivers, whose trust in its clock and whose network the test controls. */
class Deliverer {
  mayWork = true
  readonly worker: DeliveryWorker

  constructor(
    t: TestContext,
    { database, clock }: TestServer,
    send: (this: Deliverer, post: Parameters<Send>[0]) => Promise<Answer>,
  ) {
    const ended = Promise.withResolvers<never>()
    ended.promise.catch(() => undefined)
    this.worker = new DeliveryWorker({
      ...{ database, clock, leaseClock: clock, random: systemRandom, log: silentLog, lease },
      ...{ concurrency: 32, batch: 1, rules: { delays: [5000], giveUpAfter: 86_400_000 } },
      toRealTime: (time) => time,
      egress: {
        send: (post) => Promise.race([send.call(this, post), ended.promise]),
        originOf: (url) => new URL(url).origin,
        userAgent: 'test',
      },
      vocabulary: chooseVocabulary('msgapp'),
      metrics: new DeliveryMetrics(new Metrics().registry, database, clock),
      trust: { mayWork: () => this.mayWork, mayDelete: () => this.mayWork },
    })
    t.after(() => this.worker.stop(0, async () => ended.reject(new EgressError('closed', 'the test is over'))))
    this.worker.start()
  }
}

async function startWithoutWorkers(t: TestContext): Promise<TestServer & { readonly clock: ManualClock }> {
  const server = await startTestServer({ engine: 'postgres', env: { ROLE: 'api' } })
  t.after(() => server.stop())
  return server
}

/** To the account that both apps may hear of. */
async function handInShared(server: TestServer, id: string, user: string): Promise<void> {
  const { field, value } = messagesChange(textMessage(id, 'Hello', user))
  const change = { field, value: { ...value, metadata: { ...metadata, phone_number_id: numbers.shared } } }
  const answer = await handIn(server, envelopeOf([change], accounts.shared))
  assert.equal(answer.status, 200, answer.text)
}

function leasesOf({ database }: TestServer): Promise<{ callback_url: string; leased_until: number }[]> {
  return database.read.query.selectFrom('lanes').select(['callback_url', 'leased_until']).execute()
}

suite('a process that cannot rely on its clock', () => {
  test('a process whose clock may be wrong sends no further posts, and another process sends them', async (t) => {
    const server = await startWithoutWorkers(t)
    await subscribe(t, server)
    await handInText(server, 'about to leave')
    const tries: boolean[] = []
    const suspended = new Deliverer(t, server, async function ({ mayLeave }) {
      // Its machine was suspended here: by its clock of leases no time has passed.
      this.mayWork = false
      tries.push(mayLeave?.() ?? true)
      throw new EgressError('too_late', 'it may not leave any more')
    })
    await until(() => tries.length === 1, 'the post was about to leave')
    await suspended.worker.settle()
    assert.deepEqual(tries, [false])
    server.clock.advance(lease)
    const sent: string[] = []
    const heir = new Deliverer(t, server, async ({ url }) => {
      sent.push(url)
      return taken
    })
    await heir.worker.settle()
    suspended.mayWork = true
    await suspended.worker.settle()
    assert.deepEqual([sent.length, tries.length], [1, 1])
  })

  test('a process whose clock was wrong sends its remaining posts when the clock is right again and no other process has sent them', async (t) => {
    const server = await startWithoutWorkers(t)
    await subscribe(t, server)
    for (const name of ['first', 'second']) await handInText(server, name)
    const sent: boolean[] = []
    const suspended = new Deliverer(t, server, async function ({ mayLeave }) {
      if (sent.length === 0) this.mayWork = false
      sent.push(mayLeave?.() ?? true)
      if (sent.at(-1)) return taken
      throw new EgressError('too_late', 'it may not leave any more')
    })
    await until(() => sent.length === 1, 'the post was about to leave')
    await suspended.worker.settle()
    suspended.mayWork = true
    server.clock.advance(lease)
    await suspended.worker.settle()
    assert.deepEqual(sent, [false, true, true])
  })

  test('a process whose clock may be wrong releases its lanes, except those with posts that wait for a response', async (t) => {
    const server = await startWithoutWorkers(t)
    const idle = await subscribe(t, server)
    const busy = await subscribe(t, server, { app: partner })
    for (const { token } of [ownersApp, partner]) {
      const linked = await server.client.post(`/v23.0/${accounts.shared}/subscribed_apps`, { token, json: {} })
      assert.equal(linked.status, 200, linked.text)
    }
    for (const index of [0, 1, 2, 3, 4, 5, 6, 7]) await handInShared(server, `message ${index}`, userOf(index % 2))
    const begun = new Set<string>()
    const both = Promise.withResolvers<void>()
    const doubting = new Deliverer(t, server, async function ({ url }) {
      begun.add(url)
      if (begun.size === 2) both.resolve()
      await both.promise
      this.mayWork = false
      return url === idle.url ? taken : new Promise(() => undefined)
    })
    const findLease = async (url: string) =>
      (await leasesOf(server)).find(({ callback_url }) => callback_url === url)?.leased_until
    const first = server.clock.now() + lease
    const isStored = async () => {
      const left = await server.database.read.query
        .selectFrom('deliveries')
        .select('id')
        .where('app_id', '=', ownersApp.id)
        .where('state', '=', 'waiting')
        .execute()
      return left.length === 6
    }
    await until(isStored, 'what was under way of the first lane is stored')
    assert.equal(await findLease(idle.url), first)
    server.clock.advance(lease / 2)
    await until(async () => (await findLease(busy.url)) === server.clock.now() + lease, 'the second lane is renewed')
    assert.equal(await findLease(idle.url), first, 'the first is not')
    server.clock.advance(lease / 2)
    const sent: string[] = []
    const heir = new Deliverer(t, server, async ({ url }) => {
      sent.push(url)
      return taken
    })
    await heir.worker.settle()
    assert.deepEqual(sent, Array(6).fill(idle.url))
    assert.equal(doubting.mayWork, false)
  })
})
