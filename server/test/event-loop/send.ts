import { Agent, request as startRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { WorstRequest } from './requests.ts'

export interface Sender {
  send(request: WorstRequest, attempt: number): Promise<{ status: number; text: string }>
  close(): void
}

/** Sends requests one after the other over a connection that is kept. */
export function openSender(url: string): Sender {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sendOnce: Sender['send'] = ({ method, target: path, headers, makeBody }, attempt) =>
    new Promise((resolve, reject) => {
      const body = makeBody?.(attempt)
      const length = body && { 'content-length': String(body.length) }
      const outgoing = startRequest(
        { hostname, port, agent, method, path, headers: { ...headers, ...length } },
        (incoming) => {
          readText(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, text }), reject)
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  return {
    // A refused request may end its connection while the next one is being sent.
    send: (request, attempt) =>
      sendOnce(request, attempt).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return sendOnce(request, attempt)
        throw error
      }),
    close: () => agent.destroy(),
  }
}
