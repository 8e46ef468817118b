import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before } from 'node:test'
import { type FuzzedServer, startFuzzedServer } from '../fuzz/server.ts'
import { ids, tokens } from '../harness/world.ts'
import type { WorstRequest } from './requests.ts'
import { openSender, type Sender } from './send.ts'

/**
 * No request holds the event loop of the server for more than 50 ms on a usual machine. What counts is the processor time of the
 * longest turn, against that of a fixed piece of work in the same process; and the best of several tries, because garbage is
 * collected and functions are compiled now and then.
 */
const maxRatio = 3
const maxTries = 6

/** A server for the tests of one describe block, and what finds the requests that hold its event loop. */
export function useHolderSearch() {
  let server: FuzzedServer
  let sender: Sender
  let allowed = 0
  const sink = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://sink')
    request.resume().on('end', () => response.end(searchParams.get('hub.challenge') ?? 'ok'))
  })

  before(async () => {
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
    server = await startFuzzedServer('sqlite')
    sender = openSender(server.url)
    allowed = maxRatio * (await server.calibrate())
    const { port } = sink.address() as { port: number }
    const subscribed = await sender.send(subscription(`http://127.0.0.1:${port}/`), 0)
    assert.equal(subscribed.status, 200, subscribed.text)
  })
  after(async () => {
    sender.close()
    await server.stop()
    sink.closeAllConnections()
    sink.close()
  })

  /** The longest turn that a request takes in the best of some tries, what it makes due included. */
  async function measure(request: WorstRequest): Promise<number> {
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < maxTries && best > allowed; attempt++) {
      const turn = await server.longestTurn(async () => {
        const { status, text } = await sender.send(request, attempt)
        assert.ok(status >= 200 && status < 500, `${request.name}: ${status} ${text}`)
        if (request.isDelivered) await server.advance(0)
      })
      best = Math.min(best, turn)
    }
    return best
  }

  async function findHolders(requests: Iterable<WorstRequest>): Promise<string[]> {
    const found: string[] = []
    for (const request of requests) {
      const turn = await measure(request)
      if (turn > allowed)
        found.push(`${request.name}: ${Math.round(turn)} ms, where ${Math.round(allowed)} are allowed`)
    }
    return found
  }

  return {
    findHolders,
    faults: () => server.faults(),
    /** The longest turn of a piece of work that is as long as is allowed, several times over. */
    async measureCalibration() {
      const turn = await server.longestTurn(() => server.calibrate())
      return { turn, allowed }
    },
  }
}

function subscription(callback_url: string): WorstRequest {
  const body = { object: 'msgapp_business_account', callback_url, verify_token: 'vt', fields: ['messages'] }
  return {
    name: 'a subscription',
    method: 'POST',
    target: `/v23.0/${ids.application}/subscriptions`,
    headers: { authorization: `Bearer ${tokens.owner}`, 'content-type': 'application/json' },
    makeBody: () => Buffer.from(JSON.stringify(body)),
  }
}
