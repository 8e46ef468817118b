import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { load } from 'js-yaml'
import { readConfig, settings } from '../src/config.ts'
import { useTestServer } from './harness/server.ts'

const folder = new URL('../../deploy/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const names = new Set(Object.values(settings).map(({ name }) => name))

interface Compose {
  readonly services: Record<
    string,
    { image?: string; environment?: Record<string, string>; depends_on?: string[]; volumes?: string[] }
  >
  readonly volumes: Record<string, unknown>
}

/** The names of metrics in an expression: words that are no function, label or keyword. */
function metricsIn(expression: string): string[] {
  const plain = expression.replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)/g, ' ')
  const words = plain.match(/\b[a-z_]+\b(?!\s*\()/g) ?? []
  return words.filter((word) => word.includes('_') && !['histogram_quantile'].includes(word))
}

describe('deploy/', () => {
  const server = useTestServer({ engine: 'sqlite' })

  /** Without the endings that a histogram adds. */
  async function checkMetrics(expressions: readonly string[]): Promise<void> {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const used = expressions.flatMap(metricsIn)
    assert.ok(used.length > 0)
    for (const name of used) {
      assert.ok(known.has(name) || known.has(name.replace(/_(bucket|count|sum)$/, '')), `${name} is not a metric`)
    }
  }

  test('compose.yaml: every setting exists and has a value that is taken, and everything named is there', () => {
    const { services, volumes } = load(read('compose.yaml')) as Compose
    const own = Object.entries(services).filter(([, { image }]) => image === 'switchboard')
    assert.deepEqual(
      own.map(([name, { environment }]) => [name, environment?.['ROLE']]),
      [
        ['api1', 'api'],
        ['api2', 'api'],
        ['worker1', 'worker'],
        ['worker2', 'worker'],
      ],
    )
    const values: Record<string, string> = {
      PUBLIC_URL: 'https://api.example.com',
      SECRETS_KEY: 'a'.repeat(64),
      POSTGRES_PASSWORD: 'password',
      STORAGE_KEY: 'key',
      STORAGE_SECRET: 'secret',
    }
    for (const [, { environment = {} }] of own) {
      const given = Object.entries(environment).map(([name, text]) => {
        assert.ok(names.has(name) || name === 'NODE_ENV', `${name} is not a setting`)
        return [name, text.replaceAll(/\$\{(\w+):\?\}/g, (_, variable) => values[variable] ?? assert.fail(variable))]
      })
      const config = readConfig(Object.fromEntries(given))
      assert.deepEqual(
        [config.production, config.databasePooler, config.filesUrl?.bucket],
        [true, 'transaction', 'switchboard'],
      )
    }
    for (const { depends_on = [], volumes: mounted = [] } of Object.values(services)) {
      for (const name of depends_on) assert.ok(services[name], `there is no service ${name}`)
      for (const mount of mounted) {
        const source = mount.split(':')[0] as string
        assert.ok(source.startsWith('./') ? read(source.slice(2)) : source in volumes, `there is no ${source}`)
      }
    }
  })

  test('haproxy.cfg: sends requests to the api processes of compose.yaml, and keeps health and metrics private', () => {
    const text = read('haproxy.cfg')
    assert.deepEqual(
      [...text.matchAll(/^ {2}server (\S+) (\S+) check$/gm)].map(([, name, at]) => `${name} ${at}`),
      ['api1 api1:8080', 'api2 api2:8080'],
    )
    assert.match(text, /acl is_private path \/healthz \/readyz \/metrics\n/)
    for (const line of text.split('\n'))
      assert.match(line, /^(#.*|\w+( \w+)?| {2}\S.*|)$/, 'sections at the margin, the rest indented')
  })

  test('systemd units: known sections, and only settings that exist', () => {
    const units = readdirSync(folder).filter((name) => name.endsWith('.service'))
    assert.deepEqual(units, ['switchboard.service', 'switchboard@.service'])
    for (const name of units) {
      const lines = read(name).split('\n')
      const sections = lines.filter((line) => line.startsWith('['))
      assert.deepEqual(sections, ['[Unit]', '[Service]', '[Install]'])
      for (const line of lines) assert.match(line, /^(#.*|\[\w+\]|[A-Z]\w+=.*|)$/, name)
      for (const line of lines.filter((one) => one.startsWith('Environment='))) {
        const setting = line.slice('Environment='.length).split('=')[0] as string
        assert.ok(names.has(setting) || setting === 'NODE_ENV', `${setting} is not a setting`)
      }
    }
  })

  test('docs/running.md lists every metric of the service, and no other', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const there = [...text.matchAll(/^# TYPE (switchboard_\S+)/gm)].map(([, name]) => name).sort()
    const page = readFileSync(new URL('../docs/running.md', folder), 'utf8')
    const listed = page.split('\n').filter((line) => line.startsWith('| `switchboard_'))
    const named = listed.flatMap((line) => line.split('|')[1]?.match(/switchboard_\w+/g) ?? [])
    assert.deepEqual(named.sort(), there)
  })

  test('alerts.yaml: every rule is complete, and names metrics that there are', async () => {
    const { groups } = load(read('alerts.yaml')) as {
      groups: {
        rules: { alert: string; expr: string; for: string; labels: object; annotations: { summary: string } }[]
      }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const { expr, for: time, labels, annotations } of rules) {
      assert.match(time, /^\d+[smh]$/)
      assert.ok(labels && annotations.summary)
      assert.equal(expr.split('(').length, expr.split(')').length, expr)
    }
    await checkMetrics(rules.map(({ expr }) => expr).filter((expr) => !expr.startsWith('up{')))
  })

  test('grafana.json: panels that do not overlap, with metrics that there are', async () => {
    const { panels } = JSON.parse(read('grafana.json')) as {
      panels: { id: number; gridPos: { x: number; y: number }; targets: { expr: string }[] }[]
    }
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.equal(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size, panels.length)
    await checkMetrics(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
  })
})
