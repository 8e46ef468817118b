import { once } from 'node:events'
import { Agent, get, type IncomingMessage, request } from 'node:http'

/** A process of its own: phones that listen, or a business that sends. What they do must not count as work of the server. */

export type Order =
  | { readonly do: 'listen'; readonly url: string; readonly token: string; readonly users: readonly string[] }
  | { readonly do: 'count' | 'hush' }
  | { readonly do: 'send'; readonly url: string; readonly token: string; readonly to: readonly string[] }

const atOnce = 4
let events = 0
const streams: IncomingMessage[] = []

async function listen({ url, token, users }: Extract<Order, { do: 'listen' }>): Promise<void> {
  for (const user of users) {
    const headers = { authorization: `Bearer ${token}` }
    const [response] = (await once(
      get(`${url}/gateway/stream?user_wa_id=${user}`, { headers, agent: false }),
      'response',
    )) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
    streams.push(response)
    response.setEncoding('latin1')
    response.on('data', (text: string) => {
      events += text.split('\nevent: ').length - 1
    })
  }
}

async function send({ url, token, to }: Extract<Order, { do: 'send' }>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const waiting = [...to]
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let user = waiting.pop(); user !== undefined; user = waiting.pop()) {
        const call = request(url, { method: 'POST', headers, agent })
        call.end(JSON.stringify({ messaging_product: 'msgapp', to: user, text: { body: 'Hello' } }))
        const [response] = (await once(call, 'response')) as [IncomingMessage]
        response.resume()
        await once(response, 'end')
        if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
      }
    }),
  )
  const took = performance.now() - start
  agent.destroy()
  return took
}

process.on('message', async (order: Order) => {
  if (order.do === 'listen') await listen(order)
  if (order.do === 'hush') for (const stream of streams.splice(0)) stream.destroy()
  process.send?.(order.do === 'send' ? await send(order) : events)
})
