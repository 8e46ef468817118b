import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { causes } from './harness/alerts/causes.ts'
import { Installation } from './harness/alerts/installation.ts'
import type { FiringAlert, Labels } from './harness/alerts/prometheus.ts'
import { listAlerts, shortenRules } from './harness/alerts/shortened-rules.ts'
import { until } from './harness/until.ts'

const rules = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8')
/** Longer than any alert waits before it fires, in seconds. */
const healthySeconds = 20

test('every alert has a cause that makes it fire', () => {
  // The causes name the addresses of the processes, which do not matter here.
  const at = { addressOf: () => '' } as unknown as Installation
  const caused = new Set(causes.flat().flatMap((cause) => Object.keys(cause.alerts(at))))
  const missing = listAlerts(rules).filter((name) => !caused.has(name))
  assert.deepEqual(missing, [], 'add a cause to server/test/harness/alerts/causes.ts for each of these')
})

function isLike(alert: FiringAlert, name: string, labels: Labels): boolean {
  return alert.name === name && Object.entries(labels).every(([key, value]) => alert.labels[key] === value)
}

/** The rules as they are shipped, but sixty times as quick, in a real Prometheus that scrapes real processes. */
describe('alerts', () => {
  const held: { at?: Installation } = {}
  before(async () => {
    held.at = await Installation.start(shortenRules(rules))
  })
  after(() => held.at?.end())

  const whenQuiet = ({ prometheus }: Installation) => until(() => prometheus.isQuiet(), 'nothing fires or is about to')

  test('none fires while all is well', async () => {
    const at = held.at as Installation
    at.traffic.repeat(at.traffic.write)
    at.traffic.repeat(at.traffic.read)
    await until(() => at.prometheus.hasSeen(3, healthySeconds), 'every scrape found the processes')
    assert.deepEqual(await at.prometheus.listFired(healthySeconds), [])
  })

  for (const group of causes) {
    test(group.map(({ what }) => what).join(', and '), async (t) => {
      const at = held.at as Installation
      await whenQuiet(at)
      const began = performance.now()
      const note = (what: string) => t.diagnostic(`${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
      const ends = await Promise.all(group.map(({ begin }) => begin(at)))
      const expected = group.flatMap(({ alerts }) =>
        Object.entries(alerts(at)).flatMap(([name, all]) => all.map((labels) => ({ name, labels }))),
      )
      try {
        for (const { name, labels } of expected) {
          const text = `${name} fires with ${JSON.stringify(labels)}`
          await until(async () => (await at.prometheus.listFiring()).some((one) => isLike(one, name, labels)), text)
          note(`${name} fired`)
        }
        for (const { annotations } of await at.prometheus.listFiring()) {
          assert.doesNotMatch(annotations['summary'] ?? '', /no value|error|\{\{/)
          assert.match(annotations['runbook_url'] ?? '', /^docs\/runbook\.md#/)
        }
      } finally {
        for (const end of ends) await end()
      }
      await whenQuiet(at)
      note('nothing fired any more')
      const allowed = new Set([...expected.map(({ name }) => name), ...group.flatMap(({ also = [] }) => also)])
      const fired = await at.prometheus.listFired((performance.now() - began) / 1000)
      assert.deepEqual(
        fired.filter((name) => !allowed.has(name)),
        [],
      )
    })
  }
})
