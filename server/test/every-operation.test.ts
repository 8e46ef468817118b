import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { findCaller, revokeToken } from '../src/auth/tokens.ts'
import type { Operation } from '../src/graph/operation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { fullInput, nodeKindOf, placeholdersOf } from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'
import type { Answer, CallOptions } from './harness/client.ts'
import { onBothDatabases } from './harness/databases.ts'
import { exampleCall, pathOf, unknownId, version } from './harness/example-calls.ts'
import { useTestServer } from './harness/server.ts'
import { ids, strangerIds, tokens } from './harness/world.ts'

/**
 * What holds for every operation, generated from the table: a new row is covered here without a new line. The cases are
 * named by their outcome; what an operation does when all is well is told by the tests of its chapter.
 */
const operations = buildOperations(chooseVocabulary('msgapp'))

/** Whose example is well-formed and nevertheless refused here, by the state of the test world: examples.test.ts makes it fit. */
const refusedHere = new Set([
  // The number is verified already.
  'phone_numbers.request_code',
  'phone_numbers.verify_code',
  // The solution was accepted by the example of another row.
  'solutions.reject',
  // The business is the caller's own.
  'onboarding.request',
  // Nobody listens at the callback.
  'webhooks.subscribe',
])

function assertError(answer: Answer, status: number, code: number, subcode?: number): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.error.code, code)
  assert.equal(answer.body.error.error_subcode, subcode)
  assert.equal(answer.headers.get('cache-control'), 'private, no-store')
}

/** The one answer for all that is not visible, whatever the reason; only the trace differs. */
function assertInvisible(answer: Answer): void {
  assertError(answer, 404, 803)
  assert.equal(answer.body.error.type, 'GraphMethodException')
  assert.match(answer.body.error.message, /^No such object or operation is visible to this token/)
}

