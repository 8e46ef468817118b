import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../../test/harness/until.ts'
import type { Host } from './database-url.ts'
import { HostLocator, NoSuitableHost, TakesNoWrites } from './host-locator.ts'

const hosts = ['a', 'b', 'c'].map((name): Host => ({ name, port: 5432 }))
const [a, b, c] = hosts as [Host, Host, Host]

type State = 'writes' | 'reads' | 'refuses' | 'silent'

/** Hosts in these states, and what was done with them. */
function locate(...states: State[]) {
  const stateOf = new Map(hosts.map((host, index) => [host, states[index] ?? 'refuses']))
  const checked: string[] = []
  const found: string[] = []
  const locator = new HostLocator({
    hosts,
    async check(host, signal) {
      checked.push(host.name)
      const state = stateOf.get(host)
      if (state === 'reads') throw new TakesNoWrites()
      if (state === 'refuses') throw new Error(`connect ECONNREFUSED ${host.name}`)
      if (state === 'silent') {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      }
    },
    onFound: ({ name }) => found.push(name),
  })
  return { locator, checked, found, set: (host: Host, state: State) => stateOf.set(host, state) }
}

describe('the host that takes writes', () => {
  test('the host that takes writes is the first one of the list, and is checked once for all who ask', async () => {
    const { locator, checked, found } = locate('writes', 'writes', 'writes')
    assert.deepEqual(await Promise.all([locator.find(), locator.find()]), [a, a])
    assert.equal(await locator.find(), a)
    assert.deepEqual([checked, found], [['a'], ['a']])
  })

  test('the host that takes writes is found behind a standby and behind one that is down', async () => {
    const { locator, checked } = locate('reads', 'refuses', 'writes')
    assert.equal(await locator.find(), c)
    assert.deepEqual(checked, ['a', 'b', 'c'])
  })

  test('the host that takes writes is found behind one that is silent, which is not waited for', async () => {
    const { locator } = locate('silent', 'writes')
    const began = performance.now()
    assert.equal(await locator.find(), b)
    assert.ok(performance.now() - began < 2000)
  })

  test('the host that takes writes is searched for again when it is in question, and then may be another one', async () => {
    const { locator, found, set } = locate('writes', 'reads')
    await locator.find()
    set(a, 'refuses')
    set(b, 'writes')
    locator.invalidate(c)
    assert.equal(await locator.find(), a)
    locator.invalidate(a)
    assert.equal(await locator.find(), b)
    assert.deepEqual(found, ['a', 'b'])
  })

  test('a standby is found soon after it was promoted, while the old primary is silent', async () => {
    const { locator, checked, set } = locate('silent', 'reads', 'reads')
    const finding = locator.find()
    await until(() => checked.filter((name) => name === 'b').length > 1, 'the standby is checked again')
    set(b, 'writes')
    assert.equal(await finding, b)
  })

  test('without a host that takes writes the reason of each is given, at once', async () => {
    const { locator, set } = locate('reads', 'refuses', 'refuses')
    const explain = async () => {
      const error = await locator.find().catch((reason: unknown) => reason)
      assert.ok(error instanceof NoSuitableHost)
      return [error.message, error.isReadOnly]
    }
    const rest = 'b:5432: connect ECONNREFUSED b; c:5432: connect ECONNREFUSED c'
    assert.deepEqual(await explain(), [`a:5432: it is a standby, or read-only; ${rest}`, true])
    set(a, 'refuses')
    await until(async () => (await explain())[1] === false, 'a new search knows')
    assert.deepEqual(await explain(), [`a:5432: connect ECONNREFUSED a; ${rest}`, false])
  })

  test('who waits for a search is not left waiting when the database is closed', async () => {
    const { locator } = locate('silent', 'silent', 'silent')
    const finding = locator.find()
    locator.close()
    await assert.rejects(finding)
  })

  test('nothing is searched for after the database was closed', async () => {
    const { locator, checked } = locate('writes')
    locator.close()
    await assert.rejects(locator.find())
    assert.deepEqual(checked, [])
  })
})
