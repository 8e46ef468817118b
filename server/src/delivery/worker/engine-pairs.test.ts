import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../../test/harness/databases.ts'
import { byForm } from '../../../test/harness/form.ts'
import { fc } from '../../../test/harness/properties.ts'
import { startTestServer, type TestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, partnerIds, testWorld } from '../../../test/harness/world.ts'
import type { ManualClock } from '../../base/time/clock.ts'
import { minute } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import { raiseEvents } from '../raise/outbox.ts'
import type { Outcome, PostResult } from '../rules/outcome.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { claimLanes, type Lease, releaseLanes, renewLanes } from '../store/lanes.ts'
import { recordOutcomes } from '../store/record-outcomes.ts'

/** One step that both engines take. Events and deliveries are named by their order, because ids differ. */
const steps = fc.oneof(
  fc.record({
    kind: fc.constant('raise' as const),
    events: fc.array(
      fc.record({
        place: fc.nat({ max: 2 }),
        field: fc.constantFrom('messages', 'calls', 'nobody_subscribes'),
        conversation: fc.constantFrom('a', 'b', 'c\ud800'),
        value: fc.constantFrom('{"text":"x"}', '{"text":"ü\\u0000"}'),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constant('claim' as const), owner: fc.constantFrom('one', 'two') }),
  fc.record({ kind: fc.constant('renew' as const), owner: fc.constantFrom('one', 'two') }),
  fc.record({ kind: fc.constant('release' as const), owner: fc.constantFrom('one', 'two') }),
  fc.record({
    kind: fc.constant('record' as const),
    owner: fc.constantFrom('one', 'two'),
    failures: fc.nat({ max: 4 }),
    isBack: fc.boolean(),
    outcomes: fc.array(
      fc.record({
        /** Of all deliveries, in the order of their events. */
        delivery: fc.nat({ max: 7 }),
        what: fc.constantFrom('delivered', 'failed', 'retry', 'postponed', 'too_late'),
        status: fc.constantFrom(200, 500, undefined),
        response: fc.constantFrom('', 'thanks'),
      }),
      { maxLength: 5 },
    ),
  }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.constantFrom(1, 1000, 2 * minute) }),
)
type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never

const places = [
  { account_id: accounts.private, phone_number_id: numbers.main },
  { account_id: accounts.shared, phone_number_id: numbers.shared },
  { account_id: accounts.private, phone_number_id: null },
]

/** Both apps hear of the private account, where one has an address of its own for the number. */
function makeWorld(): object {
  const world = testWorld() as unknown as { apps: { id: string }[]; accounts: { id: string }[] }
  const webhook = (id: string) => ({
    callback_url: `https://example.com/${id}`,
    verify_token: 'vt',
    fields: ['messages'],
  })
  const both = [ids.application, partnerIds.application]
  return {
    ...world,
    apps: world.apps.map((app) => ({ ...app, webhook: webhook(app.id) })),
    accounts: world.accounts.map((account) =>
      account.id === accounts.private
        ? { ...account, shared_with: [partnerIds.business], subscribed_apps: both }
        : account,
    ),
  }
}

describe('what each database does by a statement of its own: raising events, recording outcomes', () => {
  const servers = new Map<Engine, TestServer>()
  before(async () => {
    for (const engine of ['sqlite', 'postgres'] as const) {
      servers.set(engine, await startTestServer({ engine, world: makeWorld(), env: { ROLE: 'api' } }))
    }
  })
  after(() => Promise.all([...servers.values()].map((server) => server.stop())))

  test('the statements of both databases leave the same rows for the same input, and return the same', async () => {
    let heard = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 14 }), async (taken) => {
        const results: unknown[] = []
        for (const { database, clock } of servers.values()) {
          const returned: unknown[] = []
          for (const step of taken) returned.push(await take(database, clock, step))
          const rows = await dump(database)
          heard += rows.deliveries.length
          results.push({ returned, rows })
          await clear(database)
        }
        assert.deepEqual(results[1], results[0])
      }),
      { numRuns: byForm(40, 400) },
    )
    assert.ok(heard > 20, `${heard} deliveries`)
  })
})

