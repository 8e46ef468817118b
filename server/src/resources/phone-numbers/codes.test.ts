import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Random } from '../../base/keys/random.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { minute } from '../../base/time/duration.ts'
import type { VerificationCodesTable } from '../../db/tables.ts'
import { drawCode, hashCode, judgeCode } from './codes.ts'
import { hashPin, isRightPin } from './pin.ts'

const start = 1_780_000_000_000
const limit = { count: 5, milliseconds: 15 * minute }
const right = hashCode('secret', '4000000000000001', '123456')
const wrong = hashCode('secret', '4000000000000001', '654321')

function stored(changes: Partial<VerificationCodesTable> = {}): VerificationCodesTable {
  return {
    phone_number_id: '4000000000000001',
    code_hash: right,
    expires_time: start + 10 * minute,
    carrier_timer_id: null,
    wrong_tries: 0,
    first_wrong_time: 0,
    blocked_until: 0,
    ...changes,
  }
}

describe('a verification code', () => {
  test('a verification code has all its digits, also when the first are 0', () => {
    const low: Random = { ...systemRandom, integer: () => 42 }
    assert.equal(drawCode(low, 6), '000042')
    const bounds: number[] = []
    drawCode({ ...systemRandom, integer: (min, max) => bounds.push(min, max) }, 6)
    assert.deepEqual(bounds, [0, 1_000_000])
  })

  test('a verification code has another hash for every number and every secret', () => {
    const hashes = ['a', 'b'].flatMap((secret) => ['1', '2'].map((id) => hashCode(secret, id, '123456')))
    assert.equal(new Set(hashes).size, 4)
    assert.ok(hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)))
  })

  test('a verification code is right until the moment that it expires', () => {
    assert.deepEqual(judgeCode(stored(), right, start + 10 * minute - 1, limit), { outcome: 'right' })
    assert.deepEqual(judgeCode(stored(), right, start + 10 * minute, limit), { outcome: 'expired' })
    assert.deepEqual(judgeCode(undefined, right, start, limit), { outcome: 'missing' })
  })

  test('wrong tries of a verification code are counted up to the block, which starts the count anew', () => {
    let code = stored()
    for (const left of [4, 3, 2, 1]) {
      const judgement = judgeCode(code, wrong, start, limit)
      assert.ok(judgement.outcome === 'wrong')
      assert.deepEqual([judgement.triesLeft, judgement.tries.blocked_until], [left, 0])
      code = { ...code, ...judgement.tries }
    }
    const last = judgeCode(code, wrong, start + minute, limit)
    assert.ok(last.outcome === 'wrong')
    assert.deepEqual(last, {
      outcome: 'wrong',
      triesLeft: 0,
      tries: { wrong_tries: 0, first_wrong_time: 0, blocked_until: start + 16 * minute },
    })
    const blocked = { ...code, ...last.tries, expires_time: start + 60 * minute }
    assert.deepEqual(judgeCode(blocked, right, start + 16 * minute - 1, limit), { outcome: 'blocked', milliseconds: 1 })
    assert.deepEqual(judgeCode(blocked, right, start + 16 * minute, limit), { outcome: 'right' })
  })

  test('a block ends when the clock was set back so far that it would last for longer than it may', () => {
    const blocked = stored({ blocked_until: start + 15 * minute, expires_time: start + 60 * minute })
    assert.equal(judgeCode(blocked, right, start - 15 * minute, limit).outcome, 'blocked')
    assert.equal(judgeCode(blocked, right, start - 15 * minute - 1, limit).outcome, 'right')
  })

  test('wrong tries of an earlier period are forgotten', () => {
    const code = stored({ wrong_tries: 4, first_wrong_time: start, expires_time: start + 60 * minute })
    const within = judgeCode(code, wrong, start + 15 * minute - 1, limit)
    assert.ok(within.outcome === 'wrong' && within.triesLeft === 0)
    const later = judgeCode(code, wrong, start + 15 * minute, limit)
    assert.ok(later.outcome === 'wrong')
    assert.deepEqual([later.triesLeft, later.tries.first_wrong_time], [4, start + 15 * minute])
  })

  test('a try at a code that has expired is no wrong try', () => {
    assert.deepEqual(judgeCode(stored({ expires_time: start }), wrong, start, limit), { outcome: 'expired' })
  })

  test('nothing is counted or blocked without a limit', () => {
    const code = stored({ wrong_tries: 4, first_wrong_time: start, blocked_until: start + minute })
    assert.deepEqual(judgeCode(code, right, start, undefined), { outcome: 'right' })
    const judgement = judgeCode(code, wrong, start, undefined)
    assert.ok(judgement.outcome === 'wrong' && judgement.triesLeft === undefined)
  })
})

describe('a two-step PIN', () => {
  test('a two-step PIN is right against its own hash alone, and never hashes the same way twice', async () => {
    const [one, other] = [await hashPin(systemRandom, '123456'), await hashPin(systemRandom, '123456')]
    assert.notEqual(one, other)
    assert.ok(!one.includes('123456'))
    assert.equal(await isRightPin('123456', one), true)
    assert.equal(await isRightPin('123456', other), true)
    assert.equal(await isRightPin('123457', one), false)
  })

  test('a hash that this version does not know is a fault, not a wrong PIN', async () => {
    await assert.rejects(isRightPin('123456', 'argon2:1:2:3:a:b'), /argon2/)
  })
})
