import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { Client } from '../../test/harness/client.ts'
import { onOneDatabase } from '../../test/harness/databases.ts'
import { startSecondProcess } from '../../test/harness/second-process.ts'
import { useTestServer } from '../../test/harness/server.ts'
import { until } from '../../test/harness/until.ts'
import { tokens } from '../../test/harness/world.ts'
import { hour, minute } from '../base/time/duration.ts'
import type { Environment } from '../config.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly settings?: readonly string[]
  readonly processes?: readonly { readonly settings: readonly string[] }[]
}

/** The members of the warning: names, and no values. */
const warned = ['hostname', 'level', 'msg', 'pid', 'processes', 'settings', 'time']

onOneDatabase('processes of one database', 'postgres', (engine) => {
  const lines: Line[] = []
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const server = useTestServer({ engine, log: Object.assign(pino({ level: 'info' }, sink), { line() {} }) })
  /** Another process, with the settings that the harness gives the first one and those of `env`. It ends with the test at the latest. */
  const startSecond = async (t: TestContext, env: Environment = {}) => {
    const { app, client } = await startSecondProcess(server, { WEBHOOK_TIMEOUT: '1m', ...env })
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= app.close(1000)
      return closing
    }
    t.after(close)
    return { client, close }
  }
  const reports = () => lines.filter(({ msg }) => msg.includes('shared settings'))
  const takeReports = () => {
    const taken = reports()
    lines.length = 0
    return taken
  }

  async function readState(client: Client) {
    const { body } = await client.get('/operator/state', { token: tokens.operator })
    // The process that responds is the last.
    return { self: body.processes.at(-1), others: body.processes.slice(0, -1) }
  }

  async function readOthers(client: Client = server.client): Promise<[string, string[] | null][]> {
    const { others } = await readState(client)
    return others.map(({ id, differing_settings }: { id: string; differing_settings: string[] | null }) => [
      id,
      differing_settings,
    ])
  }

  async function countDisagreeing(client: Client = server.client): Promise<number> {
    const { text } = await client.get('/metrics')
    return Number(/^switchboard_settings_disagree (\d+)$/m.exec(text)?.[1])
  }

  /** Two heartbeats of the first process: the second begins when the comparison of the first is over. */
  async function beatTwice(): Promise<void> {
    for (const _ of [1, 2]) {
      server.clock.advance(1000)
      await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '1s' } })
      const { self } = await readState(server.client)
      const now = async () => {
        const { query } = server.database.read
        const row = await query
          .selectFrom('processes')
          .select('heard_time')
          .where('id', '=', self.id)
          .executeTakeFirst()
        return row?.heard_time === Date.parse(self.heard_time)
      }
      await until(now, 'the process has reported')
    }
  }

  test('that agree say nothing', async (t) => {
    const second = await startSecond(t, { HOST: 'localhost', REQUEST_LOG: '5' })
    await beatTwice()
    assert.deepEqual(
      (await readOthers()).map(([, settings]) => settings),
      [[]],
    )
    assert.deepEqual([await countDisagreeing(), await countDisagreeing(second.client)], [0, 0])
    assert.deepEqual(reports(), [])
  })

  test('that differ are named with their settings, once, until they agree again; no value is shown', async (t) => {
    const second = await startSecond(t, { MAX_TEMPLATES: '4711', RATE_LIMIT_PLATFORM: '4712/1h' })
    const differing = ['MAX_TEMPLATES', 'RATE_LIMIT_PLATFORM']
    const [[id, seen] = []] = await readOthers()
    assert.deepEqual(seen, differing)
    // The second one has compared when it registered.
    assert.equal(await countDisagreeing(second.client), 1)
    assert.deepEqual((await readOthers(second.client))[0]?.[1], differing)
    await beatTwice()
    assert.equal(await countDisagreeing(), 1)
    const [warning, ...rest] = takeReports()
    assert.deepEqual(rest, [])
    assert.deepEqual([warning?.level, warning?.settings], [40, differing])
    const { role, version } = (await readState(second.client)).self
    assert.deepEqual(warning?.processes, [{ id, role, version, settings: differing }])
    const stored = await server.database.read.query.selectFrom('process_settings').selectAll().execute()
    assert.equal(stored.length, 2)
    // By their form, not by a search for the values: a hash may happen to contain one.
    const hashes = stored.flatMap((row) => Object.values(row.hashes))
    assert.ok(hashes.length > 100)
    for (const hash of hashes) assert.match(hash, /^[\w+/=-]{16}$/)
    assert.deepEqual(Object.keys(warning ?? {}).toSorted(), warned)

    await second.close()
    await beatTwice()
    assert.deepEqual(await readOthers(), [])
    assert.equal(await countDisagreeing(), 0)
    assert.deepEqual(
      takeReports().map(({ level, msg }) => [level, msg]),
      [[30, 'all processes have the same shared settings again']],
    )
  })

  test('compare secrets, too, and what only the console needs only where it is served', async (t) => {
    const oidc = {
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_CLIENT_ID: 'id',
      OIDC_CLIENT_SECRET: 'x',
      OIDC_ALLOW: 'a@b.c',
    }
    for (const [env, differing] of [
      [{ ROLE: 'api' }, Object.keys(oidc).toSorted()],
      [{ CONSOLE: 'off' }, []],
      [{ CONSOLE: 'off', OIDC_PEOPLE: 'on' }, [...Object.keys(oidc), 'OIDC_PEOPLE'].toSorted()],
      [{ ROLE: 'worker' }, []],
    ] as const) {
      const second = await startSecond(t, { ...oidc, ...env })
      assert.deepEqual((await readOthers())[0]?.[1], differing)
      await second.close()
    }
    // The dialog is served by both: a sign-in that begins at one may end at the other.
    await startSecond(t, { ...oidc, CONSOLE: 'off', OIDC_PEOPLE: 'on' })
    const { client } = await startSecond(t, { CONSOLE: 'off' })
    assert.deepEqual((await readOthers(client)).at(-1)?.[1], ['OIDC_PEOPLE'])
  })

  test('of an earlier release say nothing, and a setting of another release is no difference; who is gone is forgotten', async () => {
    const { database } = server
    const now = Date.parse((await readState(server.client)).self.heard_time)
    const settings = { digest: 'another', hashes: { LATER_SETTING: 'a hash' } }
    await database.transaction(async ({ query }) => {
      for (const [id, heard_time] of [
        ['earlier', now],
        ['later', now],
        ['killed', now - hour - minute],
      ] as const) {
        const row = { id, role: 'all', version: '9.9.9', started_time: 0, heard_time }
        await query.insertInto('processes').values(row).execute()
        if (id === 'earlier') continue
        await query
          .insertInto('process_settings')
          .values({ process_id: id, ...settings })
          .execute()
      }
    })
    assert.deepEqual(
      new Map(await readOthers()),
      new Map([
        ['earlier', null],
        ['later', []],
      ]),
    )
    await beatTwice()
    assert.equal(await countDisagreeing(), 0)
    assert.deepEqual(reports(), [])
    const left = await database.read.query.selectFrom('process_settings').select('process_id').execute()
    assert.ok(!left.some(({ process_id }) => process_id === 'killed'))
  })
})
