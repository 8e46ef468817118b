import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeMigratedPlace, openPlace, type StorePlace } from '../../../test/harness/databases.ts'
import { until } from '../../../test/harness/until.ts'
import type { Database } from '../../db/database.ts'
import { NotificationWaker } from './waker.ts'

describe('what processes announce to each other (postgres)', () => {
  let place: StorePlace
  let database: Database
  before(async () => {
    place = await makeMigratedPlace('postgres')
    database = await openPlace(place)
  })
  after(async () => {
    await database.close()
    await place.remove()
  })

  test('what processes announce to each other is received as far as it has a form that this version knows', async (t) => {
    const notifications = database.notifications ?? assert.fail()
    const waker = new NotificationWaker(notifications, 'one', { listens: true })
    t.after(() => waker.close())
    const received: unknown[] = []
    waker.onLanes((lanes) => received.push(lanes))
    waker.onTimers(() => received.push('timers'))
    waker.onBroadcast((text) => received.push(text))
    await until(() => waker.isLive, 'it listens')
    // When it begins to listen it may have missed something.
    assert.deepEqual(received.splice(0), ['timers', undefined])

    const from = 'x'
    const others = [
      ...[null, 7, 'text', [], {}],
      { lanes: ['a'] },
      { from: 5, lanes: ['a'] },
      ...[1, 'a', { id: 'a' }, [{ id: 'a' }], ['a', 1]].map((lanes) => ({ from, lanes })),
      ...[1, 'a', { text: 'a' }, [1], [null]].map((said) => ({ from, said })),
      { from, any: 'lanes', timers: 1 },
      { from: 'one', lanes: ['of its own'], said: ['by itself'] },
    ]
    const known = [
      { from, lanes: ['a', 'b'], holders: ['one', null] },
      { from, lanes: ['c'], holders: 7 },
      { from, lanes: ['d'] },
      { from, said: ['e'], timers: true, lanes: 3, mood: 'new' },
      { from, any: true },
      { from, said: ['the last'] },
    ]
    for (const announcement of ['{', ...others, ...known]) {
      await notifications.send(
        'switchboard',
        typeof announcement === 'string' ? announcement : JSON.stringify(announcement),
      )
    }
    await until(() => received.includes('the last'), 'the last was received')
    assert.deepEqual(received, [
      [
        { id: 'a', holder: 'one' },
        { id: 'b', holder: null },
      ],
      [{ id: 'c', holder: null }],
      [{ id: 'd', holder: null }],
      ...['e', 'timers', undefined, 'the last'],
    ])
  })
})
