import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Destination, type Place, Room, type RoomLimits } from './concurrency-limits.ts'

const limits: RoomLimits = {
  posts: 20,
  lanes: 30,
  app: 8,
  appWhenBusy: 2,
  origin: { initial: 6, smallest: 2, largest: 8 },
}

const to = (app: number, host: number): Destination => ({ app_id: `app ${app}`, origin: `https://host-${host}` })

/** As many places as there are, up to so many. */
function fill(room: Room, destination: Destination, { isFailing = false, most = 100 } = {}): Place[] {
  const places: Place[] = []
  while (places.length < most) {
    const place = room.enter(destination, isFailing)
    if (!place) break
    places.push(place)
  }
  return places
}

suite('the room for posts', () => {
  test('one host has what its window says, whichever apps post to it', () => {
    const room = new Room(limits)
    assert.equal(fill(room, to(1, 1), { most: 3 }).length, 3)
    assert.equal(fill(room, to(2, 1)).length, 3)
    assert.equal(fill(room, to(2, 2), { most: 1 }).length, 1, 'another host has room of its own')
  })

  test('one app has a part of it, and a smaller one while others need the rest', () => {
    const room = new Room(limits)
    const ofOne = [1, 2].flatMap((host) => fill(room, to(1, host)))
    assert.equal(ofOne.length, limits.app)
    fill(room, to(2, 3), { most: 3 })
    assert.equal(fill(room, to(3, 4)).length, limits.appWhenBusy)
    for (const place of ofOne) place.leave('neither')
    assert.equal(fill(room, to(3, 4)).length, 4, 'with the room of the first app the host is the limit')
  })

  test('the process has no more than its own, and what is left is free again', () => {
    const room = new Room({ ...limits, app: 100, appWhenBusy: 100 })
    const places = [1, 2, 3, 4].flatMap((host) => fill(room, to(host, host)))
    assert.equal(places.length, limits.posts)
    assert.equal(room.enter(to(5, 5), false), undefined)
    places[0]?.leave('neither')
    assert.ok(room.enter(to(5, 5), false))
  })

  test('subscribers that failed last have a quarter of their host, and at least two places', () => {
    const room = new Room(limits)
    assert.equal(fill(room, to(1, 1), { isFailing: true }).length, 2)
    assert.equal(fill(room, to(1, 1)).length, 4, 'the rest is for those beside them')
  })

  test('a host that does not answer has less room, and one that answers gets it back', () => {
    const room = new Room(limits)
    for (const place of fill(room, to(1, 1))) place.leave('silent')
    const cut = fill(room, to(1, 1))
    assert.equal(cut.length, 3)
    for (let answers = 0; answers < 4; answers++) {
      cut.shift()?.leave('responded')
      cut.push(...fill(room, to(1, 1)))
    }
    assert.equal(cut.length, 4)
  })

  test('a host that answered others meanwhile does not hang, and what the service broke off says nothing', () => {
    const room = new Room(limits)
    const [slow, ...others] = fill(room, to(1, 1))
    const [answered, ...brokenOff] = others
    answered?.leave('responded')
    for (const place of brokenOff) place.leave('neither')
    slow?.leave('silent')
    assert.ok(fill(room, to(1, 1)).length >= 6)
  })

  test('posts that fail at once take nothing from a host whose other posts are still under way', () => {
    const room = new Room(limits)
    const [, , , , ...reset] = fill(room, to(1, 1))
    for (const place of reset) place.leave('neither')
    assert.equal(fill(room, to(2, 1)).length, 2)
  })
})

suite('the room for lanes', () => {
  test('a host has two lanes for each of its posts, and failing ones their share of that', () => {
    const room = new Room({ ...limits, app: 100 })
    const holdAll = (isFailing: boolean) => {
      let held = 0
      for (; room.admits(to(1, 1), isFailing); held++) room.hold(to(1, 1), isFailing)
      return held
    }
    assert.equal(holdAll(true), 4)
    assert.equal(holdAll(false), 8)
    room.drop(to(1, 1), true)
    assert.ok(room.admits(to(1, 1), true))
    assert.ok(room.admits(to(1, 2), false))
  })

  test('an app and the process hold no more than theirs', () => {
    const room = new Room(limits)
    for (let host = 1; host <= limits.app; host++) room.hold(to(1, host), false)
    assert.equal(room.admits(to(1, 20), false), false)
    for (let app = 2; app <= 1 + limits.lanes - limits.app; app++) room.hold(to(app, app), false)
    assert.equal(room.admits(to(99, 99), false), false)
    room.drop(to(2, 2), false)
    assert.ok(room.admits(to(99, 99), false))
  })

  test('hosts that are only asked about take no memory, and of those that were used it keeps a bounded number', () => {
    const room = new Room()
    for (let host = 0; host < 30_000; host++) room.admits(to(host, host), false)
    assert.equal(room.knownOrigins, 0)
    for (let host = 0; host < 12_000; host++) room.enter(to(host, host), false)?.leave('neither')
    assert.equal(room.knownOrigins, 10_000)
  })

  test('the window of a host outlives its last post, and goes with the hosts that were used long ago', () => {
    const room = new Room()
    for (const place of fill(room, to(1, 1))) place.leave('silent')
    const narrow = fill(room, to(1, 1))
    assert.ok(narrow.length < fill(room, to(1, 2)).length, 'it is narrower than that of a new host')
    for (const place of narrow) place.leave('neither')
    for (let host = 3; host < 11_000; host++) room.enter(to(2, host), false)?.leave('neither')
    assert.ok(fill(room, to(1, 1)).length > narrow.length, 'it begins anew')
  })
})
