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

/** As many reservations as the limits allow, up to so many. */
function fill(
  concurrency: ConcurrencyLimits,
  destination: Destination,
  { isFailing = false, most = 100 } = {},
): Reservation[] {
  const reservations: Reservation[] = []
  while (reservations.length < most) {
    const reservation = concurrency.beginPost(destination, isFailing)
    if (!reservation) break
    reservations.push(reservation)
  }
  return reservations
}

suite('the room for posts', () => {
  test('one host has what its window says, whichever apps post to it', () => {
    const concurrency = new ConcurrencyLimits(limits)
    assert.equal(fill(concurrency, to(1, 1), { most: 3 }).length, 3)
    assert.equal(fill(concurrency, to(2, 1)).length, 3)
    assert.equal(fill(concurrency, to(2, 2), { most: 1 }).length, 1, 'another host has room of its own')
  })

  test('one app has a part of it, and a smaller one while others need the rest', () => {
    const concurrency = new ConcurrencyLimits(limits)
    const ofOne = [1, 2].flatMap((host) => fill(concurrency, to(1, host)))
    assert.equal(ofOne.length, limits.app)
    fill(concurrency, to(2, 3), { most: 3 })
    assert.equal(fill(concurrency, to(3, 4)).length, limits.appWhenBusy)
    for (const reservation of ofOne) reservation.release('neither')
    assert.equal(fill(concurrency, to(3, 4)).length, 4, 'with the room of the first app the host is the limit')
  })

  test('the process has no more than its own, and what is left is free again', () => {
    const concurrency = new ConcurrencyLimits({ ...limits, app: 100, appWhenBusy: 100 })
    const reservations = [1, 2, 3, 4].flatMap((host) => fill(concurrency, to(host, host)))
    assert.equal(reservations.length, limits.posts)
    assert.equal(concurrency.beginPost(to(5, 5), false), undefined)
    reservations[0]?.release('neither')
    assert.ok(concurrency.beginPost(to(5, 5), false))
  })

  test('subscribers that failed last have a quarter of their host, and at least two posts', () => {
    const concurrency = new ConcurrencyLimits(limits)
    assert.equal(fill(concurrency, to(1, 1), { isFailing: true }).length, 2)
    assert.equal(fill(concurrency, to(1, 1)).length, 4, 'the rest is for those beside them')
  })

  test('a host that does not answer has less room, and one that answers gets it back', () => {
    const concurrency = new ConcurrencyLimits(limits)
    for (const reservation of fill(concurrency, to(1, 1))) reservation.release('silent')
    const cut = fill(concurrency, to(1, 1))
    assert.equal(cut.length, 3)
    for (let answers = 0; answers < 4; answers++) {
      cut.shift()?.release('responded')
      cut.push(...fill(concurrency, to(1, 1)))
    }
    assert.equal(cut.length, 4)
  })

  test('a host that answered others meanwhile does not hang, and what the service broke off says nothing', () => {
    const concurrency = new ConcurrencyLimits(limits)
    const [slow, ...others] = fill(concurrency, to(1, 1))
    const [answered, ...brokenOff] = others
    answered?.release('responded')
    for (const reservation of brokenOff) reservation.release('neither')
    slow?.release('silent')
    assert.ok(fill(concurrency, to(1, 1)).length >= 6)
  })

  test('posts that fail at once take nothing from a host whose other posts are still under way', () => {
    const concurrency = new ConcurrencyLimits(limits)
    const [, , , , ...reset] = fill(concurrency, to(1, 1))
    for (const reservation of reset) reservation.release('neither')
    assert.equal(fill(concurrency, to(2, 1)).length, 2)
  })
})

suite('the room for lanes', () => {
  test('a host has two lanes for each of its posts, and failing ones their share of that', () => {
    const concurrency = new ConcurrencyLimits({ ...limits, app: 100 })
    const holdAll = (isFailing: boolean) => {
      let held = 0
      for (; concurrency.canClaim(to(1, 1), isFailing); held++) concurrency.reserve(to(1, 1), isFailing)
      return held
    }
    assert.equal(holdAll(true), 4)
    assert.equal(holdAll(false), 8)
    concurrency.releaseLane(to(1, 1), true)
    assert.ok(concurrency.canClaim(to(1, 1), true))
    assert.ok(concurrency.canClaim(to(1, 2), false))
  })

  test('an app and the process hold no more than theirs', () => {
    const concurrency = new ConcurrencyLimits(limits)
    for (let host = 1; host <= limits.app; host++) concurrency.reserve(to(1, host), false)
    assert.equal(concurrency.canClaim(to(1, 20), false), false)
    for (let app = 2; app <= 1 + limits.lanes - limits.app; app++) concurrency.reserve(to(app, app), false)
    assert.equal(concurrency.canClaim(to(99, 99), false), false)
    concurrency.releaseLane(to(2, 2), false)
    assert.ok(concurrency.canClaim(to(99, 99), false))
  })

  test('a host without posts takes no memory, and the number of idle hosts in memory is bounded', () => {
    const concurrency = new ConcurrencyLimits()
    for (let host = 0; host < 30_000; host++) concurrency.canClaim(to(host, host), false)
    assert.equal(concurrency.knownOrigins, 0)
    for (let host = 0; host < 12_000; host++) concurrency.beginPost(to(host, host), false)?.release('neither')
    assert.equal(concurrency.knownOrigins, 10_000)
  })

  test('the window of a host outlives its last post, and goes with the hosts that were used long ago', () => {
    const concurrency = new ConcurrencyLimits()
    for (const reservation of fill(concurrency, to(1, 1))) reservation.release('silent')
    const narrow = fill(concurrency, to(1, 1))
    assert.ok(narrow.length < fill(concurrency, to(1, 2)).length, 'it is narrower than that of a new host')
    for (const reservation of narrow) reservation.release('neither')
    for (let host = 3; host < 11_000; host++) concurrency.beginPost(to(2, host), false)?.release('neither')
    assert.ok(fill(concurrency, to(1, 1)).length > narrow.length, 'it begins anew')
  })
})
