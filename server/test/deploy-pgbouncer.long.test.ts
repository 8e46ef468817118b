import assert from 'node:assert/strict'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { findNobody, findProgram, Program, takePort } from './harness/cluster/programs.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { startPostgres } from './harness/postgres.ts'

const read = (name: string) => readFile(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')
const password = `it's "quoted"`

test('the service works behind PgBouncer with pgbouncer.ini, and the users that its image writes', async (t) => {
  const program = await findProgram('pgbouncer')
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  if (process.getuid?.() === 0) {
    const { uid, gid } = await findNobody()
    await chown(folder, uid, gid)
  }
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`CREATE ROLE switchboard LOGIN PASSWORD ${client.escapeLiteral(password)}`)
  await client.query('CREATE DATABASE switchboard OWNER switchboard')
  await client.end()

  const own = await takePort()
  const { hostname, port } = new URL(postgres.url)
  const ini = (await read('pgbouncer.ini'))
    .replace('host=postgres port=5432', `host=${hostname} port=${port}`)
    .replace('listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1')
    .replace('listen_port = 6432', `listen_port = ${own}`)
    .replace('/run/pgbouncer/', `${folder}/`)
  await writeFile(join(folder, 'pgbouncer.ini'), ini)
  const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(await read('pgbouncer.Dockerfile')) ?? []
  const [shell = '', ...args] = JSON.parse(command) as string[]
  const placed = args.map((text) =>
    text
      .replace('/run/pgbouncer/', `${folder}/`)
      .replace('exec pgbouncer /etc/pgbouncer/', `exec ${program} ${folder}/`),
  )
  const started = [`POSTGRES_PASSWORD=${password}`, shell, ...placed]
  const bouncer = await new Program('/usr/bin/env', started, own, { isUnprivileged: true }).start()
  t.after(() => bouncer.kill())

  const urlWith = (secret: string) =>
    `postgres://switchboard:${encodeURIComponent(secret)}@127.0.0.1:${own}/switchboard`
  const settings = { DATA_DIR: folder, DATABASE_URL: urlWith(password), DATABASE_POOLER: 'transaction' }
  const server = await startCommand(['serve', '--port', '0'], { cwd: folder, env: settings })
  t.after(() => server.stop('SIGKILL'))
  const response = await fetch(`${server.url}/v23.0/4000000000000001`, {
    headers: { authorization: 'Bearer demo-token' },
  })
  assert.equal(response.status, 200, await response.text())
  const refused = await runCommand(['migrate'], {
    cwd: folder,
    env: { ...settings, DATABASE_URL: urlWith('another') },
  })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^switchboard: cannot reach the database of DATABASE_URL: [^\n]*\n$/)
  assert.doesNotMatch(refused.stderr, /another/)
})
