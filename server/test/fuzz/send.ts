import { Agent, request as startRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { exchangeBytes, readRawAnswer } from '../harness/raw-http.ts'
import type { FuzzRequest, Play } from './requests.ts'
import { type FuzzAnswer, readHeaders, sendOverWire } from './wire.ts'

export interface Sender {
  send(request: FuzzRequest): Promise<FuzzAnswer>
  /** Sends a request that has a play, and returns every answer that came. */
  play(play: Play): Promise<FuzzAnswer[]>
  close(): void
}

/** No answer within the timeout is a hang. Sends requests over connections that are kept, because what one request leaves behind must not harm the next. */
export function openSender(url: string, timeoutMs: number): Sender {
  const agent = new Agent({ keepAlive: true })
  return {
    send: (request) => (request.bytes ? sendBytes(url, request.bytes) : sendRequest(url, agent, request, timeoutMs)),
    play: (play) => sendOverWire(url, play, timeoutMs),
    close: () => agent.destroy(),
  }
}

function sendRequest(url: string, agent: Agent, request: FuzzRequest, timeoutMs: number): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url)
  const { method, target: path, headers, body } = request
  const length = body && !headers.some(([name]) => name === 'Expect') ? { 'Content-Length': String(body.length) } : {}
  return new Promise((resolve, reject) => {
    const outgoing = startRequest(
      { hostname, port, agent, method, path, headers: { ...length, ...Object.fromEntries(headers) } },
      (incoming) => {
        const { headers: said } = incoming
        if (said['content-type']?.startsWith('text/event-stream') && method !== 'HEAD') {
          outgoing.on('error', () => undefined)
          incoming.destroy()
          const told = Object.entries(said).map(([name, value]) => [name, String(value)])
          resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(told), body: Buffer.alloc(0) })
          return
        }
        buffer(incoming).then((bytes) => {
          const told = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
          resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(told), body: bytes })
        }, reject)
      },
    )
    // A kept connection may be closed by the server, which waits for 72 s, at the moment it is used: that is no fault, and a fault
    // comes again on a new connection.
    const again = (error: Error) =>
      outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        ? sendRequest(url, new Agent(), request, timeoutMs).then(resolve, reject)
        : reject(error)
    outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    outgoing.on('error', again)
    outgoing.end(body)
  })
}

async function sendBytes(url: string, bytes: Buffer): Promise<FuzzAnswer> {
  const { status, head, body } = readRawAnswer(await exchangeBytes(url, bytes))
  return { status, headers: readHeaders(head.split('\r\n').slice(1)), body: Buffer.from(body, 'latin1') }
}
