import { execFile } from 'node:child_process'
import { chown, glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findNobody, installPackage, Program, takePort } from './cluster/programs.ts'
import { until } from './until.ts'

/** PostgreSQL as Debian builds it, with the compiler of statements that the one of the other tests does not have. */
export interface DebianPostgres {
  readonly url: string
  /** The folder of its programs, `pg_dump` among them. */
  readonly bin: string
  /** What it has logged. */
  readLog(): Promise<string>
  stop(): Promise<void>
}

/** Starts one with these settings, on a new folder of data or on one that was restored. */
export async function startDebianPostgres(
  settings: Readonly<Record<string, string>>,
  { restored }: { readonly restored?: string } = {},
): Promise<DebianPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-debian-'))
  const bin = await findDebianPrograms()
  const user = process.getuid?.() === 0 ? await findNobody() : undefined
  if (user) await chown(folder, user.uid, user.gid)
  const data = restored ?? join(folder, 'data')
  const initdb = [`--pgdata=${data}`, '--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8']
  if (restored === undefined) await promisify(execFile)(join(bin, 'initdb'), initdb, { cwd: folder, ...user })
  // Whoever restored it was root.
  else if (user) await promisify(execFile)('chown', ['-R', `${user.uid}:${user.gid}`, data])
  const port = await takePort()
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    logging_collector: 'on',
    log_directory: folder,
    log_filename: 'server.log',
    lc_messages: 'C',
    ...settings,
  }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const program = await new Program(join(bin, 'postgres'), ['-D', data, ...args], port, {
    isUnprivileged: true,
  }).start()
  const readLog = () => readFile(join(folder, 'server.log'), 'utf8')
  // Its port is open while it still refuses everybody because it is starting.
  await until(async () => (await readLog()).includes('ready to accept connections'), 'PostgreSQL accepts connections')
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    bin,
    readLog,
    async stop() {
      await program.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The folder of its programs. */
export async function findDebianPrograms(): Promise<string> {
  return join(dirname(dirname(await findCompiler())), 'bin')
}

/** The file of the compiler, in the folder `lib` of an installation. */
async function findCompiler(): Promise<string> {
  const find = async () => (await Array.fromAsync(glob('/usr/lib/postgresql/*/lib/llvmjit.so'))).sort().at(-1)
  const found = (await find()) ?? (await installPackage('postgresql').then(find))
  if (found === undefined)
    throw new Error("Debian's PostgreSQL is missing: apt-get install postgresql, then repeat this")
  return found
}
