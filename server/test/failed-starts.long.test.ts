import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findNobody, findProgram } from './harness/cluster/programs.ts'
import { runProcess } from './harness/command.ts'
import { makeStorePlace } from './harness/databases.ts'
import { startDebianPostgres } from './harness/debian-postgres.ts'

const main = new URL('../src/main.js', import.meta.url).pathname

test('a start is refused in one line, and the process ends at once, when PostgreSQL does not let it in', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const hba = join(folder, 'hba.conf')
  await writeFile(
    hba,
    [
      'host all asked 127.0.0.1/32 scram-sha-256',
      'hostssl all encrypted 127.0.0.1/32 trust',
      'host all postgres 127.0.0.1/32 trust',
    ].join('\n'),
  )
  const server = await startDebianPostgres({ hba_file: hba })
  t.after(() => server.stop())
  const psql = await findProgram('psql', 'postgresql-client')
  await new Promise<void>((resolve, reject) => {
    const text = "CREATE ROLE asked LOGIN PASSWORD 'secret'; CREATE ROLE encrypted LOGIN"
    execFile(psql, [server.url, '-c', text], (error) => (error ? reject(error) : resolve()))
  })
  const { host } = new URL(server.url)
  for (const [user, message] of [
    ['asked', /it asks for a password, and the URL has none/],
    ['asked:wrong', /password authentication failed for user "asked"/],
    ['encrypted', /no encryption/],
    ['nobody', /no pg_hba\.conf entry/],
  ] as const) {
    const started = performance.now()
    const env = { DATABASE_URL: `postgres://${user}@${host}/postgres`, DATA_DIR: folder }
    const { code, stderr } = await runProcess(['serve', '--port', '0'], { env, cwd: folder })
    assert.equal(code, 1)
    assert.match(stderr, /^switchboard: cannot reach the database of DATABASE_URL: [^\n]+\n$/)
    assert.match(stderr, message)
    // PostgreSQL itself closes the connection of whoever does not sign in after a minute.
    assert.ok(performance.now() - started < 30_000, user)
  }
})

test('a start is refused in one line when what is in the data folder belongs to somebody else', async (t) => {
  const place = await makeStorePlace('sqlite')
  t.after(() => place.remove())
  const nobody = await findNobody()
  // Root without the right to go past permissions, so that the code of the service can be read wherever it is.
  const asOthers =
    process.getuid?.() === 0
      ? [await findProgram('setpriv', 'util-linux'), '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all']
      : []
  const folders = ['files', join('files', 'incoming'), 'uploads'].map((name) => join(place.dataDir, name))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  for (const folder of folders) {
    await chmod(folder, 0o555)
    if (asOthers.length > 0) await chown(folder, nobody.uid, nobody.gid)
    const [program = process.execPath, ...args] = [...asOthers, process.execPath, main, 'serve', '--port', '0']
    const stderr = await new Promise<string>((resolve) => {
      const options = {
        env: { PATH: process.env['PATH'], DATA_DIR: place.dataDir, LOG_LEVEL: 'silent' },
        timeout: 60_000,
      }
      execFile(program, args, options, (_, __, text) => resolve(text))
    })
    assert.match(
      stderr,
      /^switchboard: files cannot be stored in [^\n]+make the user of the service the owner[^\n]+\n$/,
    )
    assert.ok(stderr.includes(`cannot be stored in ${folder}: EACCES`), stderr)
    await chmod(folder, 0o755)
    if (asOthers.length > 0) await chown(folder, 0, 0)
  }
})
