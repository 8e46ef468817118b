import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { pack } from '../../scripts/pack.mjs'
import { maxWaiting } from '../src/http/connection/requests-in-turn.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { ada, number, post } from './harness/console-page.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { malformedAnswers } from './harness/malformed-answers.ts'
import { png } from './harness/media-files.ts'
import { fakeOutsideNetwork, insideName, outsideAddress } from './harness/outside-network.ts'
import { pipeline, requestBytes, statusOf } from './harness/pipeline.ts'
import { listenForTest, startSink } from './harness/sink.ts'
import { until } from './harness/until.ts'

/**
 * The server as it is shipped. Its libraries behave another way when they are packed, so what the other tests show of the sources need
 * not be true of it. Internal addresses are forbidden, as in production.
 */
describe('the packed server', () => {
  let place: StorePlace
  let server: RunningServer
  let store: DatabaseSync

  before(async () => {
    await pack()
    place = await makeStorePlace('sqlite')
    server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
      cwd: place.dataDir,
      env: {
        RATE_LIMITS: 'off',
        LOG_LEVEL: 'error',
        ALLOW_INTERNAL_CALLBACKS: 'false',
        NODE_OPTIONS: fakeOutsideNetwork,
      },
    })
    store = new DatabaseSync(join(place.dataDir, 'switchboard.db'), { readOnly: true })
  })

  after(async () => {
    store?.close()
    await server?.stop('SIGTERM')
    await place?.remove()
  })

  async function sendLink(link: string): Promise<string> {
    const json = { messaging_product: 'msgapp', to: ada, type: 'image', image: { link } }
    const answer = await post(server.url, `/v23.0/${number}/messages`, json)
    assert.equal(answer.status, 200, await answer.clone().text())
    const { messages } = (await answer.json()) as { messages: [{ id: string }] }
    return messages[0].id
  }

  const untilNoLinkWaits = () =>
    until(() => store.prepare('SELECT COUNT(*) AS count FROM link_fetches').get()?.['count'] === 0, 'no link waits')

  async function stateOf(message: string): Promise<unknown> {
    const headers = { authorization: 'Bearer demo-gateway-token' }
    const answer = await fetch(`${server.url}/gateway/messages/${message}`, { headers })
    return ((await answer.json()) as { state: unknown }).state
  }

  test('the packed server ends every link after at most two tries, whatever its host answers, and logs no fault', async (t) => {
    const asked = new Map<string, number>()
    const answers = Object.entries(malformedAnswers)
    const host = createServer((request, response) => {
      const path = request.url ?? ''
      asked.set(path, (asked.get(path) ?? 0) + 1)
      const found = answers[Number(path.slice(1))]
      if (found) response.socket?.end(Buffer.from(found[1], 'latin1'))
      else response.end(png)
    })
    const { port } = await listenForTest(t, host)
    const linkTo = (path: string) => `http://${outsideAddress}:${port}/${path}`
    for (const index of answers.keys()) await sendLink(linkTo(String(index)))
    const good = await sendLink(linkTo('good.png'))
    await untilNoLinkWaits()
    assert.equal(asked.size, answers.length + 1)
    for (const [path, count] of asked) {
      assert.ok(count <= 2, `${answers[Number(path.slice(1))]?.[0]}: asked ${count} times`)
    }
    assert.notEqual(await stateOf(good), 'failed')
    assert.equal(server.stderr(), '')
  })

  test('the packed server connects to no internal address: not for a link, a redirect, a name or a callback', async (t) => {
    const inside = await startSink(t, (_, response) => response.end(png))
    const host = await startSink(t, ({ target }, response) =>
      response.writeHead(302, { location: new URL(target, 'http://host').searchParams.get('to') ?? '' }).end(),
    )
    const internal = [inside.url, `http://localhost:${inside.port}`, `http://${insideName}:${inside.port}`]
    const redirects = internal.map((url) => `http://${outsideAddress}:${host.port}/?to=${encodeURIComponent(url)}`)
    const sent: string[] = []
    for (const link of [...redirects, ...internal]) sent.push(await sendLink(link))
    const callbacks = [...internal, `https://127.0.0.1:${inside.port}`, `https://${insideName}:${inside.port}`]
    for (const callback_url of callbacks) {
      const json = { object: 'msgapp_business_account', callback_url, verify_token: 'v', fields: ['messages'] }
      const { status } = await post(server.url, '/v23.0/3000000000000001/subscriptions', json)
      assert.equal(status, callback_url === callbacks.at(-1) ? 422 : 400, callback_url)
    }
    await untilNoLinkWaits()
    for (const message of sent) assert.equal(await stateOf(message), 'failed')
    assert.equal(host.requests.length, redirects.length, 'each redirect was asked for once')
    assert.equal(inside.connections.length, 0)
    assert.equal(server.stderr(), '')
  })

  test('the packed server answers a few of many pipelined requests and then closes, while others are served', async () => {
    const read = requestBytes('GET', `/v23.0/${number}?fields=id`, 'demo-token')
    const flood = pipeline(server.url, read.repeat(Math.ceil(65_536 / read.length)), Number.POSITIVE_INFINITY)
    const beside = await pipeline(server.url, read, 1)
    const { responses, isClosed } = await flood
    assert.deepEqual(beside.responses.map(statusOf), [200])
    assert.deepEqual(responses.map(statusOf), [...Array.from({ length: 1 + maxWaiting }, () => 200), 429])
    assert.ok(isClosed)
  })

  test('the packed server begins a pipelined request when the one before has ended, and others do not wait for it', async (t) => {
    const count = () => store.prepare('SELECT COUNT(*) AS count FROM messages').get()?.['count'] as number
    const before = count()
    const json = JSON.stringify({ messaging_product: 'msgapp', to: ada, text: { body: 'Hello' } })
    const write = requestBytes('POST', `/v23.0/${number}/messages`, 'demo-token', { json })
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    // A stream never ends by itself. It comes in one piece with what follows, which has arrived when the stream begins.
    const begun = new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject))
    socket.write(requestBytes('GET', '/gateway/stream', 'demo-gateway-token') + write.repeat(maxWaiting))
    assert.match(String(await begun), /^HTTP\/1\.1 200 /)
    // Writes happen one after the other: a pipelined one that had begun would be done before the third of these.
    for (let round = 0; round < 3; round++) {
      assert.deepEqual((await pipeline(server.url, write, 1)).responses.map(statusOf), [200])
    }
    assert.equal(count(), before + 3)
  })
})