onBothDatabases('every operation', (engine) => {
  const server = useTestServer({ engine })
  const limited = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_PLATFORM: '1/1h' } })

  before(async () => {
    const { database, clock } = server
    await database.transaction(async (tx) => {
      const token = await findCaller(tx, tokens.revoked)
      assert.ok(token && (await revokeToken(tx, clock, token.caller.token_id)))
    })
  })

  for (const operation of operations) {
    describe(`${operation.method} ${operation.path} (${operation.name})`, () => {
      const path = pathOf(operation, ids)
      const call = (at: string, options: CallOptions) => server.client.callRow(operation, at, options)
      /** What an error shows unless it is brief. */
      const shown = <T>(value: T): T | undefined => (operation.briefErrors ? undefined : value)

      test('401 without a token', async () => {
        const answer = await call(path, exampleCall(operation, undefined))
        assertError(answer, 401, 104)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
      })

      for (const [name, token] of [
        ['an unknown', 'no-such-token'],
        ['an expired', tokens.expired],
        ['a revoked', tokens.revoked],
      ] as const) {
        test(`401 with ${name} token`, async () => {
          const answer = await call(path, exampleCall(operation, token))
          assertError(answer, 401, 190, shown(463))
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        })
      }

      test('403 without the scope', async () => {
        assertError(await call(path, exampleCall(operation, tokens.unscoped)), 403, 200)
      })

      if (operation.permission !== 'either') {
        test('403 with the other scope', async () => {
          const token = operation.permission === 'management' ? tokens.messagingOnly : tokens.managementOnly
          assertError(await call(path, exampleCall(operation, token)), 403, 200)
        })
      }

      test("404 on another tenant's id", async () => {
        assertInvisible(await call(pathOf(operation, strangerIds), exampleCall(operation, tokens.owner)))
      })

      test('404 on an id that does not exist', async () => {
        assertInvisible(await call(pathOf(operation, ids, unknownId), exampleCall(operation, tokens.owner)))
      })

      test('404 on something that is not an id', async () => {
        assertInvisible(await call(pathOf(operation, ids, 'not-an-id'), exampleCall(operation, tokens.owner)))
      })

      test('404 on an id of every kind that does not offer it', async () => {
        const offering = operations
          .filter((other) => other.method === operation.method && shapeOf(other) === shapeOf(operation))
          .map(nodeKindOf)
        for (const [kind, id] of Object.entries(ids)) {
          if ((offering as string[]).includes(kind)) continue
          assertInvisible(
            await server.client.call(
              operation.method,
              pathOf(operation, ids, id),
              exampleCall(operation, tokens.owner),
            ),
          )
        }
      })

      test('404 on an unknown edge', async () => {
        // Where a member of another row stands behind the path, an edge is one step further.
        const taken = operations.some(
          (other) => other.method === operation.method && shapeOf(other) === `${shapeOf(operation)}/{}`,
        )
        const answer = await server.client.call(
          operation.method,
          `${path}/${taken ? 'member/' : ''}no_such_edge`,
          exampleCall(operation, tokens.owner),
        )
        assertInvisible(answer)
      })

      test('404 with a method that is not offered', async () => {
        assertInvisible(await server.client.call('PUT', path, exampleCall(operation, tokens.owner)))
      })

      for (const [name, other] of [
        ['a version that is not served', 'v99.0'],
        ['a malformed version', 'version23'],
      ] as const) {
        test(`400 with ${name}`, async () => {
          assertError(await call(path.replace(version, other), exampleCall(operation, tokens.owner)), 400, 100)
        })
      }

      if (operation.body === 'raw') {
        test('400 with a body that is too large', async () => {
          const example = exampleCall(operation, tokens.owner)
          assertError(await call(path, { ...example, raw: new Uint8Array(10_000_000) }), 400, 100)
        })
      } else if (operation.method !== 'GET') {
        for (const [name, options] of [
          ['a content type that is not taken', { raw: 'a: 1', headers: { 'content-type': 'text/yaml' } }],
          ['a body without a content type', { raw: new TextEncoder().encode('{}') }],
          ['malformed JSON', { raw: '{"a":', headers: { 'content-type': 'application/json' } }],
          ['JSON that is not an object', { raw: '[1]', headers: { 'content-type': 'application/json' } }],
          [
            'JSON that is not UTF-8',
            { raw: new Uint8Array([0x22, 0xff, 0x22]), headers: { 'content-type': 'application/json' } },
          ],
          ['multipart without a boundary', { raw: 'x', headers: { 'content-type': 'multipart/form-data' } }],
          [
            'multipart that breaks off',
            {
              raw: '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
              headers: { 'content-type': 'multipart/form-data; boundary=b' },
            },
          ],
          ['a body that is too large', { raw: 'x'.repeat(1_048_577), headers: { 'content-type': 'application/json' } }],
        ] as const) {
          test(`400 with ${name}`, async () => {
            assertError(await call(path, { token: tokens.owner, ...options }), 400, 100)
          })
        }
      }

      for (const [name, schema] of Object.entries(fullInput(operation).properties)) {
        if (placeholdersOf(operation.path).includes(name)) continue
        test(`400 with \`${name}\` of the wrong type`, async () => {
          const { type } = schema as { type?: string }
          const wrong = type === 'string' || type === undefined ? { an: 'object' } : 'text'
          const answer =
            operation.method === 'GET'
              ? await server.client.get(`${path}?${name}=x&${name}=y`, { token: tokens.owner })
              : await call(path, exampleCall(operation, tokens.owner, { [name]: wrong }))
          assertError(answer, 400, 100)
          assert.match(answer.body.error.message, new RegExp(`^${name}`), 'the message names the member')
        })
      }

      test('its example is well-formed input, and leaves a record of who did it if it is a write that was done', async () => {
        const before = await countActivities()
        const answer = await call(path, exampleCall(operation, tokens.owner))
        assert.equal(answer.status, refusedHere.has(operation.name) ? 422 : 200, answer.text)
        const isDone = operation.effect === 'write' && answer.status === 200
        assert.equal(await countActivities(), before + (isDone ? 1 : 0))
      })

      test('429 over the limit of the platform', async () => {
        const own = await startLimitedCalls(operation)
        assertError(own, 429, 4, shown(2446079))
        assert.match(own.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
        assert.equal(own.headers.get('x-app-usage'), '{"call_count":100}')
        assert.equal(own.body.error.is_transient, shown(true))
      })

      async function countActivities(): Promise<number> {
        return (await server.database.read.query.selectFrom('activities').select('id').execute()).length
      }

      async function startLimitedCalls(row: Operation): Promise<Answer> {
        // Counted before its body is read, so it need not do anything: what it deletes would be unknown to the second.
        const idle = row.method === 'DELETE' ? { token: tokens.owner, raw: 'x' } : exampleCall(row, tokens.owner)
        await limited.client.callRow(row, path, idle)
        return limited.client.callRow(row, path, exampleCall(row, tokens.owner))
      }
    })
  }
})

function shapeOf(operation: Operation): string {
  return operation.path.replaceAll(/\{[^}]+\}/g, '{}')
}
