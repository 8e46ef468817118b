import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** One statement that was sent to the database, on which connection, and in which round trip of that: what went out without waiting for a response. */
export interface SentStatement {
  readonly text: string
  readonly connection: number
  readonly roundTrip: number
  /** Whether it was sent under a name, so that it is parsed and planned once a connection. */
  readonly isNamed: boolean
}

/** A line to a PostgreSQL that writes down every statement that goes over it. Whoever starts it ends it. */
export class StatementLog {
  readonly #target: URL
  readonly #server = createServer((socket) => this.#carry(socket))
  readonly #sockets = new Set<Socket>()
  #connections = 0
  readonly #sent: SentStatement[] = []

  constructor(databaseUrl: string) {
    this.#target = new URL(databaseUrl)
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  /** What leads to the database over this line. */
  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  /** What was sent since the last call. */
  take(): SentStatement[] {
    return this.#sent.splice(0)
  }

  /** Whether such a statement was sent since the last call of `take`. */
  has(isSuch: (statement: SentStatement) => boolean): boolean {
    return this.#sent.some(isSuch)
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(socket: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    const reader = new MessageReader(this.#connections++, (statement) => this.#sent.push(statement))
    socket.on('data', (bytes) => {
      reader.read(bytes as Buffer)
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      reader.noteAnswer()
      socket.write(bytes)
    })
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
    }
  }
}

/** Reads what a client sends, message by message: a letter, the length of the rest, and the rest. The first has no letter. */
class MessageReader {
  readonly #connection: number
  readonly #onStatement: (statement: SentStatement) => void
  readonly #named = new Map<string, string>()
  #bytes = Buffer.alloc(0)
  #isStarted = false
  #roundTrip = 0
  #isAnswered = false

  constructor(connection: number, onStatement: (statement: SentStatement) => void) {
    this.#connection = connection
    this.#onStatement = onStatement
  }

  noteAnswer(): void {
    this.#isAnswered = true
  }

  read(bytes: Buffer): void {
    if (this.#isAnswered) this.#roundTrip += 1
    this.#isAnswered = false
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (;;) {
      const start = this.#isStarted ? 1 : 0
      if (this.#bytes.length < start + 4) return
      const end = start + this.#bytes.readInt32BE(start)
      if (this.#bytes.length < end) return
      const [type, body] = [this.#bytes.toString('latin1', 0, start), this.#bytes.subarray(start + 4, end)]
      this.#bytes = this.#bytes.subarray(end)
      this.#isStarted = true
      this.#note(type, body)
    }
  }

  #note(type: string, body: Buffer): void {
    const texts = body.toString('utf8').split('\0')
    switch (type) {
      case 'Q':
        this.#tell(texts[0] as string, false)
        break
      case 'P':
        this.#named.set(texts[0] as string, texts[1] as string)
        break
      case 'B': {
        // The portal, then the name of the statement.
        const name = texts[1] as string
        this.#tell(this.#named.get(name) ?? '', name !== '')
        break
      }
    }
  }

  #tell(text: string, isNamed: boolean): void {
    this.#onStatement({ text, connection: this.#connection, roundTrip: this.#roundTrip, isNamed })
  }
}
