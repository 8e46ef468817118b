import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorStatuses } from '../src/graph/graph-error.ts'
import { CursorSealer } from '../src/graph/lists/cursors.ts'
import { onBothDatabases } from './harness/databases.ts'
import { byForm } from './harness/form.ts'
import { fc } from './harness/properties.ts'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

const segments = fc.oneof(
  fc.constantFrom(
    'v23.0',
    'v1.0',
    ...Object.values(ids),
    'phone_numbers',
    'schedules',
    'message_qrdls',
    'message',
    'qr',
    'extendedcredits',
    'upload:x',
    '..',
    '.',
    '',
    '%00',
    '%2f',
  ),
  fc
    .string({ unit: 'binary', maxLength: 30 })
    .filter((text) => text.isWellFormed())
    .map(encodeURIComponent),
  fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[^\x21-\x7e]|[#?]/g, '')),
)

const argumentNames = fc.constantFrom(
  'fields',
  'limit',
  'after',
  'before',
  'sort',
  'filtering',
  'name',
  'timezone_id',
  '__proto__',
  'constructor',
)
const argumentValues = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 50 }).filter((text) => text.isWellFormed()),
  fc.integer().map(String),
  fc.json({ maxDepth: 3 }),
)
const query = fc.array(fc.tuple(argumentNames, argumentValues), { maxLength: 5 })

const headers = fc.dictionary(
  fc.constantFrom(
    'authorization',
    'content-type',
    'traceparent',
    'accept',
    'x-anything',
    'file_offset',
    'content-encoding',
  ),
  fc.oneof(
    fc.constantFrom(
      `Bearer ${tokens.owner}`,
      'Bearer',
      'Basic eDp5',
      'application/json',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'gzip',
    ),
    fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
  ),
  { maxKeys: 5 },
)

const bodies = fc.option(
  fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => text.isWellFormed()),
    query.map((pairs) => new URLSearchParams(pairs).toString()),
    fc
      .string({ maxLength: 60 })
      .map((text) => `--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n${text}\r\n--x--\r\n`),
  ),
  { nil: undefined },
)

const requests = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD'),
  path: fc.array(segments, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
  query,
  headers,
  body: bodies,
})

onBothDatabases('whatever is sent', (engine) => {
  const server = useTestServer({ engine })

  test('whatever is sent is answered, in a status of the API and in the envelope, and never with a 500', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, path, query, headers, body }) => {
        const bodyless = method === 'GET' || method === 'HEAD' || body === undefined
        const answer = await server.client.call(method, path, {
          query: Object.fromEntries(query),
          headers,
          ...(!bodyless && { raw: body }),
        })
        assert.ok(
          answer.status === 200 || (errorStatuses as readonly number[]).includes(answer.status),
          `${answer.status}`,
        )
        assert.notEqual(answer.status, 500, answer.text)
        assert.match(answer.headers.get('x-svctrace-id') ?? '', /^[\da-f]{32}$/)
      }),
      { numRuns: byForm(60, 300) },
    )
  })

  test('whatever is sent by someone who is let in: arguments are taken or refused with 400', async () => {
    const targets = fc.constantFrom(
      `/v23.0/${ids.account}`,
      `/v23.0/${ids.account}/phone_numbers`,
      `/v23.0/${ids.account}/schedules`,
      `/v23.0/${ids.phone_number}/message_qrdls`,
      `/v23.0/${ids.phone_number}/conversational_automation`,
      `/v23.0/${ids.phone_number}`,
      `/v23.0/${ids.business}`,
    )
    await fc.assert(
      fc.asyncProperty(targets, query, async (path, query) => {
        const answer = await server.client.get(path, { token: tokens.owner, query: Object.fromEntries(query) })
        assert.ok([200, 400].includes(answer.status), `${answer.status} ${answer.text}`)
      }),
      { numRuns: byForm(60, 300) },
    )
  })

  test('whatever is sent as the body of a write by someone who is let in: taken or refused with 400', async () => {
    const types = fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    )
    await fc.assert(
      fc.asyncProperty(types, bodies, async (type, body) => {
        const answer = await server.client.post(`/v23.0/${ids.account}`, {
          token: tokens.owner,
          headers: { 'content-type': type },
          ...(body !== undefined && { raw: body }),
        })
        assert.ok([200, 400].includes(answer.status), `${answer.status} ${answer.text}`)
      }),
      { numRuns: byForm(60, 300) },
    )
  })
})

describe('cursors', () => {
  const sealer = new CursorSealer('a secret')
  const keys = fc.tuple(fc.oneof(fc.maxSafeInteger(), fc.string()), fc.string())

  test('cursors open to what was sealed', () => {
    fc.assert(
      fc.property(fc.string(), keys, (list, key) => {
        assert.deepEqual(sealer.open(list, sealer.seal(list, key)), JSON.parse(JSON.stringify(key)))
      }),
    )
  })

  test('cursors do not open for another list, with another secret, or from made-up text', () => {
    const other = new CursorSealer('another secret')
    fc.assert(
      fc.property(fc.string(), keys, fc.string({ unit: 'binary' }), (list, key, madeUp) => {
        const cursor = sealer.seal(list, key)
        assert.equal(sealer.open(`${list}!`, cursor), undefined)
        assert.equal(other.open(list, cursor), undefined)
        assert.equal(sealer.open(list, madeUp), undefined)
      }),
    )
  })

  test('cursors cannot be read: two that stand for keys of the same beginning have nothing in common', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1e12, max: 2e12 }), (list, time) => {
        const [one, other] = [time, time + 1].map((sortValue) => sealer.seal(list, [sortValue, '4000000000000001']))
        assert.ok(!Buffer.from(one ?? '', 'base64url').includes(String(time)))
        assert.notEqual(one?.slice(0, 12), other?.slice(0, 12))
        assert.notEqual(one?.slice(-12), other?.slice(-12))
      }),
    )
  })

  test('cursors do not open when one of their characters is another', () => {
    const cursor = sealer.seal('list', [1_780_315_200_000, '4000000000000001'])
    for (let index = 0; index < cursor.length; index++) {
      const altered = `${cursor.slice(0, index)}${cursor[index] === 'A' ? 'B' : 'A'}${cursor.slice(index + 1)}`
      assert.equal(sealer.open('list', altered), undefined, altered)
    }
  })
})
