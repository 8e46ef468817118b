import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lane } from '../../data/types.ts'
import { type Place, placeLanes } from './lane-places.ts'

const lane: Lane = {
  ...{ id: 'l', app_id: '3', app_name: 'Shrub CRM', callback_url: 'http://127.0.0.1/', conversations: 0, waiting: 0 },
  ...{ oldest_age: null, failures: 0, down: false, paused_until: null, paused_by_operator: false },
  ...{ subscribed: true, listener: false },
}
const down = { failures: 9, down: true, waiting: 5 }
const one = (id: string, state: Partial<Lane> = {}): Lane => ({ ...lane, id, ...state })
const idsAt = (places: ReadonlyMap<string, Place>, place: Place) =>
  [...places].filter(([, its]) => its === place).map(([id]) => id)

test('subscribers that need somebody come first when the page is opened', () => {
  const places = placeLanes([one('good'), one('former', { subscribed: false }), one('down', down)], new Map())
  assert.deepEqual(
    [...places],
    [
      ['down', 'shown'],
      ['good', 'shown'],
      ['former', 'former'],
    ],
  )
})

test('a card keeps its place whatever becomes of its subscriber, and new ones come last', () => {
  const before = placeLanes([one('a', down), one('b', { failures: 1 }), one('c')], new Map())
  const changed = [one('new', down), one('c', down), one('b'), one('a', { waiting: 5, oldest_age: 900 })]
  assert.deepEqual(idsAt(placeLanes(changed, before), 'shown'), ['a', 'b', 'c', 'new'])
  const gone = [one('c'), one('a', { subscribed: false })]
  assert.deepEqual(idsAt(placeLanes(gone, before), 'shown'), ['a', 'c'])
})

test('healthy subscribers are folded where there are many; a card that was shown stays shown, and one that fails is shown last', () => {
  const many = Array.from({ length: 6 }, (_, index) => one(`good ${index}`))
  const before = placeLanes([...many, one('down', down)], new Map())
  assert.deepEqual(idsAt(before, 'shown'), ['down'])
  assert.deepEqual(
    idsAt(before, 'healthy'),
    many.map(({ id }) => id),
  )
  const after = placeLanes([one('down'), ...many.with(2, one('good 2', down))], before)
  assert.deepEqual(idsAt(after, 'shown'), ['down', 'good 2'])
  assert.equal(idsAt(after, 'healthy').length, 5)
})

test('a former subscriber that is subscribed again is not among the former ones', () => {
  const before = placeLanes([one('a', { subscribed: false })], new Map())
  assert.deepEqual([...placeLanes([one('a')], before)], [['a', 'shown']])
})
