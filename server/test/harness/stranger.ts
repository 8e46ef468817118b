import { connect, type Socket } from 'node:net'
import { readRawAnswer } from './raw-http.ts'

/** A connection of somebody who writes to it as they like. */
export class Stranger {
  received = ''
  readonly opened: Promise<void>
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #waiting = new Set<() => void>()

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => {
      this.received += chunk
      for (const look of this.#waiting) look()
    })
    // Ended by the other side while there is still something to send.
    this.#socket.on('error', () => {})
    this.opened = new Promise((resolve) => this.#socket.once('connect', () => resolve()))
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  send(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes)
  }

  /** Resolves when everything was handed to the system that was sent so far, or the connection is gone. */
  sent(): Promise<void> {
    return Promise.race([this.closed, new Promise<void>((resolve) => this.#socket.write('', () => resolve()))])
  }

  cut(): void {
    this.#socket.destroy()
  }

  /** The first answer, as soon as it is there whole; what came so far when the connection was closed before. */
  async answer(): Promise<{ status: number; head: string; body: string }> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      const { head, body } = readRawAnswer(this.received)
      const length = /^content-length: (\d+)/im.exec(head)?.[1]
      if (length !== undefined && body.length >= Number(length)) resolve()
    }
    this.#waiting.add(look)
    look()
    await Promise.race([promise, this.closed])
    this.#waiting.delete(look)
    return readRawAnswer(this.received)
  }
}
