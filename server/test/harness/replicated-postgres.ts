import { execFile } from 'node:child_process'
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findNobody, Program, takePort } from './cluster/programs.ts'
import { findDebianPrograms } from './debian-postgres.ts'
import { until } from './until.ts'

const run = promisify(execFile)

interface Node {
  readonly url: string
  readonly port: number
  readonly data: string
  readonly program: Program
}

/**
 * A primary and a standby of Debian's PostgreSQL, which can be killed, frozen and promoted. The primary answers a commit when the
 * standby has it, so that a failover loses nothing.
 */
export class ReplicatedPostgres {
  readonly #folder: string
  readonly #bin: string
  readonly #user: { uid: number; gid: number } | undefined
  readonly #nodes: readonly [Node, Node]

  private constructor(
    folder: string,
    bin: string,
    user: { uid: number; gid: number } | undefined,
    ports: [number, number],
  ) {
    this.#folder = folder
    this.#bin = bin
    this.#user = user
    const makeNode = (port: number): Node => {
      const data = join(folder, String(port))
      const settings = {
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        fsync: 'off',
        lc_messages: 'C',
      }
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const program = new Program(join(bin, 'postgres'), ['-D', data, ...args], port, { isUnprivileged: true })
      return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, data, program }
    }
    this.#nodes = [makeNode(ports[0]), makeNode(ports[1])]
  }

  /** Starts the first node as the primary, and the second one as its standby. */
  static async start(): Promise<ReplicatedPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-replicated-'))
    const user = process.getuid?.() === 0 ? await findNobody() : undefined
    if (user) await chown(folder, user.uid, user.gid)
    const ports: [number, number] = [await takePort(), await takePort()]
    const own = new ReplicatedPostgres(folder, await findDebianPrograms(), user, ports)
    const [primary] = own.#nodes
    await own.#run('initdb', [
      `--pgdata=${primary.data}`,
      '--username=postgres',
      '--auth=trust',
      '--no-sync',
      '--encoding=UTF8',
    ])
    await own.#startNode(primary)
    await own.follow(1)
    return own
  }

  /** With both hosts. */
  get url(): string {
    return `postgres://postgres@${this.#nodes.map(({ port }) => `127.0.0.1:${port}`)}/postgres`
  }

  urlOf(node: 0 | 1): string {
    return this.#nodes[node].url
  }

  /** Makes a node that is not running the standby of the other one, which answers commits from now on when the standby has them. */
  async follow(node: 0 | 1): Promise<void> {
    const [own, primary] = [this.#nodes[node], this.#nodes[node === 0 ? 1 : 0]]
    await rm(own.data, { recursive: true, force: true })
    const copy = [
      `--pgdata=${own.data}`,
      `--dbname=${primary.url}`,
      '--write-recovery-conf',
      '--checkpoint=fast',
      '--no-sync',
    ]
    await this.#run('pg_basebackup', copy)
    // Once it is promoted, it has no standby to wait for.
    const file = join(own.data, 'postgresql.auto.conf')
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, lines.filter((line) => !line.startsWith('synchronous_standby_names')).join('\n'))
    await this.#startNode(own)
    await ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    await ask(primary, 'SELECT pg_reload_conf()')
    const isSynchronous = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`
    await until(async () => (await ask(primary, isSynchronous)).length === 1, 'the standby follows')
  }

  /** Resolves when the standby takes writes. */
  async promote(node: 0 | 1): Promise<void> {
    await ask(this.#nodes[node], 'SELECT pg_promote()')
  }

  /** All of its processes at once, as when its machine loses power. */
  async kill(node: 0 | 1): Promise<void> {
    const children = await this.#findProcesses(node)
    await this.#nodes[node].program.kill()
    for (const pid of children) send(pid, 'SIGKILL')
  }

  /** Ends its connections, and itself when the standby has everything. */
  async shutDown(node: 0 | 1): Promise<void> {
    const { data } = this.#nodes[node]
    await this.#run('pg_ctl', ['stop', `--pgdata=${data}`, '--mode=fast', '--silent'])
  }

  /** Its machine hangs: connections stay open, new ones are taken by its system, and nothing responds. */
  async freeze(node: 0 | 1): Promise<void> {
    for (const pid of await this.#findProcesses(node)) send(pid, 'SIGSTOP')
  }

  async thaw(node: 0 | 1): Promise<void> {
    for (const pid of await this.#findProcesses(node)) send(pid, 'SIGCONT')
  }

  async stop(): Promise<void> {
    for (const node of [0, 1] as const) await this.kill(node)
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #startNode({ program, url }: Node): Promise<void> {
    await program.start()
    // Its port is open while it still refuses everybody because it is starting.
    const isReady = () =>
      run(join(this.#bin, 'pg_isready'), ['--quiet', `--dbname=${url}`]).then(
        () => true,
        () => false,
      )
    await until(isReady, 'PostgreSQL accepts connections')
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    await run(join(this.#bin, program), args, { cwd: this.#folder, ...this.#user })
  }

  /** The first process, and its children, most of all one for each connection. */
  async #findProcesses(node: 0 | 1): Promise<number[]> {
    const text = await readFile(join(this.#nodes[node].data, 'postmaster.pid'), 'utf8').catch(() => undefined)
    if (text === undefined) return []
    const first = Number(text.split('\n')[0])
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
    const parents = await Promise.all(pids.map(readParent))
    return [first, ...pids.filter((_, index) => parents[index] === first)]
  }
}

async function readParent(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name of the program, which may hold anything: its state, then its parent.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}

/** To a process that may have ended. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function ask({ url }: Node, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
