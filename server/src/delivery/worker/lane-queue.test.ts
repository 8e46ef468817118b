import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import { LaneQueue } from './lane-queue.ts'

const now = 1000

/** A delivery of a conversation, with the one that waits before it there. */
function make(id: number, conversation: string, previous_id: number | null = null, account_id = '1'): WaitingDelivery {
  const delivery = { id, conversation, previous_id, account_id, attempts: 0, due_time: now }
  return delivery as unknown as WaitingDelivery
}

function fill(deliveries: readonly WaitingDelivery[]): LaneQueue {
  const queue = new LaneQueue()
  queue.add(deliveries, now, 0)
  return queue
}

const takeId = (queue: LaneQueue) => queue.take()?.delivery.id

suite('the queue of a lane', () => {
  test('conversations take turns, and of each only the first is under way', () => {
    const a1 = make(1, 'a')
    const queue = fill([make(3, 'a', 1), a1, make(2, 'b')])
    assert.deepEqual([takeId(queue), takeId(queue), takeId(queue)], [1, 2, undefined])
    assert.deepEqual(queue.finish(a1, undefined), [])
    assert.equal(takeId(queue), 3)
    assert.deepEqual([queue.queued, queue.known, queue.hasReady], [0, 3, false])
  })

  test('what is known is not queued twice, and may come again once it was written down', () => {
    const a1 = make(1, 'a')
    const queue = fill([a1])
    queue.add([a1], now, 0)
    assert.equal(queue.queued, 1)
    takeId(queue)
    queue.finish(a1, undefined)
    queue.add([a1], now, 0)
    assert.equal(queue.queued, 0, 'tried, but not written down')
    queue.forget([1])
    queue.add([a1], now, 0)
    assert.equal(takeId(queue), 1)
  })

  test('a retry makes its conversation wait with all that is behind it, and no other', () => {
    const a1 = make(1, 'a')
    const queue = fill([a1, make(2, 'a', 1), make(3, 'b')])
    takeId(queue)
    assert.deepEqual(queue.finish(a1, now + 50), [{ id: 2, attempts: 0, until: now + 50 }])
    assert.equal(queue.nextRetry(), now + 50)
    assert.deepEqual(queue.add([make(4, 'a', 2)], now, 0).postponed, [{ id: 4, attempts: 0, until: now + 50 }])
    assert.deepEqual([takeId(queue), takeId(queue)], [3, undefined])
  })

  test('the retry itself opens its conversation again when its time has come', () => {
    const a1 = make(1, 'a')
    const queue = fill([a1])
    takeId(queue)
    queue.finish(a1, now + 50)
    queue.forget([1])
    queue.add([a1, make(2, 'a', 1)], now + 50, 0)
    assert.equal(queue.nextRetry(), undefined)
    assert.equal(takeId(queue), 1)
  })

  test('what follows something that was not read is not sent: its first has to be read', () => {
    const queue = new LaneQueue()
    const behind = make(7, 'a', 5)
    assert.deepEqual([...queue.add([behind], now, 0).headless], [['a', [behind]]])
    assert.equal(queue.hasReady, false)
    assert.deepEqual(queue.block('a', now + 9, [behind]), [{ id: 7, attempts: 0, until: now + 9 }])
    assert.equal(queue.nextRetry(), now + 9)
    queue.unblock()
    assert.equal(queue.nextRetry(), undefined)
  })

  test('a post is shared by the next ones of its conversation and of others of the same account, up to a limit', () => {
    const queue = fill([make(1, 'a'), make(2, 'a', 1), make(3, 'b'), make(4, 'c', null, '2'), make(5, 'd')])
    const first = queue.take()
    assert.ok(first)
    const ids = queue.takeMore(first, 2, () => true).map(({ delivery }) => delivery.id)
    assert.deepEqual(ids, [2, 3])
    assert.equal(queue.peek()?.delivery.id, 4)
    assert.deepEqual([takeId(queue), takeId(queue), takeId(queue)], [4, 5, undefined])
  })

  test('of several deliveries that shared a post the last that ends settles their conversation', () => {
    const [a1, a2, a3] = [make(1, 'a'), make(2, 'a', 1), make(3, 'a', 2)]
    const share = () => {
      const queue = fill([a1, a2, a3])
      const first = queue.take()
      assert.ok(first)
      queue.takeMore(first, 1, () => true)
      return queue
    }
    const retried = share()
    assert.deepEqual(retried.finish(a1, now + 5), [{ id: 3, attempts: 0, until: now + 5 }])
    assert.deepEqual(retried.finish(a2, now + 7), [])
    assert.deepEqual([takeId(retried), retried.nextRetry()], [undefined, now + 5])

    const expired = share()
    assert.deepEqual(expired.finish(a1, undefined), [], 'given up')
    assert.equal(takeId(expired), undefined, 'the second may have to be tried again')
    assert.deepEqual(expired.finish(a2, now + 7), [{ id: 3, attempts: 0, until: now + 7 }])
    assert.deepEqual([takeId(expired), expired.nextRetry()], [undefined, now + 7])

    const done = share()
    done.finish(a1, undefined)
    done.finish(a2, undefined)
    assert.equal(takeId(done), 3)
  })

  test('a delivery that is overtaken lets the next of its conversation go, and settles nothing when it ends', () => {
    const [a1, a2] = [make(1, 'a'), make(2, 'a', 1)]
    const queue = fill([a1, a2, make(3, 'a', 2)])
    takeId(queue)
    queue.overtake(a1)
    assert.equal(takeId(queue), 2)
    assert.deepEqual(queue.finish(a1, undefined), [])
    assert.equal(takeId(queue), undefined, 'the second is under way')
    queue.finish(a2, undefined)
    assert.equal(takeId(queue), 3)
  })

  test('what is dropped comes again when it is read again; what is under way does not', () => {
    const [a1, b2] = [make(1, 'a'), make(2, 'b')]
    const queue = fill([a1, b2])
    takeId(queue)
    queue.dropQueued()
    assert.deepEqual([queue.queued, queue.known, queue.hasReady], [0, 1, false])
    queue.add([a1, b2], now, 0)
    assert.deepEqual([takeId(queue), takeId(queue)], [2, undefined])
  })
})
