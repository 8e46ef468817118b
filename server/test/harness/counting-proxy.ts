import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before a server, which counts the responses that are under way by their path. */
export interface CountingProxy {
  readonly url: string
  /** How many responses to paths that fit are under way. */
  count(pattern: RegExp): number
  /** The most that were under way at once since the proxy started. */
  most(pattern: RegExp): number
  close(): Promise<void>
}

export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const open = new Set<{ readonly path: string }>()
  const peaks: string[][] = []
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?')[0] ?? ''
    const own = { path }
    const { method, headers, url = '/' } = incoming
    // Host stays as it is: the server compares it with the origin of the page.
    const forwarded = request(new URL(url, target), { method, headers, agent: false }, (response) => {
      open.add(own)
      peaks.push([...open].map((one) => one.path))
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      outgoing.flushHeaders()
      response.pipe(outgoing)
    })
    forwarded.once('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
    outgoing.once('close', () => {
      open.delete(own)
      forwarded.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    count: (pattern) => [...open].filter(({ path }) => pattern.test(path)).length,
    most: (pattern) => Math.max(0, ...peaks.map((paths) => paths.filter((path) => pattern.test(path)).length)),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
