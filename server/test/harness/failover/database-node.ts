import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, Program, takePort } from '../cluster/programs.ts'
import { PostgresProxy } from '../postgres-proxy.ts'
import { makeFolder } from './etcd.ts'
import type { Keeper } from './keeper.ts'
import { findPostmaster, sendSignal, signalTree } from './process-tree.ts'

/** The least that Patroni takes: who is the primary is decided anew when the one before has been silent for `ttl` seconds. */
export const times = { ttl: 20, loop_wait: 1, retry_timeout: 3 }

const parameters = {
  shared_buffers: '32MB',
  max_connections: 100,
  max_wal_size: '256MB',
  wal_keep_size: '64MB',
}

/** What leads to a node, each of which can be cut by itself. */
interface Ways {
  /** From the node to the store of Patroni. */
  readonly etcd: PostgresProxy
  /** From the other node: replication, and the questions of its Patroni. */
  readonly replication: PostgresProxy
  readonly peer: PostgresProxy
  /** From the proxy in front of both: clients, and its health checks. */
  readonly clients: PostgresProxy
  readonly checks: PostgresProxy
}

/** A machine of the database: PostgreSQL, and the Patroni that starts it, promotes it and makes it follow. */
export class DatabaseNode {
  readonly name: string
  /** Where its PostgreSQL and its Patroni listen; the ports that clients and health checks use are those of `ways`. */
  readonly port: number
  readonly restUrl: string
  readonly #data: string
  readonly #patroni: Program
  readonly #ways: Ways
  readonly #keeper: Keeper

  private constructor(made: {
    name: string
    port: number
    restUrl: string
    data: string
    patroni: Program
    ways: Ways
    keeper: Keeper
  }) {
    this.name = made.name
    this.port = made.port
    this.restUrl = made.restUrl
    this.#data = made.data
    this.#patroni = made.patroni
    this.#ways = made.ways
    this.#keeper = made.keeper
  }

  static async make(keeper: Keeper, name: string, options: { bin: string; etcdPort: number }): Promise<DatabaseNode> {
    const path = await findProgram('patroni')
    const folder = await makeFolder(keeper, name)
    const [port, restPort] = [await takePort(), await takePort()]
    const [etcd, replication, peer, clients, checks] = await Promise.all(
      [options.etcdPort, port, restPort, port, restPort].map((target) =>
        new PostgresProxy(`tcp://127.0.0.1:${target}`).start(),
      ),
    )
    const ways = { etcd, replication, peer, clients, checks } as Ways
    const data = join(folder, 'data')
    const file = join(folder, 'patroni.yaml')
    await writeFile(file, JSON.stringify(writeSettings({ ...options, name, folder, data, port, restPort, ways })))
    const patroni = new Program(path, [file], restPort, { isUnprivileged: true, folder })
    const restUrl = `http://127.0.0.1:${restPort}`
    return new DatabaseNode({ name, port, restUrl, data, patroni, ways, keeper })
  }

  /** The ports through which the proxy in front of both nodes reaches this one. */
  get proxied(): { port: number; checkPort: number } {
    return { port: this.#ways.clients.port, checkPort: this.#ways.checks.port }
  }

  /** What its Patroni has to say, and its PostgreSQL. */
  get lastWords(): string {
    return `${this.name}: ${this.#patroni.output.slice(-3000)}`
  }

  async start(): Promise<void> {
    await this.#patroni.start()
    this.#keeper.watch(this.#patroni.pid)
  }

  /** PostgreSQL alone: its Patroni notices. */
  killPostgres(): void {
    sendSignal(this.#findPostmaster(), 'SIGKILL')
  }

  /** As when a machine loses its power. */
  async killAll(): Promise<void> {
    const postmaster = this.#findPostmaster()
    await this.#patroni.kill()
    signalTree(postmaster, 'SIGKILL')
  }

  /** Returns what lets it go on: as a machine does whose disk hung. */
  freezePostgres(): () => void {
    const postmaster = this.#findPostmaster()
    signalTree(postmaster, 'SIGSTOP')
    return () => signalTree(postmaster, 'SIGCONT')
  }

  /** The same for Patroni too, as of a virtual machine that is moved. */
  freezeAll(): () => void {
    signalTree(this.#patroni.pid, 'SIGSTOP')
    const thaw = this.freezePostgres()
    return () => {
      thaw()
      signalTree(this.#patroni.pid, 'SIGCONT')
    }
  }

  /** Nothing comes through to it or from it any more, and nobody hears why; returns what connects it again. */
  cutOff(other: DatabaseNode): () => void {
    return silence([...Object.values(this.#ways), ...other.#waysOfPeers])
  }

  /** The same, but clients still reach it. */
  cutOffFromPeers(other: DatabaseNode): () => void {
    return silence([this.#ways.etcd, ...this.#waysOfPeers, ...other.#waysOfPeers])
  }

  get #waysOfPeers(): PostgresProxy[] {
    return [this.#ways.replication, this.#ways.peer]
  }

  /** Makes it a copy of the primary anew, as `patronictl reinit` does. */
  async rebuild(): Promise<void> {
    await fetch(`${this.restUrl}/reinitialize`, { method: 'POST', body: '{"force": true}' })
  }

  async end(): Promise<void> {
    for (const way of Object.values(this.#ways)) await way.end()
  }

  #findPostmaster(): number {
    const pid = findPostmaster(this.#data)
    if (pid === undefined) throw new Error(`PostgreSQL of ${this.name} does not run`)
    return pid
  }
}

function silence(ways: readonly PostgresProxy[]): () => void {
  for (const way of ways) way.goSilent()
  return () => {
    for (const way of ways) way.speak()
  }
}

interface SettingsOptions {
  readonly name: string
  readonly folder: string
  readonly data: string
  readonly bin: string
  readonly port: number
  readonly restPort: number
  readonly ways: Ways
}

function writeSettings({ name, folder, data, bin, port, restPort, ways }: SettingsOptions): object {
  return {
    scope: 'switchboard',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${ways.peer.port}` },
    // The second version of the interface: with the third, Patroni 3.0.2 takes the lock back from the next primary after a pause that was
    // longer than the time to live. Without proxies it asks the store for its address, and goes past what can be cut.
    etcd: { hosts: [`127.0.0.1:${ways.etcd.port}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ...times,
        synchronous_mode: true,
        // A primary that died is not waited for.
        primary_start_timeout: 0,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${ways.replication.port}`,
      data_dir: data,
      bin_dir: bin,
      pgpass: join(folder, 'pgpass'),
      use_unix_socket: true,
      // Otherwise a copy for a new standby begins when the next checkpoint is due, minutes later.
      basebackup: [{ checkpoint: 'fast' }],
      authentication: {
        superuser: { username: 'postgres', password: 'postgres' },
        replication: { username: 'replicator', password: 'replicator' },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication replicator 127.0.0.1/32 trust',
      ],
    },
  }
}
