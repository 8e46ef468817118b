import assert from 'node:assert/strict'
import { parser } from '@prometheus-io/lezer-promql'

/** The names of metrics in an expression of PromQL, which must be one by the grammar of Prometheus. */
export function readMetrics(expression: string): string[] {
  const names: string[] = []
  parser.parse(expression).iterate({
    enter({ type, name, from, to, node }) {
      assert.ok(!type.isError, `PromQL breaks at ${from}: ${expression}`)
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') names.push(expression.slice(from, to))
    },
  })
  return names
}
