import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  ConcurrencyLimits,
  type ConcurrencySettings,
  type Destination,
  type Reservation,
} from './concurrency-limits.ts'

const limits: ConcurrencySettings = {
  posts: 20,
  lanes: 30,
  app: 8,
  appWhenBusy: 2,
  origin: { initial: 6, smallest: 2, largest: 8 },
}

const to = (app: number, host: number): Destination => ({ app_id: `app ${app}`, origin: `https://host-${host}` })

/** As many places as there are, up to so many. */
function fill(
  room: ConcurrencyLimits,
  destination: Destination,
  { isFailing = false, most = 100 } = {},
): Reservation[] {
  const places: Reservation[] = []
  while (places.length < most) {
    const place = room.beginPost(destination, isFailing)
    if (!place) break
    places.push(place)
  }
  return places
}

suite('the room for posts', () => {
  test('one host has what its window says, whichever apps post to it', () => {
    const room = new ConcurrencyLimits(limits)
    assert.equal(fill(room, to(1, 1), { most: 3 }).length, 3)
    assert.equal(fill(room, to(2, 1)).length, 3)
    assert.equal(fill(room, to(2, 2), { most: 1 }).length, 1, 'another host has room of its own')
  })

  test('one app has a part of it, and a smaller one while others need the rest', () => {
    const room = new ConcurrencyLimits(limits)
    const ofOne = [1, 2].flatMap((host) => fill(room, to(1, host)))
    assert.equal(ofOne.length, limits.app)
    fill(room, to(2, 3), { most: 3 })
    assert.equal(fill(room, to(3, 4)).length, limits.appWhenBusy)
    for (const place of ofOne) place.release('neither')
    assert.equal(fill(room, to(3, 4)).length, 4, 'with the room of the first app the host is the limit')
  })

  test('the process has no more than its own, and what is left is free again', () => {
    const room = new ConcurrencyLimits({ ...limits, app: 100, appWhenBusy: 100 })
    const places = [1, 2, 3, 4].flatMap((host) => fill(room, to(host, host)))
    assert.equal(places.length, limits.posts)
    assert.equal(room.beginPost(to(5, 5), false), undefined)
    places[0]?.release('neither')
    assert.ok(room.beginPost(to(5, 5), false))
  })

  test('subscribers that failed last have a quarter of their host, and at least two places', () => {
    const room = new ConcurrencyLimits(limits)
    assert.equal(fill(room, to(1, 1), { isFailing: true }).length, 2)
    assert.equal(fill(room, to(1, 1)).length, 4, 'the rest is for those beside them')
  })

  test('a host that does not answer has less room, and one that answers gets it back', () => {
    const room = new ConcurrencyLimits(limits)
    for (const place of fill(room, to(1, 1))) place.release('silent')
    const cut = fill(room, to(1, 1))
    assert.equal(cut.length, 3)
    for (let answers = 0; answers < 4; answers++) {
      cut.shift()?.release('responded')
      cut.push(...fill(room, to(1, 1)))
    }
    assert.equal(cut.length, 4)
  })

  test('a host that answered others meanwhile does not hang, and what the service broke off says nothing', () => {
    const room = new ConcurrencyLimits(limits)
    const [slow, ...others] = fill(room, to(1, 1))
    const [answered, ...brokenOff] = others
    answered?.release('responded')
    for (const place of brokenOff) place.release('neither')
    slow?.release('silent')
    assert.ok(fill(room, to(1, 1)).length >= 6)
  })

  test('posts that fail at once take nothing from a host whose other posts are still under way', () => {
    const room = new ConcurrencyLimits(limits)
    const [, , , , ...reset] = fill(room, to(1, 1))
    for (const place of reset) place.release('neither')
    assert.equal(fill(room, to(2, 1)).length, 2)
  })
})

suite('the room for lanes', () => {
  test('a host has two lanes for each of its posts, and failing ones their share of that', () => {
    const room = new ConcurrencyLimits({ ...limits, app: 100 })
    const holdAll = (isFailing: boolean) => {
      let held = 0
      for (; room.canClaim(to(1, 1), isFailing); held++) room.reserve(to(1, 1), isFailing)
      return held
    }
    assert.equal(holdAll(true), 4)
    assert.equal(holdAll(false), 8)
    room.releaseLane(to(1, 1), true)
    assert.ok(room.canClaim(to(1, 1), true))
    assert.ok(room.canClaim(to(1, 2), false))
  })

  test('an app and the process hold no more than theirs', () => {
    const room = new ConcurrencyLimits(limits)
    for (let host = 1; host <= limits.app; host++) room.reserve(to(1, host), false)
    assert.equal(room.canClaim(to(1, 20), false), false)
    for (let app = 2; app <= 1 + limits.lanes - limits.app; app++) room.reserve(to(app, app), false)
    assert.equal(room.canClaim(to(99, 99), false), false)
    room.releaseLane(to(2, 2), false)
    assert.ok(room.canClaim(to(99, 99), false))
  })

  test('hosts that are only asked about take no memory, and of those that were used it keeps a bounded number', () => {
    const room = new ConcurrencyLimits()
    for (let host = 0; host < 30_000; host++) room.canClaim(to(host, host), false)
    assert.equal(room.knownOrigins, 0)
    for (let host = 0; host < 12_000; host++) room.beginPost(to(host, host), false)?.release('neither')
    assert.equal(room.knownOrigins, 10_000)
  })

  test('the window of a host outlives its last post, and goes with the hosts that were used long ago', () => {
    const room = new ConcurrencyLimits()
    for (const place of fill(room, to(1, 1))) place.release('silent')
    const narrow = fill(room, to(1, 1))
    assert.ok(narrow.length < fill(room, to(1, 2)).length, 'it is narrower than that of a new host')
    for (const place of narrow) place.release('neither')
    for (let host = 3; host < 11_000; host++) room.beginPost(to(2, host), false)?.release('neither')
    assert.ok(fill(room, to(1, 1)).length > narrow.length, 'it begins anew')
  })
})
