import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startHaproxy } from '../cluster/haproxy.ts'
import { takePort } from '../cluster/programs.ts'
import { ObjectStorage } from '../object-storage.ts'
import { writeSubscribedWorld } from '../subscribed-world.ts'
import { until } from '../until.ts'
import type { Keeper } from './keeper.ts'
import { SupervisedServer } from './supervised-server.ts'

const roles = ['api', 'api', 'worker', 'worker'] as const

/** Two api processes behind HAProxy, two workers, and object storage. */
export class Service {
  readonly url: string
  readonly storage: ObjectStorage
  readonly workers: readonly SupervisedServer[]
  readonly #servers: readonly SupervisedServer[]

  private constructor(url: string, storage: ObjectStorage, servers: readonly SupervisedServer[]) {
    this.url = url
    this.storage = storage
    this.#servers = servers
    this.workers = servers.filter((_, index) => roles[index] === 'worker')
  }

  /** All at the same time, on an empty database. `sinkUrl`: where the events of the test world's app go. */
  static async start(keeper: Keeper, databaseUrl: string, sinkUrl: string): Promise<Service> {
    const storage = await ObjectStorage.start(join(keeper.folder, 'objects'))
    const ports = await Promise.all(roles.map(() => takePort()))
    const haproxy = await startHaproxy(
      ports.filter((_, index) => roles[index] === 'api'),
      keeper.folder,
    )
    keeper.watch(haproxy.program.pid)
    const world = await writeSubscribedWorld(keeper.folder, sinkUrl)
    const env = {
      ...storage.settings('failover'),
      DATABASE_URL: databaseUrl,
      // What a server has without these settings, and a server of other tests has not.
      DATABASE_TIMEOUT: '30s',
      DATABASE_LOCK_TIMEOUT: '10s',
      SECRETS_KEY: randomBytes(32).toString('base64'),
      PUBLIC_URL: haproxy.url,
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      FILES_TIMEOUT: '2s',
      WEBHOOK_LEASE: '5s',
      WEBHOOK_RETRY_DELAYS: '100ms,500ms',
    }
    const servers = []
    for (const [index, role] of roles.entries()) {
      const args = ['serve', '--port', String(ports[index]), '--role', role]
      const name = `${role}${index + 1}`
      servers.push(await SupervisedServer.start({ keeper, name, args, env: { ...env, WORLD: world } }))
    }
    const service = new Service(haproxy.url, storage, servers)
    await service.whenReady()
    return service
  }

  get restarts(): number {
    return this.#servers.reduce((sum, { restarts }) => sum + restarts, 0)
  }

  async whenReady(): Promise<void> {
    const late = () =>
      this.#servers.map(({ name, restarts, lastWords }) => `${name} (${restarts} restarts) ${lastWords}`).join('; ')
    await until(
      async () => (await Promise.all(this.#servers.map((server) => server.isReady()))).every(Boolean),
      () => `every process is ready: ${late()}`,
    )
  }

  async end(): Promise<void> {
    for (const server of this.#servers) await server.end()
    await this.storage.stop()
  }
}
