import { setTimeout as wait } from 'node:timers/promises'
import { numbers, tokens } from '../harness/world.ts'
import { describeEnding, type FuzzedServer, type Memory } from './server.ts'
import { openHalfRequests } from './wire.ts'

/** Connections that a database or a client keeps for later. */
const allowedMore = { handles: 16, files: 16 }

/** What a server had before it was fuzzed. */
export interface Stock {
  readonly memory: Memory
  readonly leftovers: readonly string[]
}

export async function takeStockBefore(server: FuzzedServer): Promise<Stock> {
  return { leftovers: await server.inspect(), memory: await server.measure() }
}

/** Whether a server that was fuzzed is ready, has left nothing behind and has closed everything; in words, if not. */
export async function findDamage(server: FuzzedServer, before: Stock, timeoutMs: number): Promise<string[]> {
  const ready = await fetch(`${server.url}/readyz`)
  await ready.body?.cancel()
  // What broke off a moment ago may still be cleared up, and connections end a moment after the last request.
  const deadline = performance.now() + timeoutMs
  let problems = await findLeaks(server, before)
  while (problems.length > 0 && performance.now() < deadline) {
    await wait(50)
    problems = await findLeaks(server, before)
  }
  return ready.status === 200 ? problems : [`/readyz answers ${ready.status} at the end`, ...problems]
}

async function findLeaks(server: FuzzedServer, before: Stock): Promise<string[]> {
  const leftovers = (await server.inspect()).filter((leftover) => !before.leftovers.includes(leftover))
  const memory = await server.measure()
  const kinds = (['handles', 'files'] as const).filter((kind) => memory[kind] > before.memory[kind] + allowedMore[kind])
  return [
    ...leftovers.slice(0, 20),
    ...kinds.map((kind) => `${memory[kind]} ${kind} are open, and ${before.memory[kind]} were before`),
  ]
}

const post = (path: string, type: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.owner}\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\n${body}`
const media = `/v23.0/${numbers.main}/media`

/** Requests under way when the server gets the signal to stop. */
const halfRequests = [
  '',
  'POST /v23.0/1 HTT',
  'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  post(media, 'application/json', '{"file":'),
  post(
    media,
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n%PDF-1.7\n',
  ),
  post('/msgapp/webhooks', 'application/json', '{'),
]

/** Stops a server amid requests; in words, how it failed to. */
export async function findStopDamage(server: FuzzedServer): Promise<string[]> {
  const letGo = await openHalfRequests(server.url, halfRequests)
  const ending = await server.stop()
  letGo()
  return ending.code === 0 ? [] : [`told to stop, ${describeEnding(ending)}`]
}
