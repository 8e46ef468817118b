import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { writeTone } from '../../../testing/test/tones.ts'
import { CallDoors } from './call-doors.ts'
import { type RunningServer, runProcess, startCommand } from './command.ts'
import { ada, number } from './console-page.ts'
import { type Engine, makeStorePlace } from './databases.ts'
import { loopback, startAgent, whenHappened } from './voice-commands.ts'

/** A server of the demo world in a process of its own, and commands with sound beside it. */
export class VoiceWorld {
  readonly #test: TestContext
  readonly #serve: () => Promise<RunningServer>
  readonly cwd: string
  server: RunningServer

  private constructor(test: TestContext, cwd: string, serve: () => Promise<RunningServer>, server: RunningServer) {
    this.#test = test
    this.#serve = serve
    this.cwd = cwd
    this.server = server
  }

  static async start(t: TestContext, env: Record<string, string> = {}, engine: Engine = 'sqlite'): Promise<VoiceWorld> {
    const place = await makeStorePlace(engine)
    const { dataDir: cwd, databaseUrl } = place
    let port = '0'
    const serve = async () => {
      const settings = { RATE_LIMITS: 'off', ...env, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) }
      const server = await startCommand(['serve', '--port', port, '--data', cwd], { cwd, env: settings })
      port = new URL(server.url).port
      return server
    }
    const world = new VoiceWorld(t, cwd, serve, await serve())
    t.after(async () => {
      await world.server.stop('SIGKILL')
      await place.remove()
    })
    return world
  }

  get doors(): CallDoors {
    return new CallDoors(this.server.url)
  }

  path(name: string): string {
    return join(this.cwd, name)
  }

  /** Stops the server as at an upgrade, and starts it again at the same address. */
  async restart(): Promise<void> {
    await this.server.stop('SIGTERM')
    this.server = await this.#serve()
  }

  startAgent(...args: string[]): Promise<RunningServer> {
    return startAgent(this.#test, this.server, this.cwd, args)
  }

  /** Runs `switchboard …` against the server, to its end. */
  run(args: readonly string[]) {
    return runProcess([...args, '--url', this.server.url], { cwd: this.cwd })
  }

  /** A user's phone calls the number; to its end. */
  callNumber(...args: string[]) {
    return this.run(['simulate', 'call', '--to', number, '--from', ada, ...args, '--json', ...loopback])
  }

  /** The same for a call that the test acts upon while it goes on; resolves when it was taken and is connected. */
  async startCall(...args: string[]): Promise<RunningServer> {
    const all = ['simulate', 'call', '--to', number, '--from', ada, ...args, '--json', ...loopback]
    const call = await this.startPhone(all)
    const { call_id } = await whenHappened(call, 'connected')
    await this.doors.whenState(call_id, 'accepted')
    return call
  }

  async startPhone(args: readonly string[]): Promise<RunningServer> {
    const phone = await startCommand([...args, '--url', this.server.url], { cwd: this.cwd, ready: /"event":"(call)"/ })
    this.#test.after(() => phone.stop('SIGKILL'))
    return phone
  }

  /** A sound file with a tone. */
  async makeTone(hz: number, seconds = 2): Promise<string> {
    const path = this.path(`tone-${hz}.wav`)
    await writeFile(path, writeTone(hz, seconds))
    return path
  }

  async permitCalls(status = 'granted'): Promise<void> {
    await this.gateway('call_permissions', { phone_number_id: number, user_wa_id: ada, status })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of a response.
  async gateway(path: string, body: object): Promise<any> {
    const response = await fetch(`${this.server.url}/gateway/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

  /** Where the store sends the events of the number, in front of the callback of its app. */
  readCallback(): { own: string | null; temporary: string | null } {
    const store = new DatabaseSync(this.path('switchboard.db'), { readOnly: true })
    try {
      const statement =
        'SELECT override_callback_uri, temporary_callback_uri FROM phone_number_callbacks WHERE phone_number_id = ?'
      const row = store.prepare(statement).get(number)
      return { own: textOf(row?.['override_callback_uri']), temporary: textOf(row?.['temporary_callback_uri']) }
    } finally {
      store.close()
    }
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
