import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningServer, startCommand } from './harness/command.ts'
import { writeAs } from './harness/crowd.ts'
import { makeMigratedPlace, onBothDatabases } from './harness/databases.ts'
import { startNameServer, type Zone } from './harness/name-server.ts'
import { fakeOutsideNetwork, nameServerVariable, outsideAddress } from './harness/outside-network.ts'
import { type SinkRequest, sinkCertificate, startSink } from './harness/sink.ts'
import { messageIdsIn } from './harness/subscriber.ts'
import { until } from './harness/until.ts'
import { userOf } from './harness/webhooks.ts'
import { ids, testWorld, tokens } from './harness/world.ts'

const answer: Zone = () => ({ a: outsideAddress.split('.').map(Number) })
const silent: Zone = () => ({ isSilent: true })

function subscribeTo(server: RunningServer, callback_url: string): Promise<Response> {
  return fetch(`${server.url}/v23.0/${ids.application}/subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.owner}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      object: 'msgapp_business_account',
      callback_url,
      verify_token: 'vt',
      fields: ['messages'],
    }),
  })
}

onBothDatabases('a name server that is away', (engine) => {
  test('a name server that is away stops no subscriber whose address was known, and the others get everything in order afterwards', async (t) => {
    const nameServer = await startNameServer(t, answer)
    // Every post needs a new connection, and with it the name.
    const respond = ({ method, target }: SinkRequest, response: ServerResponse) => {
      response.setHeader('connection', 'close')
      response.end(method === 'GET' ? new URL(target, 'http://sink').searchParams.get('hub.challenge') : 'thanks')
    }
    const sink = await startSink(t, respond, { secure: true })
    const received = () => sink.requests.filter(({ method }) => method === 'POST').flatMap(messageIdsIn)
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const [world, certificate] = ['world.json', 'sink.pem'].map((name) => join(place.dataDir, name)) as [string, string]
    await writeFile(world, JSON.stringify(testWorld()))
    await writeFile(certificate, sinkCertificate.cert)
    const start = (more: readonly string[] = []) =>
      startCommand(['serve', '--port', '0', '--data', place.dataDir, ...more], {
        cwd: place.dataDir,
        env: {
          ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
          ALLOW_INTERNAL_CALLBACKS: 'false',
          NODE_EXTRA_CA_CERTS: certificate,
          NODE_OPTIONS: fakeOutsideNetwork,
          [nameServerVariable]: nameServer.address,
          WEBHOOK_RETRY_DELAYS: '1s',
          RATE_LIMITS: 'off',
        },
      })
    const first = await start(['--world', world])
    t.after(() => first.stop('SIGKILL'))
    const subscribed = await subscribeTo(first, `${sink.url}/hook`)
    assert.equal(subscribed.status, 200, await subscribed.text())
    assert.equal(await writeAs(first, userOf(1), 'before'), 200)
    await until(() => received().length === 1, 'the first event arrived')

    nameServer.serve(silent)
    for (const [index, id] of ['away.0', 'away.1', 'away.2'].entries()) {
      assert.equal(await writeAs(first, userOf(1), id), 200)
      await until(() => received().length === index + 2, `${id} arrived without a name server`)
    }
    const refused = await subscribeTo(first, 'https://unheard.example.com/hook')
    const { error } = (await refused.json()) as { error: { message: string; error_data?: { details?: string } } }
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(error), /no name server responded for its name in time/)
    const { code, stderr } = await first.stop('SIGTERM')
    assert.equal(code, 0)
    assert.doesNotMatch(stderr, /a delivery failed|a subscriber is down/)

    // A new process knows no address.
    const second = await start()
    t.after(() => second.stop('SIGKILL'))
    for (const id of ['new.0', 'new.1', 'new.2']) assert.equal(await writeAs(second, userOf(1), id), 200)
    await second.shows(/no name server responded for its name in time.*a delivery failed/)
    // A stop does not wait for a look-up.
    const stopping = performance.now()
    const ended = await second.stop('SIGTERM')
    assert.equal(ended.code, 0)
    assert.ok(performance.now() - stopping < 15_000, 'a look-up holds up no stop')
    assert.equal(ended.stderr.match(/a delivery failed/g)?.length, 1, 'one line')
    nameServer.serve(answer)
    const third = await start()
    t.after(() => third.stop('SIGKILL'))
    const all = ['before', 'away.0', 'away.1', 'away.2', 'new.0', 'new.1', 'new.2']
    await until(() => received().length >= all.length, 'everything arrived')
    assert.deepEqual(received(), all)
  })
})
