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

  test('what processes announce to each other is heard as far as it has a form that this version knows', async (t) => {
    const notices = database.notices ?? assert.fail()
    const waker = new NotificationWaker(notices, 'one', { listens: true })
    t.after(() => waker.close())
    const heard: unknown[] = []
    waker.onLanes((lanes) => heard.push(lanes))
    waker.onTimers(() => heard.push('timers'))
    waker.onBroadcast((text) => heard.push(text))
    await until(() => waker.isLive, 'it listens')
    // When it begins to listen it may have missed something.
    assert.deepEqual(heard.splice(0), ['timers', undefined])

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
    for (const notice of ['{', ...others, ...known]) {
      await notices.send('switchboard', typeof notice === 'string' ? notice : JSON.stringify(notice))
    }
    await until(() => heard.includes('the last'), 'the last was heard')
    assert.deepEqual(heard, [
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
