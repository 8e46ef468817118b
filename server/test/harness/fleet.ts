import assert from 'node:assert/strict'
import { type Finished, type RunningServer, startCommand } from './command.ts'
import { makeStorePlace, type StorePlace } from './databases.ts'

export interface FleetOptions {
  readonly size: number
  readonly env?: Readonly<Record<string, string>>
  /** Makes the world file for every process; by default an empty store gets the demo. */
  readonly writeWorld?: (place: StorePlace) => Promise<string>
}

/** Several server processes on one PostgreSQL and one folder of files. The test must end it. */
export class Fleet {
  readonly place: StorePlace
  readonly #args: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  #servers: RunningServer[] = []

  private constructor(place: StorePlace, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.place = place
    this.#args = args
    this.#env = { ...env, DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl as string }
  }

  /** All of them at the same time, on an empty database. */
  static async start({ size, env = {}, writeWorld }: FleetOptions): Promise<Fleet> {
    const place = await makeStorePlace('postgres')
    const world = await writeWorld?.(place)
    const fleet = new Fleet(place, ['serve', '--port', '0', ...(world === undefined ? [] : ['--world', world])], env)
    fleet.#servers = await Promise.all(Array.from({ length: size }, () => fleet.#launch()))
    return fleet
  }

  /** The settings for commands on the same store. */
  get commandOptions(): { env: Readonly<Record<string, string>>; cwd: string } {
    return { env: this.#env, cwd: this.place.dataDir }
  }

  get servers(): readonly RunningServer[] {
    return this.#servers
  }

  /** The address of one of them, in turn. */
  url(turn: number): string {
    return (this.#servers[turn % this.#servers.length] as RunningServer).url
  }

  /** Kills one of them, starts another instead, and returns between which times the first one ended. */
  async replace(index: number): Promise<{ from: number; to: number }> {
    const from = performance.now()
    await (this.#servers[index] as RunningServer).stop('SIGKILL')
    const to = performance.now()
    this.#servers[index] = await this.#launch()
    return { from, to }
  }

  /** Stops all of them gracefully. */
  async stop(): Promise<Finished[]> {
    const ended = await Promise.all(this.#servers.map((server) => server.stop('SIGTERM')))
    for (const { code, stderr } of ended) assert.equal(code, 0, stderr)
    return ended
  }

  /** Ends what still runs, and removes the store. */
  async end(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop('SIGKILL')))
    await this.place.remove()
  }

  #launch(): Promise<RunningServer> {
    return startCommand(this.#args, this.commandOptions)
  }
}
