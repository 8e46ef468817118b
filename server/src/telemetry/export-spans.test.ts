import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CollectedSpan, readAttributes } from '../../test/harness/collector.ts'
import { onOneDatabase } from '../../test/harness/databases.ts'
import { useExportingServer } from '../../test/harness/exporting-server.ts'
import { refuseWith, subscribe } from '../../test/harness/subscriber.ts'
import { until } from '../../test/harness/until.ts'
import { envelopeOf, handIn, handInText, messagesChange, textMessage } from '../../test/harness/webhooks.ts'
import { ids, tokens } from '../../test/harness/world.ts'
import { hour } from '../base/time/duration.ts'
import { packageVersion } from '../version.ts'

const path = '/v1/traces'
const kinds = { server: 2, client: 3 }

onOneDatabase('traces', 'postgres', (engine) => {
  const { collector, warnings, serverOf } = useExportingServer(engine, (url) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging%2C%20EU, service.instance.id=mine',
    PUBLIC_URL: 'https://api.example.com',
  }))

  const rename = (traceparent: string) =>
    serverOf().client.post(`/v23.0/${ids.account}`, {
      token: tokens.owner,
      json: { name: 'Traced' },
      headers: { traceparent },
    })

  const handInTraced = (id: string, traceparent: string) =>
    handIn(serverOf(), envelopeOf([messagesChange(textMessage(id))]), { headers: { traceparent } })

  const find = async (trace: string, count: number, name: string): Promise<CollectedSpan[]> => {
    await until(async () => collector.ofTrace(trace, name).length >= count, `${count} of ${name} are exported`)
    const found = collector.ofTrace(trace, name)
    assert.equal(found.length, count)
    return found
  }

  test('a request is exported with its transaction, under the trace and the parent of its caller', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const answer = await rename(`00-${trace}-00f067aa0ba902b7-01`)
    assert.equal(answer.status, 200, answer.text)
    const [request] = await find(trace, 1, 'POST /:version/:id')
    assert.equal(request?.parentSpanId, '00f067aa0ba902b7')
    assert.equal(request?.kind, kinds.server)
    const {
      'switchboard.business_id': business,
      'switchboard.app_id': app,
      ...known
    } = readAttributes(request.attributes)
    assert.ok(business && app)
    assert.deepEqual(known, {
      'url.scheme': 'https',
      'server.address': 'api.example.com',
      'server.port': 443,
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.route': '/:version/:id',
      'switchboard.operation': 'account.update',
    })
    const [transaction] = await find(trace, 1, 'transaction')
    assert.equal(transaction?.parentSpanId, request?.spanId)
    assert.deepEqual(readAttributes(transaction?.attributes ?? []), {
      'db.system.name': engine === 'sqlite' ? 'sqlite' : 'postgresql',
      'db.operation.name': 'transaction',
    })
    assert.ok(BigInt(transaction?.endTimeUnixNano ?? 0) <= BigInt(request?.endTimeUnixNano ?? 0))
    assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(tokens.owner))
  })

  test('the resource is the process that operators see, with what OTEL_RESOURCE_ATTRIBUTES says', async () => {
    const { client } = serverOf()
    const state = await client.get('/operator/state', { token: tokens.operator })
    const [{ id }] = state.body.processes
    await until(async () => collector.resources.has(path), 'something is exported')
    assert.deepEqual(collector.resources.get(path), {
      'service.name': 'switchboard',
      'service.version': packageVersion(),
      'service.instance.id': id,
      'switchboard.role': 'all',
      'deployment.environment.name': 'staging, EU',
    })
  })

  test('each try of a webhook hangs below the request that raised its event; the first has the id that the webhook carries', async (t) => {
    const server = serverOf()
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503))
    const answer = await handInText(server, 'wamid.traced')
    await server.app.settle()
    subscriber.answerWith(refuseWith(200))
    server.clock.advance(hour)
    await server.app.settle()
    const trace = answer.headers.get('x-svctrace-id') ?? ''
    const [request] = await find(trace, 1, 'POST /msgapp/webhooks')
    const [first, second] = await find(trace, 2, 'POST webhook')
    assert.deepEqual([first?.parentSpanId, second?.parentSpanId], [request?.spanId, request?.spanId])
    assert.deepEqual([first?.kind, first?.status.code], [kinds.client, 2])
    const { port } = new URL(subscriber.url)
    const {
      'switchboard.app_id': app,
      'switchboard.delivery_id': delivery,
      ...known
    } = readAttributes(first?.attributes ?? [])
    assert.ok(app && delivery)
    assert.deepEqual(known, {
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'http.request.method': 'POST',
      'http.response.status_code': 503,
      'error.type': '503',
    })
    assert.equal(readAttributes(second?.attributes ?? [])['http.request.resend_count'], 1)
    assert.deepEqual([first?.links ?? [], second?.links?.map(({ spanId }) => spanId)], [[], [first?.spanId]])
    const sent = subscriber.posts.map(({ headers }) => headers['traceparent'])
    assert.deepEqual(sent, Array(2).fill(`00-${trace}-${first?.spanId}-01`))
  })

  test('two requests with the same traceparent have a span each, and the webhooks hang below their own', async (t) => {
    const server = serverOf()
    await subscribe(t, server)
    const trace = 'ab'.repeat(16)
    for (const id of ['wamid.twice.1', 'wamid.twice.2']) await handInTraced(id, `00-${trace}-${'12'.repeat(8)}-01`)
    await server.app.settle()
    const requests = await find(trace, 2, 'POST /msgapp/webhooks')
    const webhooks = await find(trace, 2, 'POST webhook')
    assert.equal(new Set(requests.map(({ spanId }) => spanId)).size, 2)
    assert.deepEqual(
      webhooks.map(({ parentSpanId }) => parentSpanId),
      requests.map(({ spanId }) => spanId),
    )
  })

  test('what its caller does not sample is not exported, and neither it nor a later process samples the webhook', async (t) => {
    const server = serverOf()
    const subscriber = await subscribe(t, server)
    const [left, taken] = ['cd'.repeat(16), 'ef'.repeat(16)]
    for (const [trace, flags] of [
      [left, '00'],
      [taken, '01'],
    ] as const) {
      await handInTraced(`wamid.${trace}`, `00-${trace}-${'12'.repeat(8)}-${flags}`)
    }
    await server.app.settle()
    await find(taken, 1, 'POST webhook')
    assert.deepEqual(collector.ofTrace(left), [])
    const sent = subscriber.posts.map(({ headers }) => String(headers['traceparent']))
    assert.deepEqual(
      sent.map((header) => [header.slice(3, 35), header.slice(-2)]),
      [
        [left, '00'],
        [taken, '01'],
      ],
    )
    const stored = await server.database.read.query
      .selectFrom('events')
      .select('span')
      .where('trace', '=', left)
      .execute()
    assert.deepEqual(
      stored.map(({ span }) => span?.slice(-3)),
      ['-00'],
    )
  })

  test('a collector that is down costs no request anything, and one line of the log', async () => {
    const { client } = serverOf()
    collector.isBroken = true
    const read = () => client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    const [posts, count] = [collector.countPosts(path), 3]
    for (let round = 1; round <= count; round++) {
      for (let index = 0; index < 20; index++) assert.equal((await read()).status, 200)
      await until(async () => collector.countPosts(path) >= posts + round, 'they were sent in vain')
    }
    const about = () => warnings.filter((text) => text.includes('traces'))
    await until(async () => about().length > 0, 'it is logged')
    assert.deepEqual(about(), ['traces cannot be exported, and are dropped'])
    collector.isBroken = false
  })
})
