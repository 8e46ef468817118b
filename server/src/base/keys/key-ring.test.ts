import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { KeyRing, SecretsLocked, SecretUnreadable, sealedPrefix } from './key-ring.ts'
import { systemRandom } from './random.ts'
import { makeSecretKey, parseSecretKey, type SecretKey, toSecretKey, writeSecretKey } from './secret-key.ts'

function ringOf(keys: readonly SecretKey[], reload: () => readonly SecretKey[] = () => []): KeyRing {
  const ring = new KeyRing()
  ring.unlock({ keys, reload, random: systemRandom })
  return ring
}

describe('a ring of keys', () => {
  const key = makeSecretKey(systemRandom)
  const ring = ringOf([key])
  const place = 'apps.secret of 3000000000000001'

  test('a ring of keys opens what it sealed, another text each time, also when it is empty or long', () => {
    for (const text of ['shrub-app-secret', '', 'ü🌱\n', 'x'.repeat(10_000)]) {
      const [one, other] = [ring.seal(key.id, place, text), ring.seal(key.id, place, text)]
      assert.notEqual(one, other)
      assert.ok(one.startsWith(sealedPrefix(key.id)))
      assert.deepEqual([ring.open(place, one), ringOf([key]).open(place, other)], [text, text])
    }
  })

  test('a ring of keys refuses a value in another place, also one that it has opened where it belongs', () => {
    const sealed = ring.seal(key.id, place, 'secret')
    assert.equal(ring.open(place, sealed), 'secret')
    assert.throws(() => ring.open('apps.secret of 3000000000000002', sealed), SecretUnreadable)
    assert.throws(() => ring.open('apps.previous_secret of 3000000000000001', sealed), SecretUnreadable)
    assert.equal(ring.tryOpen('apps.secret of 3000000000000002', sealed), undefined)
  })

  test('a ring of keys refuses a value that was altered anywhere, without telling what it holds', () => {
    const sealed = ring.seal(key.id, place, 'the very secret')
    for (let index = 0; index < sealed.length; index++) {
      const other = sealed[index] === 'A' ? 'B' : 'A'
      const altered = `${sealed.slice(0, index)}${other}${sealed.slice(index + 1)}`
      // The last character holds bits that stand for nothing: two spellings of the same bytes.
      if (
        Buffer.from(altered.split(':')[2] ?? '', 'base64url').equals(
          Buffer.from(sealed.split(':')[2] ?? '', 'base64url'),
        )
      ) {
        if (altered.startsWith(sealedPrefix(key.id))) continue
      }
      assert.throws(
        () => ring.open(place, altered),
        (error: Error) =>
          error instanceof SecretUnreadable && error.message.startsWith(place) && !error.message.includes('very'),
      )
    }
    for (const madeUp of ['', 'plain', 's1:', `${sealedPrefix(key.id)}AAAA`, sealed.slice(0, -4), `${sealed}AAAA`]) {
      assert.throws(() => ring.open(place, madeUp), SecretUnreadable)
      assert.equal(ring.tryOpen(place, madeUp), undefined)
    }
  })

  test('a ring of keys says which key it lacks, and reads the keys again before that', () => {
    const added = makeSecretKey(systemRandom)
    const sealed = ringOf([added]).seal(added.id, place, 'secret')
    assert.throws(
      () => ring.open(place, sealed),
      new RegExp(`needs the key ${added.id}, which this process does not have`),
    )
    let keys = [key]
    const reading = ringOf([key], () => keys)
    assert.equal(reading.knows(added.id), false)
    keys = [added, key]
    assert.equal(reading.open(place, sealed), 'secret')
    assert.equal(reading.knows(added.id), true)
  })

  test('a ring of keys does nothing while it is locked, and says why', () => {
    const locked = new KeyRing()
    const sealed = ring.seal(key.id, place, 'secret')
    assert.throws(() => locked.open(place, sealed), SecretsLocked)
    assert.throws(() => locked.seal(key.id, place, 'x'), SecretsLocked)
    assert.throws(() => locked.hash('token', 'x'), SecretsLocked)
    const open = ringOf([key])
    assert.equal(open.open(place, sealed), 'secret')
    open.lock(new SecretsLocked('the reason'))
    assert.throws(() => open.open(place, sealed), /the reason/)
  })

  test('a ring of keys opens more values than it keeps, again and again', () => {
    const sealed = Array.from({ length: 5000 }, (_, index) => ring.seal(key.id, place, String(index)))
    for (const [index, value] of sealed.entries()) assert.equal(ring.open(place, value), String(index))
    for (const [index, value] of sealed.entries()) assert.equal(ring.open(place, value), String(index))
  })

  test('a ring of keys hashes with a secret of its own, each purpose differently', () => {
    const [one, same, other] = [ringOf([key]), ringOf([key]), ringOf([key])]
    one.setHashSecret('a')
    same.setHashSecret('a')
    other.setHashSecret('b')
    assert.equal(one.hash('token', 't'), same.hash('token', 't'))
    assert.equal(new Set([one.hash('token', 't'), one.hash('verify token', 't'), other.hash('token', 't')]).size, 3)
  })
})

describe('a key', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 7 * index))

  test('a key is the same in hexadecimal and in base64, and is written so that it can be read', () => {
    const { id } = toSecretKey(bytes)
    for (const text of [
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('base64'),
      bytes.toString('base64url'),
    ]) {
      assert.equal(parseSecretKey(text)?.id, id, text)
    }
    assert.equal(parseSecretKey(writeSecretKey(toSecretKey(bytes)))?.id, id)
    for (const text of [
      '',
      'x',
      bytes.toString('hex').slice(2),
      bytes.subarray(1).toString('base64'),
      `${'a'.repeat(42)}!`,
    ]) {
      assert.equal(parseSecretKey(text), undefined, text)
    }
  })

  test('a key is shown neither by JSON nor by what logs print', () => {
    const key = toSecretKey(bytes)
    const shown = `${JSON.stringify(key)} ${inspect(key, { depth: 5, showHidden: true })}`
    for (const form of ['hex', 'base64', 'base64url'] as const) assert.ok(!shown.includes(bytes.toString(form)))
  })
})
