import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import {
  argumentHoldsHalfCharacter,
  argumentHoldsNul,
  argumentHoldsTooMuch,
  argumentTooDeep,
  argumentWrong,
} from '../src/graph/errors.ts'
import {
  badEscape,
  bodyHoldsTooMuch,
  bodyTooDeep,
  jsonSentAsForm,
  pathUnknown,
  tooManyFields,
} from '../src/http/errors.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError, like } from './harness/errors.ts'
import { exchangeBytes, readRawAnswer } from './harness/raw-http.ts'
import { useTestServer } from './harness/server.ts'
import { accounts, ids, numbers, tokens } from './harness/world.ts'

/** What the HTTP server's own parts would answer by themselves, in the one envelope all the same. */
describe('requests that are broken below the API', () => {
  const lines: string[] = []
  const log = Object.assign(pino({ level: 'info' }, { write() {} }), { line: (members: string) => lines.push(members) })
  const server = useTestServer({ engine: 'sqlite', log })

  async function exchange(bytes: string): Promise<{ status: number; error: Record<string, unknown>; head: string }> {
    const { status, head, body } = readRawAnswer(await exchangeBytes(server.url, bytes))
    return { status, head, error: JSON.parse(body).error }
  }

  for (const [name, bytes] of [
    ['a header without a colon', 'GET /v23.0/1 HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n'],
    ['headers that are too large', `GET /v23.0/1 HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a method that HTTP does not know', 'FROB /v23.0/1 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['something that is not HTTP', 'hello there\r\n\r\n'],
    [
      'two content lengths',
      'POST /v23.0/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    ],
    ['malformed URL encoding', 'GET /v23.0/%E0%A4%A HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['malformed URL encoding of the version', 'GET /%zz/1 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ] as const) {
    test(`requests that are broken below the API: 400 for ${name}`, async () => {
      const { status, error, head } = await exchange(bytes)
      assert.equal(status, 400)
      assert.equal(error['code'], 100)
      assert.match(head, /^x-svctrace-id: [\da-f]{32}$/im)
      assert.match(head, /^content-type: application\/json/im)
    })
  }

  for (const [name, bytes] of [
    ['an unknown path', 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['what is not behind a door', 'GET /gateway/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['what is not below a page', 'GET /docs/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a method that no path offers', 'TRACE /v23.0/1 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a path of many segments', 'GET /v23.0/1/2/3/4/5 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ] as const) {
    test(`requests that are broken below the API: 404 for ${name}`, async () => {
      const { status, error } = await exchange(bytes)
      assert.equal(status, 404)
      assert.equal(error['code'], 803)
    })
  }

  for (const [name, bytes] of [
    ['that is not HTTP', 'hello there\r\n\r\n'],
    ['with a malformed URL', 'GET /v23.0/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['for a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['for an unknown path', 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['whose body breaks', writeBrokenPost(`/v23.0/${ids.account}`, tokens.owner)],
    ['whose body breaks, at the gateway', writeBrokenPost('/gateway/calls', tokens.gateway)],
  ] as const) {
    test(`one line in the log, with the trace that the caller was given, for a request ${name}`, async () => {
      const { status, error, head } = await exchange(bytes)
      const trace = String(error['svctrace_id'])
      assert.match(head, new RegExp(`^x-svctrace-id: ${trace}$`, 'im'))
      const found = lines.filter((line) => line.includes(trace)).map((line) => JSON.parse(`{${line}}`))
      assert.equal(found.length, 1, `${trace} is in ${found.length} lines`)
      assert.deepEqual([found[0].status, found[0].trace], [status, trace])
    })
  }

  test('requests that are broken below the API: 404 for an id without a version, and how to write it', async () => {
    const answer = await server.client.get('/4000000000000001', { token: tokens.owner })
    assertError(answer, pathUnknown({ method: 'GET', version: 'v23.0' }))
  })

  test('no second answer for a body that breaks when its request is answered already', async () => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.setEncoding('latin1')
    socket.write('POST /v23.0/1/2/3/4/5 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    let received = ''
    socket.on('data', (chunk: string) => {
      received += chunk
      socket.write('zz\r\n')
    })
    await once(socket, 'close')
    assert.match(received, /^HTTP\/1\.1 404 /)
    assert.equal(received.split('HTTP/1.1 ').length, 2, received)
  })

  test('401, then 404, for an id of absurd length, as for any other that does not exist', async () => {
    const path = `/v23.0/${'1'.repeat(8000)}`
    assert.equal((await server.client.get(path)).status, 401)
    assert.equal((await server.client.get(path, { token: tokens.owner })).status, 404)
  })

  test('401 for a request without a Host header, as for any other without a token', async () => {
    const { status } = await exchange('GET /v23.0/1 HTTP/1.1\r\n\r\n')
    assert.equal(status, 401)
  })

  test('an expectation that nobody knows is ignored', async () => {
    const { status } = await exchange('GET /v23.0/1 HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n')
    assert.equal(status, 401)
  })

  test('a trace that the caller sent is taken over; a malformed one is not', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const given = await server.client.get('/v23.0/1', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
    assert.equal(given.body.error.svctrace_id, trace)
    const malformed = await server.client.get('/v23.0/1', { headers: { traceparent: `00-${trace}-zz-01` } })
    assert.notEqual(malformed.body.error.svctrace_id, trace)
    assert.match(malformed.body.error.svctrace_id, /^[\da-f]{32}$/)
  })
})

function writeBrokenPost(path: string, token: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`
}

onOneDatabase('input in every form', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  test('404 for an id that no database takes, as for any other that does not exist', async () => {
    for (const id of ['%00', 'a%00b', 'upload:%00']) {
      const { status } = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
      assert.equal(status, 404, id)
    }
  })
  const path = `/v23.0/${ids.account}`
  const token = tokens.owner

  async function nameNow(): Promise<string> {
    return (await server.client.get(path, { token })).body.name
  }

  for (const [name, options] of [
    ['JSON', { json: { name: 'By JSON' } }],
    ['a form', { form: { name: 'By a form' } }],
    ['multipart', { multipart: { name: 'By multipart' } }],
    ['a file of multipart', { multipart: { name: new Blob(['By a file']) } }],
    ['the query', { query: { name: 'By the query' } }],
    ['the body over the query', { json: { name: 'By the body' }, query: { name: 'Not this' } }],
  ] as const) {
    test(`input in every form: 200 with arguments by ${name}`, async () => {
      const answer = await server.client.post(path, { token, ...options })
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      const sent = 'json' in options ? options.json.name : undefined
      const expected =
        sent ??
        {
          'a form': 'By a form',
          multipart: 'By multipart',
          'a file of multipart': 'By a file',
          'the query': 'By the query',
        }[name as string]
      assert.equal(await nameNow(), expected)
    })
  }

  for (const [name, options] of [
    ['an empty JSON body', { raw: '', headers: { 'content-type': 'application/json' } }],
    ['an empty form', { raw: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['no body', {}],
    ['an empty object', { json: {} }],
    ['unknown members only', { json: { nickname: 'x', __proto__x: 1 } }],
  ] as const) {
    test(`input in every form: 200 with ${name}: nothing changes`, async () => {
      const before = await nameNow()
      assert.equal((await server.client.post(path, { token, ...options })).status, 200)
      assert.equal(await nameNow(), before)
    })
  }

  for (const [name, json, expected] of [
    ['a NUL character', { name: 'a\0b' }, argumentHoldsNul('name')],
    ['half of a surrogate pair', { name: 'a\ud800b' }, argumentHoldsHalfCharacter('name')],
    ['null', { name: null }, like(argumentWrong, { argument: 'name' })],
    ['a number', { name: 5 }, like(argumentWrong, { argument: 'name' })],
    ['an array', { name: ['x'] }, like(argumentWrong, { argument: 'name' })],
  ] as const) {
    test(`input in every form: 400 for text that is ${name}`, async () => {
      const before = await nameNow()
      const answer = await server.client.post(path, { token, json })
      assertError(answer, expected)
      assert.equal(await nameNow(), before)
    })
  }

  for (const [name, options] of [
    ['a form', { raw: 'name=%E9%41', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    [
      'a form with a bare percent sign',
      { raw: 'name=100%', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
  ] as const) {
    test(`400 for ${name} whose escapes are not UTF-8`, async () => {
      assertError(await server.client.post(path, { token, ...options }), badEscape({ where: 'body' }))
    })
  }

  test('input in every form: 400 for JSON that came as a form, as curl sends it when it is told nothing, and nothing changes', async () => {
    const before = await nameNow()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await server.client.post(path, { token, raw: ' {"name": "100% JSON"}\n', headers })
    assertError(answer, jsonSentAsForm())
    assert.equal(await nameNow(), before)
  })

  test('400 for a query whose escapes are not UTF-8', async () => {
    assertError(await server.client.post(`${path}?name=%ff%41`, { token }), badEscape({ where: 'query' }))
  })

  test('400 for nesting without end, however deep', async () => {
    for (const depth of [100, 8000, 200_000]) {
      const raw = `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`
      const answer = await server.client.post(path, { token, raw, headers: { 'content-type': 'application/json' } })
      assert.equal(answer.status, 400, `${depth}: ${answer.text.slice(0, 200)}`)
    }
  })

  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  test('input in every form: 200 for a body that is nested 64 levels deep, 400 for more, wherever it is', async () => {
    const nest = (levels: number) => `{"unknown":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    assert.equal((await server.client.post(path, { token, raw: nest(64), headers: json })).status, 200)
    assertError(await server.client.post(path, { token, raw: nest(65), headers: json }), bodyTooDeep({ levels: 64 }))
  })

  test('200 for a body of 20,000 values, 400 for more', async () => {
    const list = (items: number) => `{"unknown":[${Array(items).fill('"x"').join()}]}`
    assert.equal((await server.client.post(path, { token, raw: list(19_990), headers: json })).status, 200)
    const answer = await server.client.post(path, { token, raw: list(20_001), headers: json })
    assertError(answer, bodyHoldsTooMuch({ values: 20_000 }))
  })

  test('JSON in a form is bounded as a JSON body is, and the refusal names its member', async () => {
    const at = `/v23.0/${numbers.main}/conversational_automation`
    for (const [prompts, expected] of [
      [`[${'['.repeat(64)}${']'.repeat(64)}]`, argumentTooDeep('prompts', { levels: 64 })],
      [`[0${',0'.repeat(20_000)}]`, argumentHoldsTooMuch('prompts', { values: 20_000 })],
    ] as const) {
      assertError(await server.client.post(at, { token, form: { prompts } }), expected)
    }
  })

  test('200 for a form of 1000 fields, 400 for more', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=1`).join('&')
    assert.equal((await server.client.post(path, { token, raw: fields(1000), headers: form })).status, 200)
    assertError(
      await server.client.post(path, { token, raw: fields(1001), headers: form }),
      tooManyFields({ max: 1000 }),
    )
  })

  test('a slash at the end of the path is ignored', async () => {
    assert.equal((await server.client.get(`${path}/`, { token })).status, 200)
  })

  test('the body of a GET is ignored', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const sent = httpRequest(`${server.url}${path}`, {
        method: 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': 3 },
      })
      sent.on('response', (response) => resolve(response.resume().statusCode ?? 0))
      sent.on('error', reject)
      sent.end('{x}')
    })
    assert.equal(answer, 200)
  })

  test('the connection stays usable after a body that was too large', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const send = (method: string, body: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = httpRequest(`${server.url}${path}`, {
          agent,
          method,
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': body.length,
          },
        })
        sent.on('socket', (socket) => socket.once('connect', () => ports.add(socket.localPort)))
        sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)))
        sent.on('error', reject)
        sent.end(body)
      })
    assert.equal(await send('POST', 'x'.repeat(3_000_000)), 400)
    assert.equal(await send('GET', ''), 200)
    assert.equal(ports.size, 1)
    agent.destroy()
  })

  test('a granular token sees its account and not the others', async () => {
    const own = await server.client.get(`/v23.0/${accounts.shared}`, { token: tokens.granular })
    assert.equal(own.status, 200)
    const other = await server.client.get(path, { token: tokens.granular })
    assert.equal(other.status, 404)
  })

  test('a partner sees what was shared with it or is managed by it, and nothing else', async () => {
    const statuses = await Promise.all(
      [accounts.shared, accounts.onBehalf, accounts.private].map(
        async (id) => (await server.client.get(`/v23.0/${id}`, { token: tokens.partner })).status,
      ),
    )
    assert.deepEqual(statuses, [200, 200, 404])
  })
})
