import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CollectedMetric, readAttributes } from '../../test/harness/collector.ts'
import { useExportingServer } from '../../test/harness/exporting-server.ts'
import { until } from '../../test/harness/until.ts'
import { ids, tokens } from '../../test/harness/world.ts'
import { second } from '../base/time/duration.ts'

const path = '/v1/metrics'

describe('metrics by OTLP', () => {
  const { collector, warnings, serverOf } = useExportingServer('sqlite', (url) => ({
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}${path}`,
    OTEL_METRIC_EXPORT_INTERVAL: String(second),
  }))

  /** What was sent after this. */
  const collectNext = async () => {
    const posts = collector.countPosts(path)
    await until(async () => collector.countPosts(path) > posts, 'metrics are exported')
  }
  const read = () => serverOf().client.get(`/v23.0/${ids.account}`, { token: tokens.owner })

  test('what /metrics shows is exported under the same names, with its help, type, unit and values', async () => {
    for (let count = 0; count < 3; count++) assert.equal((await read()).status, 200)
    await collectNext()
    await collectNext()
    const text = await (await fetch(`${serverOf().url}/metrics`)).text()
    const described = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
    const exported = new Map(collector.metrics.map((metric) => [metric.name, describeType(metric)]))
    const shown = [...described].filter(([name]) => new RegExp(`^${name}(_count)?[ {]`, 'm').test(text))
    assert.deepEqual([...exported].sort(), shown.sort())
    const requests = collector.findMetric('switchboard_request_duration_seconds')
    assert.deepEqual(
      [requests?.unit, requests?.description],
      ['s', 'Time to answer a request, by operation and status.'],
    )
    assert.equal(requests?.histogram?.aggregationTemporality, 2)
    const reads = requests?.histogram?.dataPoints.find(
      ({ attributes }) => readAttributes(attributes)['operation'] === 'account.read',
    )
    assert.deepEqual(readAttributes(reads?.attributes ?? []), { operation: 'account.read', status: '200' })
    const { count, bucketCounts = [], explicitBounds = [] } = reads ?? {}
    assert.deepEqual(
      [count, bucketCounts.length, bucketCounts.reduce<number>((sum, one) => sum + Number(one), 0)],
      [3, 14, 3],
    )
    assert.deepEqual([explicitBounds[0], explicitBounds.at(-1)], [0.001, 10])
    assert.ok(BigInt(reads?.startTimeUnixNano ?? 0) < BigInt(reads?.timeUnixNano ?? 0))
    const bytes = collector.findMetric('switchboard_files_bytes_total')
    assert.deepEqual([bytes?.unit, bytes?.sum?.isMonotonic], ['By', true])
    const [build] = collector.findMetric('switchboard_build_info')?.gauge?.dataPoints ?? []
    assert.deepEqual([readAttributes(build?.attributes ?? [])['database'], build?.asDouble], ['sqlite', 1])
  })

  test('the resource names the process; traces are not exported beside', async () => {
    const state = await serverOf().client.get('/operator/state', { token: tokens.operator })
    await until(async () => collector.resources.has(path), 'metrics are exported')
    assert.equal(collector.resources.get(path)?.['service.instance.id'], state.body.processes[0].id)
    assert.deepEqual([...collector.posts.keys()], [path])
  })

  test('a collector that is down costs no request anything, and one line of the log', async () => {
    collector.isBroken = true
    for (let round = 0; round < 2; round++) {
      await collectNext()
      assert.equal((await read()).status, 200)
    }
    await until(async () => warnings.length > 0, 'it is logged')
    assert.deepEqual(warnings, ['metrics cannot be exported, and are dropped'])
    collector.isBroken = false
  })
})

function describeType({ gauge, sum, histogram }: CollectedMetric): string {
  if (gauge) return 'gauge'
  return sum ? 'counter' : histogram ? 'histogram' : 'nothing'
}
