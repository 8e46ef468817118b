import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between the service and a database, and can be cut or go silent, like a network or a machine. */
export class PostgresProxy {
  readonly #target: URL
  readonly #asked: string | undefined
  readonly #server = createServer((socket) => this.#carry(socket))
  readonly #sockets = new Set<Socket>()
  #port = 0
  #isSilent = false

  /** Whoever asks for the database of this name, as long as the one of the URL, gets that one: two proxies are two hosts with a database of one name. */
  constructor(databaseUrl: string, asked?: string) {
    this.#target = new URL(databaseUrl)
    this.#asked = asked
  }

  async start(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  get port(): number {
    return this.#port
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

  async repair(): Promise<void> {
    this.#isSilent = false
    await this.start()
  }

  async end(): Promise<void> {
    if (this.#server.listening) await this.cut()
  }

  #carry(socket: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    let isStart = true
    socket.on('data', (bytes) => {
      far.write(isStart ? this.#rename(bytes) : bytes)
      isStart = false
    })
    far.on('data', (bytes) => socket.write(bytes))
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      this.#sockets.add(one)
      one.setNoDelay(true)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      if (this.#isSilent) one.pause()
    }
  }

  /** The first message of a connection names its database. */
  #rename(start: Buffer): Buffer {
    if (this.#asked === undefined) return start
    const name = this.#target.pathname.slice(1)
    assert.equal(name.length, this.#asked.length)
    return Buffer.from(start.toString('latin1').replace(`\0${this.#asked}\0`, `\0${name}\0`), 'latin1')
  }
}
