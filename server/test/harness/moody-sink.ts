import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

/** Long enough for any machine; being late only makes the test slow. */
const timeoutMs = 120_000

export interface MoodySinkOptions {
  readonly random: () => number
  /** The subscribers that must receive everything, by the last part of their address. */
  readonly subscribers: readonly string[]
  /** The identity of an event, from the body of its post. */
  readonly identify: (body: string) => string
  /** The event that must be accepted before it; undefined: none. */
  readonly comesAfter?: (id: string) => string | undefined
  /** The response time in milliseconds; by default none. */
  readonly delay?: () => number
}

interface Post {
  readonly subscriber: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * The callbacks of several subscribers, at `/NAME` each. Accepts most posts, refuses some, and breaks some connections, before or after
 * reading. Every handshake passes. Posts for unknown names are accepted and ignored.
 */
export async function startMoodySink({ random, subscribers, identify, comesAfter, delay }: MoodySinkOptions) {
  const came: Post[] = []
  const taken = new Map(subscribers.map((name) => [name, new Set<string>()]))
  const sockets = new Set<Socket>()
  const outOfOrder: string[] = []
  let moody = true
  let underWay = 0
  let mostUnderWay = 0
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return passHandshake(request, response)
    const mood = moody ? random() : 1
    if (mood < 0.05) return request.socket.destroy()
    const body = (await buffer(request)).toString('latin1')
    const isTaken = mood >= 0.25
    const subscriber = (request.url ?? '').slice(1)
    // Collected as posts arrive: doing it again for each would take longer than the posts themselves.
    const ids = taken.get(subscriber)
    if (ids) {
      const id = identify(body)
      came.push({ subscriber, headers: request.headers, body })
      const before = comesAfter?.(id)
      if (before !== undefined && !ids.has(before)) outOfOrder.push(`${id} came to ${subscriber} before ${before}`)
      underWay += 1
      mostUnderWay = Math.max(mostUnderWay, underWay)
      if (delay) await wait(delay())
      underWay -= 1
      // The server may forget it only after a success.
      if (isTaken) ids.add(id)
    }
    if (isTaken) response.end()
    else if (mood < 0.1) response.destroy()
    else response.writeHead(503).end()
    server.emit('came')
  })
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calm() {
      moody = false
    },
    async whenAllCame(expected: ReadonlySet<string>): Promise<void> {
      const deadline = AbortSignal.timeout(timeoutMs)
      for (const [subscriber, ids] of taken) {
        for (;;) {
          if (ids.size >= expected.size && ids.isSupersetOf(expected)) break
          await once(server, 'came', { signal: deadline }).catch(() => {
            const missing = [...expected].filter((id) => !ids.has(id))
            throw new Error(
              `${missing.length} of ${expected.size} events never came to ${subscriber}: ${missing.slice(0, 5)}`,
            )
          })
        }
      }
    },
    /** Checks everything received: it was expected, identical each time, and in order. */
    judge(askedFor: ReadonlySet<string>): { posts: number; repeated: number; mostUnderWay: number } {
      assert.deepEqual(outOfOrder, [])
      const first = new Map<string, Post>()
      for (const post of came) {
        const id = identify(post.body)
        assert.ok(askedFor.has(id), `${id} came but was never asked for`)
        const key = `${post.subscriber} ${id}`
        const known = first.get(key)
        if (!known) {
          first.set(key, post)
          continue
        }
        assert.equal(post.body, known.body, `${key} came with other bytes`)
        for (const name of ['x-hub-signature-256', 'webhook-id']) {
          assert.equal(post.headers[name], known.headers[name], `${key} came with another ${name}`)
        }
      }
      return { posts: came.length, repeated: came.length - first.size, mostUnderWay }
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export type MoodySink = Awaited<ReturnType<typeof startMoodySink>>

function passHandshake(request: IncomingMessage, response: ServerResponse): void {
  response.end(new URL(request.url ?? '', 'http://sink').searchParams.get('hub.challenge'))
}
