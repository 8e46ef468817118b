import { type RunningServer, startCommand } from '../command.ts'
import type { Environment } from './shell.ts'
import type { Site } from './site.ts'

/** The server processes of a site. */
export class Fleet {
  readonly #servers: RunningServer[] = []
  /** Whatever ends this process must not leave the others behind. */
  readonly #endWithUs = (): void => {
    for (const { pid } of this.#servers) process.kill(pid, 'SIGKILL')
  }

  private constructor() {
    process.once('exit', this.#endWithUs)
  }

  static async start({ roles }: Pick<Site, 'roles'>, env: Environment, more: readonly string[] = []): Promise<Fleet> {
    const fleet = new Fleet()
    try {
      for (const [index, role] of roles.entries()) {
        const args = ['serve', '--port', '0', '--role', role, ...(index === 0 ? more : [])]
        fleet.#servers.push(await startCommand(args, { cwd: env['DATA_DIR'] as string, env }))
      }
    } catch (error) {
      await fleet.kill()
      throw error
    }
    return fleet
  }

  /** Of the process that serves requests. */
  get url(): string {
    return (this.#servers[0] as RunningServer).url
  }

  async kill(): Promise<void> {
    process.off('exit', this.#endWithUs)
    await Promise.all(this.#servers.map((server) => server.stop('SIGKILL')))
  }
}
