import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, Program, takePort } from './programs.ts'

export interface PgBouncer {
  readonly program: Program
  /** The URL of a database through it. */
  urlOf(database: string): string
  stop(): Promise<void>
}

/** PgBouncer that gives each transaction one of few connections to the server of `postgresUrl`. */
export async function startPgBouncer(postgresUrl: string, { poolSize = 6 } = {}): Promise<PgBouncer> {
  const path = await findProgram('pgbouncer')
  const { hostname, port, username } = new URL(postgresUrl)
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-pgbouncer-'))
  // It refuses to run as root, and reads this as another user.
  await chmod(folder, 0o755)
  const own = await takePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port} user=${username}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
server_round_robin = 1
server_login_retry = 1
`,
  )
  const program = await new Program(path, [file], own, { isUnprivileged: true }).start()
  return {
    program,
    urlOf(database) {
      const url = new URL(postgresUrl)
      url.host = `127.0.0.1:${own}`
      url.pathname = `/${database}`
      return url.href
    },
    async stop() {
      await program.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
