import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashUnderEvents } from './harness/crash-events.ts'
import { onOneDatabase } from './harness/databases.ts'
import { byForm, isLong } from './harness/form.ts'

/** A few rounds; `npm run crash -- --of events --rounds 200 --seed S` does many. */
const rounds = byForm(1, 2)
const seed = 20_260_601
/** One post at a time to each of them would be so many. */
const apps = 2

onOneDatabase('a server that is killed at any moment', 'sqlite', (engine) => {
  test('a server that is killed at any moment loses no event that it acknowledged, makes up none, sends the same bytes again, and each conversation in order', async () => {
    const { acknowledged, posts, mostUnderWay } = await crashUnderEvents({ engine, rounds, seed })
    assert.ok(acknowledged > 3, `events were handed in: ${acknowledged}`)
    assert.ok(posts >= 2 * acknowledged, 'both subscribers got them')
    // A slow machine hands in so few that none overlap.
    if (isLong) assert.ok(mostUnderWay > apps, `posts overlapped: ${mostUnderWay}`)
  })
})
