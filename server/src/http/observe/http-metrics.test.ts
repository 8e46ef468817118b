import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from '../../../test/harness/until.ts'
import { Metrics } from './http-metrics.ts'

test('every app shows the metrics of the process', async () => {
  for (const { registry } of [new Metrics(), new Metrics()]) {
    const text = await registry.metrics()
    assert.match(text, /^nodejs_eventloop_lag_p99_seconds \S+$/m)
    assert.match(text, /^process_cpu_seconds_total \S+$/m)
  }
})

test('the metrics of an app end with it: nothing of the process keeps them', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept = new WeakRef(new Metrics().registry)
  await until(() => {
    collect()
    return kept.deref() === undefined
  }, 'they are collected')
})
