import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where callbacks of the fuzzed server may go: it passes every handshake and takes every event, and keeps nothing. */
export async function openCallbackSink(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume()
    const { searchParams } = new URL(request.url ?? '/', 'http://sink')
    response.end(searchParams.get('hub.challenge') ?? 'ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
