import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { busyApps, type Callbacks } from './world.ts'

type Key = keyof Callbacks
type Answer = (response: ServerResponse, post: number) => void

const take: Answer = (response) => {
  response.end('ok')
}
const refuse: Answer = (response) => {
  response.writeHead(503, { 'content-type': 'text/plain' }).end('The loyalty service is down for maintenance.')
}

/** A few are refused for good, a few fail and are tried again, most are taken. */
const takeMost: Answer = (response, post) => {
  if (post % 23 === 22) response.writeHead(410).end('Unknown customer.')
  else if (post % 7 === 6) refuse(response, post)
  else take(response, post)
}
/** Without an answer the post ends at the time limit. */
const ignore: Answer = () => undefined

/** How each subscriber answers before it breaks, and then. */
const answers: Readonly<Record<Key, readonly [before: Answer, after: Answer]>> = {
  good: [take, take],
  failing: [takeMost, refuse],
  slow: [take, ignore],
  partner: [refuse, refuse],
}

/** The callbacks of the subscribers on one port of loopback; each passes the handshake with its own verify token. */
export async function startCallbacks() {
  const posts: Record<Key, number> = { good: 0, failing: 0, slow: 0, partner: 0 }
  const broken = new Set<Key>()
  const repaired = new Set<Key>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const key = url.pathname.slice(1) as Key
    if (!Object.hasOwn(busyApps, key)) {
      response.writeHead(404).end()
      return
    }
    request.resume()
    if (request.method === 'GET') {
      const isRight = url.searchParams.get('hub.verify_token') === `${key}-verify-token`
      response.writeHead(isRight ? 200 : 403).end(isRight ? url.searchParams.get('hub.challenge') : '')
      return
    }
    request.on('end', () => {
      const [before, after] = answers[key]
      const answer = repaired.has(key) ? take : broken.has(key) ? after : before
      answer(response, posts[key]++)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const urls = Object.fromEntries(
    Object.keys(busyApps).map((key) => [key, `http://127.0.0.1:${port}/${key}`]),
  ) as Callbacks
  return {
    urls,
    break(which: Key): void {
      broken.add(which)
    },
    /** Somebody repaired it: it takes every webhook. */
    repair(which: Key): void {
      repaired.add(which)
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
