import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { onOneDatabase } from '../../test/harness/databases.ts'
import { startTestServer, type TestServer } from '../../test/harness/server.ts'
import { refuseWith, subscribe } from '../../test/harness/subscriber.ts'
import { until } from '../../test/harness/until.ts'
import { handInText } from '../../test/harness/webhooks.ts'
import { ids, tokens } from '../../test/harness/world.ts'
import { type Log, silentLog } from '../base/log/log.ts'
import { hour } from '../base/time/duration.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[]
  readonly status: { readonly code?: number }
}

/** A collector of OpenTelemetry, as far as an exporter sees one. */
class Collector {
  readonly spans: Span[] = []
  readonly services = new Set<unknown>()
  posts = 0
  isBroken = false
  readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      this.posts++
      if (this.isBroken) {
        response.writeHead(400).end()
        return
      }
      assert.equal(request.url, '/v1/traces')
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
      for (const { resource, scopeSpans } of resourceSpans) {
        for (const { key, value } of resource.attributes)
          if (key === 'service.name') this.services.add(value.stringValue)
        for (const { spans } of scopeSpans) this.spans.push(...spans)
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })

  ofTrace(trace: string, name: string): Span[] {
    return this.spans.filter((span) => span.traceId === trace && span.name === name)
  }
}

const readAttribute = (span: Span | undefined, key: string) =>
  Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0]

onOneDatabase('traces', 'postgres', (engine) => {
  const collector = new Collector()
  const warnings: string[] = []
  const warn = (about: unknown, text?: string) => void warnings.push(text ?? String(about))
  const log: Log = Object.assign(Object.create(silentLog), { warn })
  const held: { server?: TestServer } = {}
  const serverOf = () => held.server ?? assert.fail()
  before(async () => {
    await new Promise<void>((resolve) => collector.server.listen(0, '127.0.0.1', resolve))
    const { port } = collector.server.address() as AddressInfo
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
    held.server = await startTestServer({ engine, env, log })
  })
  after(async () => {
    await held.server?.stop()
    collector.server.closeAllConnections()
    collector.server.close()
  })

  test('a request is exported with its transaction, under the trace and the parent of its caller', async () => {
    const { client } = serverOf()
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
    const answer = await client.post(`/v23.0/${ids.account}`, {
      token: tokens.owner,
      json: { name: 'Traced' },
      headers,
    })
    assert.equal(answer.status, 200, answer.text)
    await until(async () => collector.spans.some(({ traceId }) => traceId === trace), 'it is exported')
    const [request, ...others] = collector.spans.filter(
      ({ traceId, parentSpanId }) => traceId === trace && parentSpanId === '00f067aa0ba902b7',
    )
    assert.deepEqual(others, [])
    assert.equal(readAttribute(request, 'http.response.status_code'), 200)
    assert.equal(readAttribute(request, 'http.request.method'), 'POST')
    assert.equal(readAttribute(request, 'switchboard.operation'), request?.name)
    const [transaction] = collector.ofTrace(trace, 'transaction')
    assert.equal(transaction?.parentSpanId, request?.spanId)
    assert.equal(readAttribute(transaction, 'db.system.name'), engine === 'sqlite' ? 'sqlite' : 'postgresql')
    assert.ok(BigInt(transaction?.endTimeUnixNano ?? 0) <= BigInt(request?.endTimeUnixNano ?? 0))
    assert.deepEqual([...collector.services], ['switchboard'])
    assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(tokens.owner))
  })

  test('each try of a webhook is exported under the trace of its cause; the first has the id that the webhook carries', async (t) => {
    const server = serverOf()
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(503))
    const answer = await handInText(server, 'wamid.traced')
    await server.app.settle()
    subscriber.answerWith(refuseWith(200))
    server.clock.advance(hour)
    await server.app.settle()
    const trace = answer.headers.get('x-svctrace-id') ?? ''
    await until(async () => collector.ofTrace(trace, 'webhook').length === 2, 'both tries are exported')
    const [first, second] = collector.ofTrace(trace, 'webhook')
    assert.deepEqual([readAttribute(first, 'http.response.status_code'), first?.status.code], [503, 2])
    assert.equal(readAttribute(second, 'http.response.status_code'), 200)
    assert.equal(second?.parentSpanId, first?.spanId)
    const sent = subscriber.posts[0]?.headers['traceparent']
    assert.equal(sent, `00-${trace}-${first?.spanId}-01`)
  })

  test('a collector that is down costs no request anything, and one line of the log', async () => {
    const { client } = serverOf()
    collector.isBroken = true
    const read = () => client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    const [posts, count] = [collector.posts, 3]
    for (let round = 1; round <= count; round++) {
      for (let index = 0; index < 20; index++) assert.equal((await read()).status, 200)
      await until(async () => collector.posts >= posts + round, 'they were sent in vain')
    }
    const about = () => warnings.filter((text) => text.includes('traces'))
    await until(async () => about().length > 0, 'it is logged')
    assert.deepEqual(about(), ['traces cannot be exported, and are dropped'])
    collector.isBroken = false
  })
})
