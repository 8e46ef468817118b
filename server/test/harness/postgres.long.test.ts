import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createDatabase, ensureTemplate, type SharedServer, startPostgres, testDatabaseServer } from './postgres.ts'

const harness = import.meta.resolve('./postgres.ts')

describe('startPostgres', () => {
  it('gives a server with the settings for tests, which stop() ends and whose folder it removes', async () => {
    const server = await startPostgres()
    const shown = await query(
      server.url,
      `select name, setting from pg_settings where name in
        ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'full_page_writes', 'max_connections',
         'server_encoding', 'lc_collate', 'port', 'data_directory')`,
    )
    const settings = Object.fromEntries(shown.map(({ name, setting }) => [name, setting]))
    const { data_directory: data, ...others } = settings
    assert.deepEqual(others, {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      server_encoding: 'UTF8',
      port: String(server.port),
    })
    assert.ok(isAlive(server.pid))
    assert.ok(existsSync(dirname(data)))

    await server.stop()
    assert.ok(!isAlive(server.pid))
    assert.ok(!existsSync(dirname(data)))
    await server.stop()
  })

  it('leaves neither process nor folder behind when the process that started it is killed', async () => {
    const owner = runScript(`
      import { startPostgres } from '${harness}'
      const { url, pid } = await startPostgres()
      console.log(JSON.stringify({ url, pid }))
      setInterval(() => {}, 1000)
    `)
    const { url, pid } = JSON.parse(await readLine(owner))
    const [row] = await query(url, 'show data_directory')
    const folder = dirname(row?.data_directory ?? '')
    assert.ok(isAlive(pid))

    owner.kill('SIGKILL')
    await until(() => !isAlive(pid) && !existsSync(folder), 'the server and its folder are gone')
  })
})

describe('createDatabase', () => {
  let server: SharedServer
  before(async () => {
    server = await testDatabaseServer()
  })
  after(() => server.release())

  it('gives databases that do not see each other', async () => {
    const [one, other] = await Promise.all([createDatabase(server.url), createDatabase(server.url)])
    await query(one.url, 'create table things (id int)')
    await assert.rejects(query(other.url, 'select * from things'), { code: '42P01' })
    await Promise.all([one.drop(), other.drop()])
  })

  it('drops a database that is still in use', async () => {
    const database = await createDatabase(server.url)
    const client = new pg.Client(database.url)
    await client.connect()
    // pg says 'error' more than once when a connection is cut off.
    client.on('error', () => {})
    const disconnected = new Promise((resolve) => client.once('end', resolve))
    await database.drop()
    await disconnected
    await assert.rejects(query(database.url, 'select 1'), { code: '3D000' })
  })
})

describe('ensureTemplate', () => {
  it('fills the template once for all who ask at the same moment, and its copies are apart from each other', async () => {
    const server = await testDatabaseServer()
    const template = `template_${process.pid}`
    let fills = 0
    const fill = async (url: string) => {
      fills++
      await query(url, 'create table things (id int)')
    }
    await Promise.all([1, 2, 3].map(() => ensureTemplate(server.url, template, fill)))
    assert.equal(fills, 1)
    const copies = await Promise.all([createDatabase(server.url, template), createDatabase(server.url, template)])
    await query(copies[0].url, 'insert into things values (1)')
    assert.deepEqual(await query(copies[0].url, 'select id from things'), [{ id: 1 }])
    assert.deepEqual(await query(copies[1].url, 'select id from things'), [])

    await Promise.all(copies.map(({ drop }) => drop()))
    await query(server.url, `alter database ${template} is_template false`)
    await query(server.url, `drop database ${template}`)
    await server.release()
  })

  it('fills it anew when the first try broke off', async () => {
    const server = await testDatabaseServer()
    const template = `broken_template_${process.pid}`
    const breakOff = async (url: string) => {
      await query(url, 'create table things (id int)')
      throw new Error('it broke off')
    }
    await assert.rejects(ensureTemplate(server.url, template, breakOff), /it broke off/)
    await ensureTemplate(server.url, template, async (url) => {
      await query(url, 'create table things (id int)')
    })
    await query(server.url, `alter database ${template} is_template false`)
    await query(server.url, `drop database ${template}`)
    await server.release()
  })
})

describe('testDatabaseServer', () => {
  it('gives the server of TEST_DATABASE_URL when that is set', async () => {
    const answer = runScript(
      `
      import { testDatabaseServer } from '${harness}'
      const { url, release } = await testDatabaseServer()
      console.log(url)
      await release()
    `,
      'postgres://somebody@127.0.0.1:1/tests',
    )
    assert.equal(await readLine(answer), 'postgres://somebody@127.0.0.1:1/tests')
    assert.deepEqual(await once(answer, 'exit'), [0, null])
  })

  it('starts one server for the process otherwise, which does not keep the process from ending', async () => {
    const answer = runScript(`
      import { testDatabaseServer } from '${harness}'
      const [one, other] = await Promise.all([testDatabaseServer(), testDatabaseServer()])
      await one.release()
      console.log(JSON.stringify([one.url, other.url]))
    `)
    const [one, other] = JSON.parse(await readLine(answer))
    assert.equal(one, other)
    assert.deepEqual(await once(answer, 'exit'), [0, null])
    await until(async () => !(await accepts(one)), 'the server is gone')
  })
})

function runScript(source: string, testDatabaseUrl?: string): ChildProcess {
  const env = { ...process.env, TEST_DATABASE_URL: testDatabaseUrl }
  return spawn(process.execPath, ['--input-type=module', '--eval', source], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function readLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout)
  for await (const line of createInterface(child.stdout)) return line
  throw new Error('the process ended without a line')
}

async function query(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function accepts(url: string): Promise<boolean> {
  return query(url, 'select 1').then(
    () => true,
    () => false,
  )
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, `not in time: ${what}`)
    await pause(20)
  }
}