async function take(database: Database, clock: ManualClock, step: Step): Promise<unknown> {
  if (step.kind === 'wait') return clock.advance(step.milliseconds)
  if (step.kind === 'raise') {
    const events = step.events.map(({ place, ...event }) => ({ ...event, ...(places[place] as (typeof places)[0]) }))
    return database.transaction((tx) => raiseEvents(tx, clock, events))
  }
  const lease: Lease = { owner: step.owner, milliseconds: minute, clock }
  const lanes = (await database.read.query.selectFrom('lanes').select('id').orderBy('id').execute()).map(({ id }) => id)
  switch (step.kind) {
    case 'claim':
      return (await claimLanes(database, lanes, lease, clock.now())).toSorted((a, b) => a.id.localeCompare(b.id))
    case 'renew':
      return renewLanes(database, lanes, lease)
    case 'release':
      return (await database.transaction((tx) => releaseLanes(tx, lanes, lease))).toSorted((a, b) =>
        a.id.localeCompare(b.id),
      )
    case 'record':
      return record(database, clock, lease, step)
  }
}

async function record(
  database: Database,
  clock: ManualClock,
  lease: Lease,
  { failures, isBack, outcomes }: Extract<Step, { kind: 'record' }>,
): Promise<unknown> {
  const deliveries = await listDeliveries(database)
  const now = clock.now()
  const tried = new Map(outcomes.map((outcome) => [outcome.delivery, outcome]))
  const byLane = Map.groupBy(
    [...tried.values()].flatMap((outcome) => {
      const delivery = deliveries[outcome.delivery]
      return delivery ? [{ ...outcome, delivery }] : []
    }),
    ({ delivery }) => delivery.lane_id,
  )
  const records = [...byLane].map(([lane_id, ofLane]) => ({
    lane_id,
    state: { failures, paused_until: failures > 2 ? now + minute : 0 },
    isBack,
    postponed: ofLane
      .filter(({ what }) => what === 'postponed')
      .map(({ delivery: { id, attempts } }) => ({ id, attempts, until: now + minute })),
    outcomes: ofLane.filter(({ what }) => what !== 'postponed').map((one) => outcomeOf(one, now)),
  }))
  const stored = await recordOutcomes(database, lease, records, { now, leasedFrom: now })
  return { ...stored, lanes: [...stored.lanes].toSorted() }
}

interface Tried {
  readonly delivery: WaitingDelivery
  readonly what: string
  readonly status: number | undefined
  readonly response: string
}

function outcomeOf({ delivery, what, status, response }: Tried, time: number): Outcome {
  const sent = { url: 'https://example.com/', headers: '{}', deliveries: null, responseHeaders: null }
  const problem = status === 200 ? undefined : 'it failed'
  const result: PostResult = {
    ...{ time, duration: 7, status, problem, response, sent },
    ...{ isSilent: false, retryAfter: undefined, fault: undefined },
  }
  // As if somebody else had tried it meanwhile.
  const known = what === 'too_late' ? { ...delivery, attempts: delivery.attempts + 1 } : delivery
  if (what === 'retry') return { kind: 'retry', delivery: known, result, time: time + 5000 }
  if (what === 'failed') return { kind: 'failed', delivery: known, result, because: 'expired' }
  return { kind: 'delivered', delivery: known, result }
}

/** In the order of their events, and of the lanes within each. */
async function listDeliveries({ read: { query } }: Database): Promise<WaitingDelivery[]> {
  const rows = await query.selectFrom('deliveries').selectAll().orderBy('event_id').orderBy('lane_id').execute()
  return rows as unknown as WaitingDelivery[]
}

/** All rows, with events and deliveries named by their order. */
async function dump(database: Database) {
  const { query } = database.read
  const events = await query.selectFrom('events').selectAll().orderBy('id').execute()
  const deliveries = await listDeliveries(database)
  const attempts = await query.selectFrom('delivery_attempts').selectAll().orderBy('number').execute()
  const lanes = await query.selectFrom('lanes').selectAll().orderBy('id').execute()
  const numberOf = new Map(events.map(({ id }, index) => [id, index]))
  return {
    events: events.map((event, id) => ({ ...event, id })),
    deliveries: deliveries.map((delivery, id) => ({
      ...delivery,
      id,
      event_id: numberOf.get(delivery.event_id),
      attempts_made: attempts
        .filter(({ delivery_id }) => delivery_id === delivery.id)
        .map((attempt) => ({ ...attempt, delivery_id: id })),
    })),
    lanes,
  }
}

async function clear(database: Database): Promise<void> {
  await database.transaction(async ({ query }) => {
    for (const table of ['delivery_attempts', 'deliveries', 'events', 'lanes'] as const) {
      await query.deleteFrom(table).execute()
    }
  })
}
