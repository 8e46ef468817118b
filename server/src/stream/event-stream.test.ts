import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { makeMigratedStore } from '../../test/harness/databases.ts'
import { ManualClock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'
import { type EventStreamOptions, openEventStream } from './event-stream.ts'
import { Feed } from './feed.ts'

const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
const nobodys = { business_id: null, account_id: null, phone_number_id: null, trace: null }

function happening(id: string, size = 0) {
  return { id, type: 'timer' as const, time: clock.now(), ...nobodys, data: { filler: 'x'.repeat(size) } }
}

describe('a stream of what happens', () => {
  const held: { feed?: Feed; stop?: () => Promise<void> } = {}
  before(async () => {
    const { place, database } = await makeMigratedStore('sqlite', clock)
    const feed = new Feed({ database, clock, log: silentLog, voice: undefined })
    held.feed = feed
    held.stop = async () => {
      await feed.stop()
      await database.close()
      await place.remove()
    }
  })
  after(() => held.stop?.())

  const feedOf = () => held.feed ?? assert.fail()
  const open = (more: Partial<EventStreamOptions> = {}) =>
    openEventStream({
      feed: feedOf(),
      lastId: undefined,
      accepts: () => true,
      show: ({ id }) => ({ id }),
      commentEvery: 60_000,
      checkEvery: 60_000,
      check: async () => undefined,
      ...more,
    })

  test('costs nothing while nobody watches', () => {
    assert.equal(feedOf().isOn, false)
  })

  test('ends when its listener may not listen any more', async () => {
    const stream = await open({ checkEvery: 1, check: () => Promise.reject(new Error('revoked')) })
    stream.resume()
    await once(stream, 'end')
  })

  test('is commented, so that proxies keep it open', async () => {
    const stream = await open({ commentEvery: 1 })
    let text = ''
    for await (const chunk of stream) {
      text += chunk
      if (text.includes(': still here')) break
    }
    assert.match(text, /^: listening\n\n: still here\n\n/)
  })

  test('drops a listener that does not read, and goes on for the others', async () => {
    const slow = await open({ show: ({ data }) => data })
    const quick = await open()
    const closed = once(slow, 'close')
    for (let count = 0; count < 40; count++) feedOf().publish(happening(`large-${count}`, 100_000))
    await closed
    assert.ok(slow.readableLength < 2 ** 21)
    assert.equal(quick.destroyed, false)
    quick.destroy()
  })

  test('resumes behind the last that was seen', async () => {
    for (const id of ['a', 'b', 'c']) feedOf().publish(happening(id))
    const stream = await open({ lastId: 'a' })
    let text = ''
    for await (const chunk of stream) {
      text += chunk
      if (text.includes('id: c\n')) break
    }
    assert.deepEqual(
      [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id),
      ['b', 'c'],
    )
  })

  test('says reset where the last that was seen is not known', async () => {
    const stream = await open({ lastId: 'never' })
    for await (const chunk of stream) if (String(chunk).includes('event: reset\n')) break
  })
})
