import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import {
  makeWebhookHandler,
  Switchboard,
  unwrapWebhook,
  type WebhookEvent,
  type WebhookHandler,
  WebhookVerificationError,
} from '@switchboard/client'
import fastify from 'fastify'
import { testLong } from '../../server/test/harness/form.ts'

const secret = 'shrub-app-secret'
const standardSecret = `whsec_${Buffer.from('a key of some length').toString('base64')}`
const envelope = {
  object: 'msgapp_business_account',
  entry: [
    {
      id: '1000000000000001',
      changes: [
        {
          field: 'messages',
          value: {
            messaging_product: 'msgapp',
            metadata: { display_phone_number: '16315551001', phone_number_id: '4000000000000001' },
            contacts: [{ profile: { name: 'Ada' }, wa_id: '16505551234' }],
            messages: [
              { from: '16505551234', id: 'wamid.1', timestamp: '1780315200', type: 'text', text: { body: 'Grün' } },
            ],
          },
        },
      ],
    },
    { id: '1000000000000001', time: 1780315200, changes: [{ field: 'template_category_update', value: {} }] },
  ],
}
const body = JSON.stringify(envelope)

const now = () => Math.floor(Date.now() / 1000)

function signPlatform(text: string | Buffer, key = secret): Record<string, string> {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(text).digest('hex')}` }
}

function signStandard(text: string | Buffer, time = now(), key: string | Buffer = secret): Record<string, string> {
  const signed = Buffer.concat([Buffer.from(`delivery_1.${time}.`), Buffer.from(text)])
  return {
    'webhook-id': 'delivery_1',
    'webhook-timestamp': String(time),
    'webhook-signature': `v1a,AAAA v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  }
}

const sign = (text: string | Buffer) => ({ ...signPlatform(text), ...signStandard(text) })

