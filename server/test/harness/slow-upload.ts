import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readRawAnswer } from './raw-http.ts'

const boundary = 'a-boundary'

export interface SlowUploadOptions {
  readonly url: string
  readonly path: string
  readonly token: string
  /** The announced length; by default chunked, so that the length is unknown. */
  readonly length?: number
}

/** A multipart upload over its own connection, which the test sends piece by piece. */
export class SlowUpload {
  readonly #socket: Socket
  readonly #isChunked: boolean
  #received = ''

  private constructor(socket: Socket, isChunked: boolean) {
    this.#socket = socket
    this.#isChunked = isChunked
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      this.#received += chunk
    })
    // A connection that is cut off on purpose.
    socket.on('error', () => {})
  }

  /** Sends the head of a request, and of a part that is the file. */
  static async start({ url, path, token, length }: SlowUploadOptions): Promise<SlowUpload> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const upload = new SlowUpload(socket, length === undefined)
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        `Content-Type: multipart/form-data; boundary=${boundary}`,
        length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
        '\r\n',
      ].join('\r\n'),
    )
    await upload.send(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`)
    return upload
  }

  /** Resolves when the bytes are sent. */
  async send(bytes: Buffer | string): Promise<void> {
    const content = Buffer.from(bytes as string)
    const framed = this.#isChunked
      ? Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')])
      : content
    await new Promise((resolve) => this.#socket.write(framed, resolve))
  }

  /** Sends the end of the file and, if its length was not announced, of the body. */
  async end(): Promise<void> {
    await this.send(`\r\n--${boundary}--\r\n`)
    if (this.#isChunked) this.#socket.write('0\r\n\r\n')
  }

  /** The next response on this connection. */
  async answer(): Promise<{ status: number; head: string; body: string }> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n') + 4
      const length = Number(/^content-length: (\d+)/im.exec(this.#received.slice(0, end))?.[1])
      if (end > 3 && this.#received.length >= end + length) {
        const answer = readRawAnswer(this.#received.slice(0, end + length))
        this.#received = this.#received.slice(end + length)
        return answer
      }
      const [event] = await Promise.race([
        once(this.#socket, 'data'),
        once(this.#socket, 'close').then(() => [undefined]),
      ])
      assert.notEqual(event, undefined, `the connection was closed after ${JSON.stringify(this.#received)}`)
    }
  }

  /** Another request on the same connection. */
  ask(path: string, token: string): Promise<{ status: number; head: string; body: string }> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    return this.answer()
  }

  cut(): void {
    this.#socket.destroy()
  }
}
