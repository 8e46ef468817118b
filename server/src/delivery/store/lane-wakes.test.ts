import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useTestDatabase } from '../../../test/harness/databases.ts'
import { wakeNotedLanes } from './lane-wakes.ts'

describe('taking in the notes of lanes (postgres)', () => {
  const store = useTestDatabase('postgres')

  const addressOf = (name: string) => ({ app_id: name, callback_url: name })

  async function makeLanes(...names: readonly string[]): Promise<void> {
    const rest = { leased_until: 0, paused_until: 0, failures: 0 }
    await store.database.transaction(async ({ query }) => {
      await query
        .insertInto('lanes')
        .values(names.map((id) => ({ id, ...addressOf(id), ...rest })))
        .execute()
    })
  }

  async function note(lane_id: string, ...dueTimes: readonly number[]): Promise<void> {
    await store.database.transaction(async ({ query }) => {
      await query
        .insertInto('lane_wakes')
        .values(dueTimes.map((due_time) => ({ lane_id, ...addressOf(lane_id), due_time })))
        .execute()
    })
  }

  async function readLanes(): Promise<Record<string, number | null>> {
    const rows = await store.database.read.query.selectFrom('lanes').select(['id', 'next_due']).execute()
    return Object.fromEntries(rows.map(({ id, next_due }) => [id, next_due]))
  }

  async function countNotes(): Promise<Record<string, number>> {
    const rows = await store.database.read.query.selectFrom('lane_wakes').select('lane_id').execute()
    const byLane = Map.groupBy(rows, ({ lane_id }) => lane_id)
    return Object.fromEntries([...byLane].map(([id, notes]) => [id, notes.length]))
  }

  test('a lane that stays locked keeps its notes, however many, and nobody else waits for them', async (t) => {
    await makeLanes('free', 'locked')
    await note('locked', ...Array.from({ length: 2500 }, (_, index) => index))
    await note('free', 7, 5, 6)
    await note('gone', 8)
    const [isLocked, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    t.after(() => isOver.resolve())
    const holding = store.database.transaction(async ({ query }) => {
      await query.selectFrom('lanes').select('id').where('id', '=', 'locked').forUpdate().execute()
      isLocked.resolve()
      await isOver.promise
    })
    await isLocked.promise

    assert.equal(await wakeNotedLanes(store.database), true, 'notes are left')
    assert.deepEqual(await readLanes(), { free: 5, locked: null, gone: 8 })
    assert.deepEqual(await countNotes(), { locked: 2500 })

    isOver.resolve()
    await holding
    assert.equal(await wakeNotedLanes(store.database), true, 'there were more than one statement removes')
    assert.deepEqual(await readLanes(), { free: 5, locked: 0, gone: 8 })
    assert.equal(await wakeNotedLanes(store.database), false)
    assert.deepEqual(await countNotes(), {})
  })
})