describe('unwrapping a webhook', () => {
  test('unwrapping a webhook gives the envelope as on the wire, and its events one by one', async () => {
    const client = new Switchboard()
    const post = await client.webhooks.unwrap(body, sign(body), secret)
    assert.deepEqual({ object: post.object, entry: post.entry }, envelope)
    assert.equal(post.id, 'delivery_1')
    const [first, second] = post.events
    assert.ok(first?.field === 'messages' && first.value.messages?.[0]?.type === 'text')
    assert.equal(first.value.messages[0].text.body, 'Grün')
    assert.deepEqual(second, {
      account_id: '1000000000000001',
      time: 1780315200,
      field: 'template_category_update',
      value: {},
    })
  })

  for (const [what, raw] of [
    ['a Buffer', Buffer.from(body)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
    ['a text', body],
    [
      'bytes of another realm, as in some test runners',
      runInNewContext('Uint8Array.from(bytes)', { bytes: [...Buffer.from(body)] }),
    ],
    [
      'an ArrayBuffer of another realm',
      runInNewContext('Uint8Array.from(bytes).buffer', { bytes: [...Buffer.from(body)] }),
    ],
  ] as const) {
    test(`unwrapping a webhook takes ${what}`, async () =>
      void (await unwrapWebhook(raw, new Headers(sign(body)), secret)))
  }

  test('unwrapping a webhook takes the timestamped signature alone, the other one alone where that is asked for, and headers in any case', async () => {
    const plain = { 'X-Hub-Signature-256': signPlatform(body)['x-hub-signature-256'] }
    await unwrapWebhook(body, plain, secret, { requireTimestamp: false })
    await unwrapWebhook(body, signStandard(body), secret)
    await unwrapWebhook(body, new Map(Object.entries(sign(body))) as unknown as Headers, secret)
    await unwrapWebhook(body, signStandard(body, now(), Buffer.from('a key of some length')), standardSecret)
  })

  test('unwrapping a webhook takes the new secret and the old one during a rotation', async () => {
    await unwrapWebhook(body, sign(body), ['new-secret', secret])
  })

  const refusals: [string, unknown, Record<string, string>, string | string[], string, object?][] = [
    ['a wrong secret', body, sign(body), 'another', 'signature_wrong'],
    ['other bytes than were signed', `${body} `, sign(body), secret, 'signature_wrong'],
    [
      'a good platform signature beside a wrong one',
      body,
      { ...signPlatform(body), ...signStandard(`${body} `) },
      secret,
      'signature_wrong',
    ],
    ['half a signature', body, { 'x-hub-signature-256': 'sha256=00' }, secret, 'signature_wrong'],
    ['no signature', body, {}, secret, 'signature_missing'],
    ['no headers', body, undefined as never, secret, 'signature_missing'],
    ['a signature without a timestamp', body, signPlatform(body), secret, 'signature_missing'],
    ['an old timestamp', body, signStandard(body, now() - 301), secret, 'timestamp_old'],
    ['a timestamp of the future', body, signStandard(body, now() + 400), secret, 'timestamp_old'],
    ['a tolerance of one minute', body, signStandard(body, now() - 70), secret, 'timestamp_old', { tolerance: 60 }],
    ['a parsed body', envelope, sign(body), secret, 'body_parsed'],
    ['UTF-16 instead of the bytes', Buffer.from(body, 'utf16le'), sign(body), secret, 'signature_wrong'],
    ['latin1 instead of the bytes', Buffer.from(body, 'latin1'), sign(body), secret, 'signature_wrong'],
    ['a compressed body', body, { ...sign(body), 'content-encoding': 'gzip' }, secret, 'body_encoded'],
    ['what is no JSON', 'hello', sign('hello'), secret, 'body_not_json'],
    ['no secret', body, sign(body), '', 'secret_missing'],
  ]
  for (const [what, raw, headers, key, problem, options] of refusals) {
    test(`unwrapping a webhook refuses ${what}`, async () => {
      await assert.rejects(unwrapWebhook(raw as string, headers, key, options), (error) => {
        assert.ok(error instanceof WebhookVerificationError)
        return error.problem === problem
      })
    })
  }
})

interface Taken {
  readonly events: WebhookEvent[]
  readonly errors: unknown[]
  readonly handler: WebhookHandler
}

function take(onEvent?: () => unknown): Taken {
  const events: WebhookEvent[] = []
  const errors: unknown[] = []
  const handler = makeWebhookHandler({
    verifyToken: 'vt',
    secret,
    onEvent: onEvent ?? ((event) => events.push(event)),
    onError: (error) => errors.push(error),
  })
  return { events, errors, handler }
}

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

/** The little that is used of Express, which has no types of its own. */
interface Express {
  (): RequestListener & { use(...handlers: unknown[]): void; all(path: string, ...handlers: unknown[]): void }
  json(): unknown
  raw(options: object): unknown
}

async function loadExpress(): Promise<Express> {
  const name: string = 'express'
  return ((await import(name)) as { default: Express }).default
}

/** Each server with the handler, at an address. */
const servers: Record<string, (t: TestContext, handler: WebhookHandler) => Promise<string>> = {
  "Node's http": (t, handler) => listen(t, handler.node),
  Express: async (t, handler) => {
    const express = await loadExpress()
    const app = express()
    app.all('/hook', handler.express)
    app.use(express.json())
    return listen(t, app)
  },
  'Express behind express.raw()': async (t, handler) => {
    const express = await loadExpress()
    const app = express()
    app.use(express.raw({ type: '*/*', limit: '32mb' }))
    app.all('/hook', handler.express)
    return listen(t, app)
  },
  Fastify: async (t, handler) => {
    const app = fastify()
    await app.register(handler.fastify, { prefix: '/hook' })
    t.after(() => app.close())
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
  },
  "Node's http, as it is": (t, handler) => listen(t, handler),
  'Express, as it is': async (t, handler) => {
    const app = (await loadExpress())()
    app.all('/hook', handler)
    return listen(t, app)
  },
  'Fastify, as it is': async (t, handler) => {
    const app = fastify()
    await app.register(handler, { prefix: '/hook' })
    t.after(() => app.close())
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
  },
  'Request → Response': async (t, handler) =>
    listen(t, async (incoming, outgoing) => {
      const chunks = await Array.fromAsync(incoming as AsyncIterable<Buffer>)
      const response = await handler(
        new Request(`http://localhost${incoming.url}`, {
          method: incoming.method ?? '',
          headers: incoming.headers as Record<string, string>,
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        }),
      )
      outgoing.writeHead(response.status).end(await response.text())
    }),
}

/** What is too large is refused by the handler itself on each of them; to send it takes longest. */
const testLarge = (name: string) => (name === Object.keys(servers)[0] ? test : testLong)

for (const [name, start] of Object.entries(servers)) {
  describe(`the handler on ${name}`, () => {
    const post = (url: string, text: string, headers: Record<string, string>) =>
      fetch(url, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } })

    test(`the handler on ${name} answers the handshake, and refuses one with another token`, async (t) => {
      const url = await start(t, take().handler)
      const ask = (token: string) => fetch(`${url}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=4711`)
      const right = await ask('vt')
      assert.deepEqual([right.status, await right.text()], [200, '4711'])
      assert.equal((await ask('wrong')).status, 403)
    })

    test(`the handler on ${name} hands on events whose signature is good, and no others`, async (t) => {
      const { handler, events, errors } = take()
      const url = await start(t, handler)
      assert.equal((await post(url, body, sign(body))).status, 200)
      assert.deepEqual(
        events.map(({ field }) => field),
        ['messages', 'template_category_update'],
      )
      assert.equal((await post(url, body, signPlatform(`${body}x`))).status, 401)
      assert.equal(events.length, 2)
      assert.equal((errors[0] as WebhookVerificationError).problem, 'signature_wrong')
    })

    testLarge(name)('takes large posts, and none that is larger than any', async (t) => {
      const { handler, events, errors } = take()
      const url = await start(t, handler)
      const large = JSON.stringify({ ...envelope, more: 'x'.repeat(2_000_000) })
      assert.equal((await post(url, large, sign(large))).status, 200)
      assert.equal(events.length, 2)
      // A server may close the connection instead of reading on.
      const status = await post(url, 'x'.repeat(33_600_000), signPlatform('')).then(
        (response) => response.status,
        () => 413,
      )
      assert.equal(status, 413)
      assert.ok(errors.every((error) => (error as WebhookVerificationError).problem === 'body_too_large'))
    })

    test(`the handler on ${name} answers 500 when onEvent fails, so that the post comes again`, async (t) => {
      const { handler, errors } = take(() => {
        throw new Error('the queue is full')
      })
      const url = await start(t, handler)
      assert.equal((await post(url, body, sign(body))).status, 500)
      assert.equal((errors[0] as Error).message, 'the queue is full')
    })
  })
}

