import { glob } from 'node:fs/promises'
import { dirname } from 'node:path'
import pg from 'pg'
import { startPostgresHaproxy } from '../cluster/haproxy.ts'
import { installPackage } from '../cluster/programs.ts'
import { until } from '../until.ts'
import { DatabaseNode } from './database-node.ts'
import { startEtcd } from './etcd.ts'
import type { Keeper } from './keeper.ts'

const database = 'switchboard'
/** How long a standby may take until it follows, by itself. */
const followsWithin = 60_000

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
  readonly lag?: number | string
}

/** PostgreSQL on two nodes: a primary, a standby that has every write before it is acknowledged, and HAProxy, which leads to the primary. */
export class DatabaseCluster {
  readonly nodes: readonly DatabaseNode[]
  /** How often a standby had to be made anew. */
  rebuilt = 0
  readonly #port: number

  private constructor(nodes: readonly DatabaseNode[], port: number) {
    this.nodes = nodes
    this.#port = port
  }

  static async start(keeper: Keeper): Promise<DatabaseCluster> {
    const bin = await findBinaries()
    const etcdPort = await startEtcd(keeper)
    const nodes = [
      await DatabaseNode.make(keeper, 'node1', { bin, etcdPort }),
      await DatabaseNode.make(keeper, 'node2', { bin, etcdPort }),
    ]
    await Promise.all(nodes.map((node) => node.start()))
    const haproxy = await startPostgresHaproxy(
      nodes.map((node) => node.proxied),
      keeper.folder,
    )
    keeper.watch(haproxy.program.pid)
    const cluster = new DatabaseCluster(nodes, haproxy.port)
    await cluster.whenWhole()
    await cluster.#run('postgres', `CREATE DATABASE ${database}`)
    return cluster
  }

  /** The URL of the database, wherever its primary is. */
  get url(): string {
    return this.#urlOf(database)
  }

  async query<Row>(text: string): Promise<Row[]> {
    return (await this.#run(database, text)) as Row[]
  }

  /** Connects to the primary, for longer than a statement. */
  async connect(name = database): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#urlOf(name), connectionTimeoutMillis: 5000 })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** The primary by its own word, and the other one. */
  async findRoles(): Promise<{ primary: DatabaseNode; standby: DatabaseNode }> {
    const states = await Promise.all(this.nodes.map(isPrimary))
    const [first, second] = this.nodes as [DatabaseNode, DatabaseNode]
    if (states[0] === states[1]) throw new Error(`there are ${states[0] ? 'two primaries' : 'no primary'}`)
    return states[0] ? { primary: first, standby: second } : { primary: second, standby: first }
  }

  /** Resolves when another node than this one is the primary. */
  async whenPromotedInsteadOf(node: DatabaseNode): Promise<void> {
    const other = this.nodes.find((one) => one !== node) as DatabaseNode
    await until(() => isPrimary(other), `${other.name} is the primary`)
  }

  /**
   * Resolves when there are a primary and a standby that has what it has. A standby that Patroni does not get to follow is rebuilt, as an
   * operator does: the service does not wait for that, but nothing may happen to the primary meanwhile.
   */
  async whenWhole(): Promise<void> {
    const isSo = async () => (await Promise.all(this.nodes.map(listMembers))).every(isWhole)
    const deadline = performance.now() + followsWithin
    await until(async () => performance.now() > deadline || (await isSo()), 'the standby follows')
    if (await isSo()) return
    this.rebuilt += 1
    await (await this.findRoles()).standby.rebuild()
    await until(isSo, () => `the database is whole again: ${this.nodes.map(({ lastWords }) => lastWords).join('\n')}`)
  }

  /** By the operator's wish, as `patronictl switchover` asks for it. */
  async switchOver(): Promise<void> {
    const { primary, standby } = await this.findRoles()
    const body = JSON.stringify({ leader: primary.name, candidate: standby.name })
    const response = await fetch(`${primary.restUrl}/switchover`, { method: 'POST', body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`Patroni did not switch over: ${response.status} ${text}`)
  }

  async end(): Promise<void> {
    for (const node of this.nodes) await node.end()
  }

  #urlOf(name: string): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${name}`
  }

  async #run(name: string, text: string): Promise<object[]> {
    const client = await this.connect(name)
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
}

async function isPrimary({ restUrl }: DatabaseNode): Promise<boolean> {
  const response = await fetch(`${restUrl}/primary`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
  await response?.arrayBuffer()
  return response?.status === 200
}

/** What a Patroni knows of all. */
async function listMembers({ restUrl }: DatabaseNode): Promise<Member[]> {
  const response = await fetch(`${restUrl}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
  if (!response?.ok) return []
  return ((await response.json()) as { members: Member[] }).members
}

function isWhole(members: readonly Member[]): boolean {
  const roles = members.map(({ role }) => role).sort()
  return (
    roles.join() === 'leader,sync_standby' &&
    members.every(({ state }) => state === 'running' || state === 'streaming') &&
    new Set(members.map(({ timeline }) => timeline)).size === 1
  )
}

/** Debian keeps the programs of PostgreSQL off the path. */
async function findBinaries(): Promise<string> {
  const find = async () => (await Array.fromAsync(glob('/usr/lib/postgresql/*/bin/postgres'))).sort().at(-1)
  const found = (await find()) ?? (await installPackage('postgresql').then(find))
  if (found === undefined)
    throw new Error("Debian's PostgreSQL is missing: apt-get install postgresql, then repeat this")
  return dirname(found)
}
