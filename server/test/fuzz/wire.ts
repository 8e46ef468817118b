import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Play } from './requests.ts'

export interface FuzzAnswer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Plays bytes over a connection and returns every answer that came; throws when there is neither an answer nor an end in time. */
export async function sendOverWire(url: string, play: Play, timeoutMs: number): Promise<FuzzAnswer[]> {
  const connection = new RawConnection(url, timeoutMs)
  const methods = play.whole.map(({ method }) => method)
  const answers = () => readAnswers(connection.received(), methods)
  const finalAnswers = () => answers().filter(({ status }) => status >= 200)
  try {
    const { bytes, pieces, headBytes = 0 } = play
    if (headBytes > 0) {
      await connection.write(bytes.subarray(0, headBytes), pieces)
      await connection.until(() => answers().length > 0)
    }
    await connection.write(bytes.subarray(headBytes), headBytes > 0 ? [] : pieces)
    if (play.ending !== 'wait') await connection.leave(play.ending)
    // What is refused before it is a request has one answer.
    else
      await connection.until(
        () => finalAnswers().length >= Math.max(1, play.whole.length) || finalAnswers().some(goesOn),
      )
    return finalAnswers()
  } finally {
    connection.close()
  }
}

/** A connection, and what has come over it. */
class RawConnection {
  readonly #socket: Socket
  readonly #received: Buffer[] = []
  readonly #timeoutMs: number
  #failure: NodeJS.ErrnoException | undefined
  #isOver = false
  #isClosed = false
  #wake = () => {}

  constructor(url: string, timeoutMs: number) {
    const { hostname, port } = new URL(url)
    this.#timeoutMs = timeoutMs
    this.#socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true, noDelay: true })
    this.#socket.on('data', (bytes) => {
      this.#received.push(bytes)
      this.#wake()
    })
    this.#socket.on('end', () => {
      this.#isOver = true
      this.#wake()
    })
    this.#socket.on('error', (error) => {
      this.#failure = error
    })
    this.#socket.on('close', () => {
      this.#isOver = true
      this.#isClosed = true
      this.#wake()
    })
  }

  received(): Buffer {
    return Buffer.concat(this.#received)
  }

  /** Writes pieces of these lengths, each in a turn of its own, and then the rest. What nobody takes any more is left out. */
  async write(bytes: Buffer, pieces: readonly number[]): Promise<void> {
    let at = 0
    for (const piece of pieces) {
      if (this.#socket.writable) this.#socket.write(bytes.subarray(at, at + piece))
      at += piece
      await nextTurn()
    }
    if (at < bytes.length && this.#socket.writable) this.#socket.write(bytes.subarray(at))
  }

  /** Resolves when the bytes have left, or cannot any more. */
  async send(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()))
  }

  /** Waits for something that is to come; the end of the connection is an end of that, too. */
  async until(isSo: () => boolean): Promise<void> {
    await this.#wait(() => this.#isOver || isSo())
  }

  /** Leaves, and waits until the connection is closed. */
  async leave(ending: 'end' | 'close' | 'reset'): Promise<void> {
    // What was written goes first.
    await this.send(Buffer.alloc(0))
    if (ending === 'end') this.#socket.end()
    else if (ending === 'close') this.#socket.destroy()
    else this.#socket.resetAndDestroy()
    await this.#wait(() => this.#isClosed)
  }

  close(): void {
    this.#socket.destroy()
  }

  async #wait(isSo: () => boolean): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs
    while (!isSo()) {
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`neither an answer nor an end within ${this.#timeoutMs} ms`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    if (this.#failure?.code === 'ECONNREFUSED') throw this.#failure
  }
}

/** Whether an answer is a stream of events: it has no end, and nothing comes behind it. */
export function goesOn({ headers }: Pick<FuzzAnswer, 'headers'>): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

/** The whole answers among what was received; to a HEAD there is no body. */
export function readAnswers(received: Buffer, methods: readonly string[]): FuzzAnswer[] {
  const answers: FuzzAnswer[] = []
  let finals = 0
  for (let at = 0; ; ) {
    const end = received.indexOf('\r\n\r\n', at)
    if (end < 0) return answers
    const [statusLine = '', ...lines] = received.toString('latin1', at, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (!(status >= 100)) throw new Error(`this is no answer: ${JSON.stringify(statusLine.slice(0, 200))}`)
    const headers = readHeaders(lines)
    if (goesOn({ headers }) && methods[finals] !== 'HEAD')
      return [...answers, { status, headers, body: Buffer.alloc(0) }]
    const hasBody = status >= 200 && status !== 204 && status !== 304 && methods[finals] !== 'HEAD'
    const length = Number(headers['content-length'] ?? (hasBody ? Number.NaN : 0))
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${JSON.stringify(statusLine)}`)
    const behind = end + 4 + (hasBody ? length : 0)
    if (received.length < behind) return answers
    if (status >= 200) finals += 1
    answers.push({ status, headers, body: received.subarray(end + 4, behind) })
    at = behind
  }
}

export function readHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const pairs = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return Object.fromEntries(pairs)
}

/** Connections that stop in the middle of what they send, and stay open until they are let go. */
export async function openHalfRequests(url: string, requests: readonly (string | Buffer)[]): Promise<() => void> {
  const connections = requests.map(() => new RawConnection(url, 10_000))
  await Promise.all(requests.map((bytes, index) => connections[index]?.send(Buffer.from(bytes as string))))
  return () => {
    for (const connection of connections) connection.close()
  }
}
