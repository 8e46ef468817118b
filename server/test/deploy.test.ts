import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { load } from 'js-yaml'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { readConfig } from '../src/config.ts'
import { settings } from '../src/settings/index.ts'
import { readHaproxy } from './harness/deploy/haproxy-lines.ts'
import { readMetrics } from './harness/deploy/promql.ts'
import { composeSchema, dashboardSchema } from './harness/deploy/schemas.ts'
import { readUnit } from './harness/deploy/units.ts'
import { useTestServer } from './harness/server.ts'

const folder = new URL('../../deploy/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const names = new Set(Object.values(settings).map(({ name }) => name))

/** Checks a value, and says what is wrong with it and where. */
function check<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const errors = [...Value.Errors(schema, value)]
  assert.deepEqual(errors, [])
  return value as Static<T>
}

/** The instructions of a Dockerfile, each on one line, without comments. */
function readDockerfile(text: string): string[] {
  const lines = text.replaceAll(/^#.*\n/gm, '').replaceAll(/\s*\\\n\s*/g, ' ')
  return lines.split('\n').filter((line) => line !== '')
}

describe('deploy/', () => {
  const server = useTestServer({ engine: 'sqlite' })

  /** Without the endings that a histogram adds. */
  async function checkMetrics(expressions: readonly string[]): Promise<void> {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const used = expressions.flatMap(readMetrics)
    assert.ok(used.length > 0)
    for (const name of used.filter((one) => one !== 'up')) {
      assert.ok(known.has(name) || known.has(name.replace(/_(bucket|count|sum)$/, '')), `${name} is not a metric`)
    }
  }

  test('compose.yaml: every setting exists and has a value that is taken, and everything named is there', () => {
    const { services, volumes } = check(composeSchema, load(read('compose.yaml')))
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

  test('compose.yaml: images of others have a version, ours are built from files that are there, and no start installs anything', () => {
    const text = read('compose.yaml')
    for (const [name, { image, build }] of Object.entries(check(composeSchema, load(text)).services)) {
      if (build) assert.ok(read(build.dockerfile), name)
      else if (image !== 'switchboard') assert.match(image, /:(\d+(\.\d+)*|RELEASE\.[\dTZ-]+)$/, name)
    }
    assert.doesNotMatch(text, /apt-get|apk add|curl /)
    const pooler = readDockerfile(read('pgbouncer.Dockerfile'))
    assert.match(pooler[0] ?? '', /^FROM debian:\d+-slim$/)
    assert.ok(pooler.some((line) => line.startsWith('RUN ') && /install .*'pgbouncer=\d+\.\d+\.\*'/.test(line)))
    assert.deepEqual(
      pooler.filter((line) => line.startsWith('USER ')),
      ['USER postgres'],
    )
    // What the image writes at its start is what PgBouncer reads.
    const [, users] = /^auth_file = (\S+)$/m.exec(read('pgbouncer.ini')) ?? []
    assert.ok(pooler.some((line) => line.startsWith('CMD ') && line.includes(`> ${users} `)))
  })

  test('Dockerfile: one Node.js, the one of package.json, and the user of the server owns nothing of what it runs', () => {
    const lines = readDockerfile(read('../Dockerfile'))
    const { dependencies } = JSON.parse(read('../package.json')) as { dependencies: Record<string, string> }
    const image = `FROM node:${dependencies['node']}-slim`
    assert.deepEqual(
      lines.filter((line) => line.startsWith('FROM ')),
      [`${image} AS build`, image],
    )
    assert.ok(lines.some((line) => / npm install .*\/switchboard-server-\*\.tgz$/.test(line)))
    assert.ok(lines.some((line) => line.includes(`image.base.name="docker.io/library/${image.slice('FROM '.length)}"`)))
    // The last stage copies what was installed, as root, and makes the folder of the data.
    const last = lines.slice(lines.indexOf(image) + 1)
    assert.deepEqual(
      last.filter((line) => /^(RUN|COPY|ADD|USER) /.test(line)),
      [
        'COPY --from=build /opt/switchboard /opt/switchboard',
        'RUN ln -s /opt/switchboard/node_modules/.bin/switchboard /usr/local/bin/switchboard && install --directory --owner=node --group=node --mode=700 /data',
        'USER 1000',
      ],
    )
  })

  test('Dockerfile: everything that it copies is there, and is not kept out of the build', () => {
    const ignored = read('../.dockerignore').split('\n')
    assert.equal(ignored[0], '*')
    const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    for (const line of readDockerfile(read('../Dockerfile')).filter((one) => /^COPY [^-.]/.test(one))) {
      for (const path of line.split(' ').slice(1, -1)) {
        assert.ok(kept.includes(path) && existsSync(new URL(`../${path}`, folder)), path)
      }
    }
  })

  test('haproxy.cfg: sends requests to the api processes of compose.yaml, and keeps health and metrics private', () => {
    const sections = readHaproxy(read('haproxy.cfg'))
    const linesOf = (kind: string) => sections.filter((one) => one.kind === kind).flatMap(({ lines }) => lines)
    assert.deepEqual(
      linesOf('backend').filter((line) => line.startsWith('server ')),
      ['server api1 api1:8080 check', 'server api2 api2:8080 check'],
    )
    assert.ok(
      linesOf('frontend').includes('acl is_private path,url_dec -m reg ^/+(healthz|readyz(/+process)?|metrics)/*$'),
    )
    assert.ok(linesOf('frontend').includes('http-request deny deny_status 404 if is_private'))
    const named = [...linesOf('frontend'), ...linesOf('backend')].flatMap((line) =>
      [...line.matchAll(/(?:default_backend|resolvers) (\w+)/g)].map(([, name]) => name),
    )
    for (const name of named)
      assert.ok(
        sections.some((section) => section.name === name),
        `there is no ${name}`,
      )
  })

  test('haproxy-postgres.cfg: leads to the server that Patroni calls the primary, and ends connections to one that no longer is', () => {
    const backend = readHaproxy(read('haproxy-postgres.cfg')).find(({ kind }) => kind === 'backend')
    const lines = backend?.lines ?? assert.fail()
    assert.ok(lines.includes('option httpchk GET /primary'))
    assert.ok(lines.some((line) => /^default-server .* on-marked-down shutdown-sessions /.test(line)))
    const servers = lines.filter((line) => line.startsWith('server '))
    assert.equal(servers.length, 3)
    for (const line of servers) assert.match(line, /:5432 check port 8008$/)
  })

  test('systemd units: known sections and directives with values that they take, and only settings that exist', () => {
    const units = readdirSync(folder).filter((name) => name.endsWith('.service'))
    assert.deepEqual(units, ['switchboard.service', 'switchboard@.service'])
    const { publishConfig } = JSON.parse(read('../server/package.json')) as { publishConfig: { bin: object } }
    const [bin] = Object.values(publishConfig.bin)
    for (const name of units) {
      const directives = readUnit(read(name))
      assert.deepEqual([...new Set(directives.map(({ section }) => section))], ['Unit', 'Service', 'Install'])
      for (const one of directives.filter((directive) => directive.name === 'Environment')) {
        const setting = one.value.split('=')[0] as string
        assert.ok(names.has(setting) || setting === 'NODE_ENV', `${setting} is not a setting`)
      }
      const start = directives.find((one) => one.name === 'ExecStart')?.value ?? ''
      assert.deepEqual(start.match(/\/opt\/switchboard\/\S+/g), [
        '/opt/switchboard/node_modules/.bin/node',
        `/opt/switchboard/node_modules/@switchboard/server/${bin}`,
      ])
    }
  })

  test('the checks find what is wrong', () => {
    const compose = { services: { a: { image: 'a', enviroment: {} } }, volumes: {} }
    for (const wrong of [
      () => check(composeSchema, compose),
      () => check(dashboardSchema, { ...JSON.parse(read('grafana.json')), panels: [{ id: 1 }] }),
      () => readHaproxy('backend api\n  balence leastconn'),
      () => readUnit('[Service]\nRestart=sometimes'),
      () => readUnit('[Service]\nExecStrat=/bin/true'),
      () => readMetrics('sum(rate(switchboard_events_received_total[5m)'),
    ]) {
      assert.throws(wrong, { code: 'ERR_ASSERTION' })
    }
  })

  test('docs/observing.md lists every metric of the service, and no other', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const there = [...text.matchAll(/^# TYPE (switchboard_\S+)/gm)].map(([, name]) => name).sort()
    const page = readFileSync(new URL('../docs/observing.md', folder), 'utf8')
    const listed = page.split('\n').filter((line) => line.startsWith('| `switchboard_'))
    const named = listed.flatMap((line) => line.split('|')[1]?.match(/switchboard_\w+/g) ?? [])
    assert.deepEqual(named.sort(), there)
  })

  test('alerts.yaml: every rule is complete, and names metrics that there are', async () => {
    const { groups } = load(read('alerts.yaml')) as {
      groups: {
        rules: {
          alert: string
          expr: string
          for: string
          labels: object
          annotations: { summary: string; runbook_url: string }
        }[]
      }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const { alert, for: time, labels, annotations } of rules) {
      assert.match(time, /^\d+[smh]$/)
      assert.ok(labels && annotations.summary)
      assert.equal(annotations.runbook_url, `docs/runbook.md#${alert.toLowerCase()}`)
    }
    const runbook = readFileSync(new URL('../docs/runbook.md', folder), 'utf8')
    assert.deepEqual(
      [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name),
      rules.map(({ alert }) => alert),
    )
    assert.equal([...runbook.matchAll(/^\*\*(?:It means|Look at|Do|Do not)\*\*: \S/gm)].length, 4 * rules.length)
    await checkMetrics(rules.map(({ expr }) => expr))
    // Another job of the same Prometheus has metrics of the same names: those of Node, and of another installation.
    for (const { alert, expr } of rules) assert.match(expr, /^[^{]*\{job="switchboard"/, alert)
  })

  test('alerts.test.yaml: has a moment for each alert at which it fires, and an earlier one at which nothing does', () => {
    const alerts = [...read('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string)
    const { rule_files, tests } = load(read('alerts.test.yaml')) as {
      rule_files: string[]
      tests: { name: string; promql_expr_test: { eval_time: string; exp_samples: { labels: string }[] }[] }[]
    }
    assert.deepEqual(rule_files, ['alerts.yaml'])
    for (const alert of alerts) {
      const found = tests.find(({ name }) => name.startsWith(alert) || name.includes(` and ${alert}`))
      const [earlier, later] = found?.promql_expr_test ?? assert.fail(`${alert} has no test`)
      assert.deepEqual(earlier?.exp_samples, [], alert)
      assert.ok(
        later?.exp_samples.some(({ labels }) => labels.includes(`alertname="${alert}",alertstate="firing"`)),
        alert,
      )
    }
  })

  test('grafana.json: a dashboard with panels that do not overlap, and metrics that there are', async () => {
    const { panels } = check(dashboardSchema, JSON.parse(read('grafana.json')))
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length)
    await checkMetrics(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
  })
})
