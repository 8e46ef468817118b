import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Switchboard, type SwitchboardOptions } from '@switchboard/client'

/** What stands between a client and its server, or in its place: no request to it needs the whole server. */
export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listenOn(t, createServer(listener))}`
}

/** The port of a server that ends with the test. */
export async function listenOn(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A client of a listener, and the paths that were asked for. */
export async function connect(t: TestContext, listener: RequestListener, options: SwitchboardOptions = {}) {
  const asked: string[] = []
  const baseUrl = await listen(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  return { client: new Switchboard({ baseUrl, token: 't', ...options }), asked, baseUrl }
}