describe('a handler that nobody waits for', () => {
  test('a handler that nobody waits for answers requests for addresses that are none', async (t) => {
    const url = await listen(t, take().handler.node)
    for (const path of ['//', '//?hub.mode=subscribe&hub.verify_token=vt&hub.challenge=4711', 'http://[/', '*']) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.end(`GET ${path} HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n`)
      assert.match(await text(socket), path.includes('?') ? /^HTTP\/1.1 200 [\s\S]+4711/ : /^HTTP\/1.1 40[03] /)
    }
  })

  test('a handler that nobody waits for answers when what is called with its errors fails too', async (t) => {
    t.mock.method(console, 'error', () => undefined)
    const onError = () => Promise.reject(new Error('no log'))
    const url = await listen(t, makeWebhookHandler({ verifyToken: 'vt', secret, onEvent: () => 0, onError }).node)
    assert.equal((await fetch(url, { method: 'POST', body })).status, 401)
  })
})

describe('a body that was parsed before', () => {
  test('a body that was parsed before is reported by the handler as a route of Fastify', async (t) => {
    const { handler, errors } = take()
    const app = fastify()
    app.post('/hook', (request) => handler(request as unknown as Request))
    t.after(() => app.close())
    const headers = { 'content-type': 'application/json', ...sign(body) }
    assert.equal((await app.inject({ method: 'POST', url: '/hook', body, headers })).statusCode, 500)
    assert.equal((errors[0] as WebhookVerificationError).problem, 'body_parsed')
  })

  test('a body that was parsed before is reported by the handler in Express', async (t) => {
    const { handler, errors } = take()
    const express = await loadExpress()
    const app = express()
    app.use(express.json())
    app.all('/hook', handler.express)
    const url = await listen(t, app)
    const headers = { 'content-type': 'application/json', ...sign(body) }
    const response = await fetch(url, { method: 'POST', body, headers })
    assert.equal(response.status, 500)
    assert.match(await response.text(), /express\.raw/)
    assert.equal((errors[0] as WebhookVerificationError).problem, 'body_parsed')
  })

  test('a body that was parsed before is reported by the handler for a Request that was read', async () => {
    const { handler, errors } = take()
    const request = new Request('http://localhost/', { method: 'POST', body, headers: sign(body) })
    await request.json()
    assert.equal((await handler(request)).status, 500)
    assert.equal((errors[0] as WebhookVerificationError).problem, 'body_parsed')
  })
})
