import assert from 'node:assert/strict'
import { once } from 'node:events'

/** So long the loop is held, and so long it runs in between: scrapes still get through within a second. */
const milliseconds = { held: 650, free: 200 } as const

/** The environment of a process whose event loop can be held. */
export const holdableEnv = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const
/** What such a process prints. */
export const debuggerLine = /Debugger listening on (ws:\S+)/

/** Runs a computation in a real process by its debugger, again and again, as a fault of the service would. */
export class EventLoopHolder {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  hold(): Promise<void> {
    return this.#evaluate(
      `globalThis.holding = setInterval(() => { const end = performance.now() + ${milliseconds.held}; while (performance.now() < end); }, ${milliseconds.free}); 0`,
    )
  }

  release(): Promise<void> {
    return this.#evaluate('clearInterval(globalThis.holding); 0')
  }

  async #evaluate(expression: string): Promise<void> {
    const socket = new WebSocket(this.#url)
    await once(socket, 'open')
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }))
    const [{ data }] = await once(socket, 'message')
    const { result } = JSON.parse(String(data)) as { result: { exceptionDetails?: object } }
    assert.equal(result.exceptionDetails, undefined)
    socket.close()
    await once(socket, 'close')
  }
}
