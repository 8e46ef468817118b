import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where callbacks of the fuzzed server may go: it passes every handshake and takes every event, and keeps nothing. */
export async function openCallbackSink(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume()
    // Not as a URL: the path is whatever the fuzzer made of a callback, and `//` would be a host.
    const query = new URLSearchParams(request.url?.split('?')[1])
    response.end(query.get('hub.challenge') ?? 'ok')
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
