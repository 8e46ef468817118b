import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between the service and a database, and can be cut or go silent, like a network or a machine. */
export class PostgresProxy {
  readonly #target: URL
  readonly #server = createServer((socket) => this.#carry(socket))
  readonly #sockets = new Set<Socket>()
  #port = 0
  #isSilent = false

  constructor(databaseUrl: string) {
    this.#target = new URL(databaseUrl)
  }

  async start(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  /** The URL of the database through this proxy. */
  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    return url.href
  }

  /** Carries nothing any more, silently: connections are accepted and stay open. */
  goSilent(): void {
    this.#isSilent = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Carries on with everything that came meanwhile. */
  speak(): void {
    this.#isSilent = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Every connection ends, and new ones are refused. */
  async cut(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async mend(): Promise<void> {
    this.#isSilent = false
    await this.start()
  }

  async end(): Promise<void> {
    if (this.#server.listening) await this.cut()
  }

  #carry(socket: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      this.#sockets.add(one)
      one.setNoDelay(true)
      one.on('data', (bytes) => other.write(bytes))
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      if (this.#isSilent) one.pause()
    }
  }
}
