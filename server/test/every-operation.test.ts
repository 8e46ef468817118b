import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { findCaller, insertToken, revokeToken } from '../src/auth/tokens.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { argumentMissing, notFound, parameterNotTaken, parameterUnknown, wrongKind } from '../src/graph/errors.ts'
import type { Operation } from '../src/graph/operation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { methodUnknown, pathMisspelt, pathUnknown } from '../src/http/errors.ts'
import {
  fullInput,
  isBusiness,
  isOperation,
  nodeKindOf,
  placeholdersOf,
  shapeOf,
  versionOf,
} from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'
import { callSides } from './harness/calls.ts'
import type { Answer, CallOptions } from './harness/client.ts'
import { onBothDatabases } from './harness/databases.ts'
import { addDelivery } from './harness/delivered.ts'
import { assertArgument, assertError, assertOneOf, type ExpectedError, like } from './harness/errors.ts'
import { exampleCall, pathOf, unknownId, version } from './harness/example-calls.ts'
import { byForm } from './harness/form.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { connectAccount } from './harness/sign-up.ts'
import { ids, strangerIds, tokens } from './harness/world.ts'

/**
 * What holds for every operation of every door, generated from the table: a new row is covered here without a new line. The cases
 * are named by their outcome; what an operation does when all is well is shown by the tests of its chapter.
 */
const table = buildOperations(chooseVocabulary('msgapp'))
const operations = table.filter(isOperation)

/** By door: a token that is admitted, and others that lack the permission, by what they are. */
const callers = {
  business: { fit: tokens.owner, unfit: { 'no scope': tokens.unscoped } },
  token: { fit: tokens.owner, unfit: {} },
  gateway: {
    fit: tokens.gateway,
    unfit: { 'the scopes of a business': tokens.owner, 'those of a partner': tokens.partner },
  },
  operator: {
    fit: tokens.operator,
    unfit: { 'the scopes of a business': tokens.owner, 'that of the gateway': tokens.gateway },
  },
  receiver: { fit: tokens.gateway, unfit: { 'the scopes of a business': tokens.owner } },
  open: { fit: undefined, unfit: {} },
} as const

/** Who calls a row of the token door: what asks about other tokens is for operators, and what ends the token gets one of its own. */
function callersOf(operation: Operation): {
  readonly fit: string | undefined
  readonly unfit: Readonly<Record<string, string>>
} {
  if (operation.examples.by === 'operator') return { fit: tokens.operator, unfit: callers.business.unfit }
  if (operation.door === 'token' && operation.effect === 'write') return { fit: spareTokenOf(operation), unfit: {} }
  return callers[operation.door]
}

function spareTokenOf({ name }: Operation): string {
  return `token-that-${name}-ends`
}

/** A user whom no example names, so that a call of theirs stays as it is. */
const bystander = '16505559999'
const exampleUser = '16505551234'

/** Whose example is well-formed and nevertheless refused here, by the state of the test world: examples.test.ts makes it fit. */
const refusedHere: Readonly<Record<string, number>> = {
  // The number is verified already.
  'phone_numbers.request_code': 422,
  'phone_numbers.verify_code': 422,
  // The solution was accepted by the example of another row.
  'solutions.reject': 422,
  // The business is the caller's own.
  'onboarding.request': 422,
  // Nobody listens at the callback.
  'webhooks.subscribe': 422,
  // The link of the example is that of another world.
  'gateway.join_group': 404,
  // The body is empty.
  'operator.apply_world': 400,
}
const bothScopes = ['msgapp_business_management', 'msgapp_business_messaging'] as const

function assertCodes(answer: Answer, status: number, code: number, subcode?: number): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.error.code, code)
  assert.equal(answer.body.error.error_subcode, subcode)
  assert.equal(answer.headers.get('cache-control'), 'private, no-store')
}

/** What a 404 says: the same for an unknown id and for another tenant's, and where there is nothing to hide what is wrong. */
function assertMissing(answer: Answer, ...expected: readonly ExpectedError[]): void {
  assertOneOf(answer, expected)
  assert.equal(answer.body.error.type, 'GraphMethodException')
  assert.equal(answer.headers.get('cache-control'), 'private, no-store')
}

onBothDatabases('every operation', (engine) => {
  const server = useTestServer({ engine })
  /** What placeholders of paths stand for that no example can know. */
  const members: Record<string, string> = {}
  const limited = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_PLATFORM: '1/1h' } })

  before(async () => {
    const { database, clock } = server
    await database.transaction(async (tx) => {
      const token = await findCaller(tx, tokens.revoked)
      assert.ok(token && (await revokeToken(tx, clock, token.caller.token_id)))
    })
    for (const row of operations.filter(({ door, effect }) => door === 'token' && effect === 'write')) {
      const token = { app_id: ids.application, scopes: bothScopes, accounts: null, expires_time: null }
      await database.transaction((tx) => insertToken(tx, clock, systemRandom, { ...token, secret: spareTokenOf(row) }))
    }
    members['phone_number_id'] = ids.phone_number
    members['app_id'] = ids.application
    Object.assign(members, await addDelivery(database, clock))
    const written = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: {} })
    members['trace'] = written.headers.get('x-svctrace-id') ?? ''
    members['token_id'] = await database.transaction((tx) =>
      insertToken(tx, clock, systemRandom, {
        secret: 'token-that-an-operator-revokes',
        app_id: ids.application,
        scopes: [],
        accounts: null,
        expires_time: null,
      }),
    )
    members['connection_id'] = (await connectAccount(server)).connection_id
    const replay = { token: tokens.operator, json: { account_id: ids.account, job: true } }
    members['replay_id'] = (await server.client.post('/operator/deliveries/replay', replay)).body.job.id
    members['call_id'] = await callSides(server).callUser(bystander)
    const { write, send } = messageSides(server)
    members['message_id'] = await send(bystander)
    // What the example of gateway.wait waits for.
    await write(exampleUser)
    await send(exampleUser)
    // Of operator.why, which takes any of them.
    members['id'] = members['message_id']
  })

  // Before the examples, of which some delete what these ids name.
  describe('404 on an id of a kind that does not have it', () => {
    for (const [index, operation] of operations.filter(isBusiness).entries()) {
      test(operation.name, async () => {
        const offering = operations
          .filter((other) => other.method === operation.method && shapeOf(other) === shapeOf(operation))
          .map(nodeKindOf)
        const others = Object.entries(ids).filter(([kind]) => !(offering as string[]).includes(kind))
        // The kind of a node is compared after it was read, so on PostgreSQL each operation meets another one of them.
        const tried = engine === 'sqlite' ? others : others.slice(index % others.length).slice(0, 1)
        for (const [, id] of tried) {
          const options = exampleCall(operation, tokens.owner)
          assertMissing(await server.client.call(operation.method, pathOf(operation, ids, id), options), wrongKind)
        }
      })
    }
  })

  describe('404 with a method that is not offered, where a row answers with a page, a text or bytes', () => {
    for (const row of table.filter((one) => !isOperation(one))) {
      test(row.name, async () => {
        assertMissing(await server.client.call('PUT', pathOf(row, ids)), like(methodUnknown, { method: 'PUT' }))
      })
    }
  })

  for (const row of table.filter((one) => one.door === 'operator' && !isOperation(one))) {
    const { unfit } = callers.operator
    test(`${row.name}: 401 without a token, 403 with another scope`, async () => {
      const call = (token?: string) => server.client.call(row.method, pathOf(row, ids, undefined, members), { token })
      assertCodes(await call(), 401, 104)
      for (const token of Object.values(unfit)) assertCodes(await call(token), 403, 200)
    })

    test(`${row.name}: 400 with an unknown parameter`, async () => {
      const options = { token: callers.operator.fit, query: { acount_id: '1' } }
      assertArgument(await server.client.call(row.method, pathOf(row, ids, undefined, members), options), 'acount_id')
    })
  }

  for (const [index, operation] of operations.entries()) {
    describe(`${operation.method} ${operation.path} (${operation.name})`, () => {
      const pathTo = (nodeId?: string) => pathOf(operation, ids, nodeId, members)
      const { fit, unfit } = callersOf(operation)
      const call = (options: CallOptions, at = pathTo()) => server.client.callRow(operation, at, options)
      /** What an error shows unless it is brief. */
      const shown = <T>(value: T): T | undefined => (operation.briefErrors ? undefined : value)

      const badTokens = [
        ['an unknown', 'no-such-token'],
        ['an expired', tokens.expired],
        ['a revoked', tokens.revoked],
      ] as const
      // A token is looked up before the operation is known, so on PostgreSQL each operation meets another one of them.
      const [anyBadToken = badTokens[0]] = badTokens.slice(index % badTokens.length)
      const triedTokens = engine === 'sqlite' ? badTokens : byForm([anyBadToken], badTokens)
      for (const [name, token] of operation.door === 'open' ? [] : triedTokens) {
        test(`401 with ${name} token`, async () => {
          const answer = await call(exampleCall(operation, token))
          assertCodes(answer, 401, 190, shown(463))
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        })
      }

      for (const [lacking, token] of Object.entries(unfit)) {
        test(`403 with ${lacking}`, async () => {
          assertCodes(await call(exampleCall(operation, token)), 403, 200)
        })
      }

      if (operation.door === 'business') describeNode(operation)

      /** What holds because the path names a node. */
      function describeNode(row: typeof operation & { door: 'business' }): void {
        if (row.permission !== 'either') {
          test('403 with the other scope', async () => {
            const token = row.permission === 'management' ? tokens.messagingOnly : tokens.managementOnly
            assertCodes(await call(exampleCall(row, token)), 403, 200)
          })
        }

        test("404 on another tenant's id", async () => {
          assertMissing(await call(exampleCall(row, fit), pathOf(row, strangerIds)), notFound())
        })

        test('404 on an id that does not exist', async () => {
          assertMissing(await call(exampleCall(row, fit), pathTo(unknownId)), notFound())
        })

        test('404 on something that is not an id', async () => {
          assertMissing(await call(exampleCall(row, fit), pathTo('not-an-id')), notFound())
        })

        if (row.countedByPlatform === false) return
        test('429 over the limit of the platform', async () => {
          const own = await startLimitedCalls(row)
          assertCodes(own, 429, 4, shown(2446079))
          assert.match(own.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
          assert.equal(own.headers.get('x-app-usage'), '{"call_count":100}')
          assert.equal(own.body.error.is_transient, shown(true))
        })
      }

      if (engine === 'sqlite') {
        describePath()
        describeInput()
      }

      test(`the example of ${operation.name} is well-formed input, and leaves a record of who did it if it is a write that was done`, async () => {
        const before = await countActivities()
        const answer = await call(exampleCall(operation, fit))
        assert.equal(answer.status, refusedHere[operation.name] ?? 200, answer.text)
        const isRecorded = ['business', 'token', 'operator'].includes(operation.door)
        const isDone = isRecorded && operation.effect !== 'read' && answer.status === 200
        const isReset = operation.name === 'sandbox.reset'
        // The store is another one then.
        if (operation.name === 'sandbox.restore_snapshot') return
        assert.equal(await countActivities(), (isReset ? 0 : before) + (isDone ? 1 : 0))
      })

      /** What the path and the head of a request decide, by the same code whatever the database. */
      function describePath(): void {
        if (operation.door !== 'open') {
          test('401 without a token', async () => {
            const answer = await call(exampleCall(operation, undefined))
            assertCodes(answer, 401, 104)
            assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
          })
        }

        if (versionOf(operation) === 'required') {
          for (const [name, other] of [
            ['a version that is not served', 'v99.0'],
            ['a malformed version', 'version23'],
          ] as const) {
            test(`400 with ${name}`, async () => {
              assertCodes(await call(exampleCall(operation, fit), pathTo().replace(version, other)), 400, 100)
            })
          }
        }

        test('404 on an unknown edge', async () => {
          // Where a member of another row stands behind the path, an edge is one step further.
          const taken = operations.some(
            (other) => other.method === operation.method && shapeOf(other) === `${shapeOf(operation)}/{}`,
          )
          const answer = await server.client.call(
            operation.method,
            `${pathTo()}/${taken ? 'member/' : ''}no_such_edge`,
            exampleCall(operation, fit),
          )
          assertMissing(answer, pathUnknown, methodUnknown, pathMisspelt)
        })

        test('404 with a method that is not offered', async () => {
          const isPut = operations.some((other) => other.method === 'PUT' && shapeOf(other) === shapeOf(operation))
          const method = isPut ? 'DELETE' : 'PUT'
          assertMissing(
            await server.client.call(method, pathTo(), exampleCall(operation, fit)),
            like(methodUnknown, { method }),
          )
        })
      }

      /** What the body and the arguments must be: read and checked by the same code, whatever the database. */
      function describeInput(): void {
        if (operation.body === 'raw') {
          test('400 with a body that is too large', async () => {
            const example = exampleCall(operation, fit)
            assertCodes(await call({ ...example, raw: new Uint8Array(10_000_000) }), 400, 100)
          })
        } else if (operation.method !== 'GET') {
          const badBodies = [
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
            [
              'a body that is too large',
              { raw: 'x'.repeat(1_048_577), headers: { 'content-type': 'application/json' } },
            ],
          ] as const
          // Bodies are read by the same code for all, so every other operation meets the same half of them.
          const inTurn = badBodies.filter((_, place) => place % 2 === index % 2)
          for (const [name, options] of byForm(inTurn, badBodies)) {
            test(`400 with ${name}`, async () => {
              assertCodes(await call({ token: fit, ...options }), 400, 100)
            })
          }
        }

        if (operation.method === 'GET' && (operation.door === 'operator' || operation.door === 'gateway')) {
          test('400 with an unknown parameter, which names the known ones', async () => {
            const { query, ...rest } = exampleCall(operation, fit)
            const inPath = placeholdersOf(operation.path)
            const known = Object.keys(fullInput(operation).properties).filter((name) => !inPath.includes(name))
            const wrong = known.length === 0 ? parameterNotTaken('acount_id') : parameterUnknown('acount_id', { known })
            assertError(await call({ ...rest, query: { ...query, acount_id: '1' } }), wrong)
          })
        }

        for (const [name, schema] of Object.entries(fullInput(operation).properties)) {
          if (placeholdersOf(operation.path).includes(name)) continue
          // A header is always text, and a member of that name is none.
          if (!operation.headers?.includes(name)) {
            test(`400 with \`${name}\` of the wrong type`, async () => {
              const { type } = schema as { type?: string }
              const wrong = type === 'string' || type === undefined ? { an: 'object' } : 'text'
              const answer =
                operation.method === 'GET'
                  ? await server.client.get(`${pathTo()}?${name}=x&${name}=y&${othersThan(name)}`, { token: fit })
                  : await call(exampleCall(operation, fit, { [name]: wrong }))
              assertArgument(answer, name)
            })
          }

          if (!(operation.input.required ?? []).includes(name)) continue
          test(`400 without \`${name}\``, async () => {
            const { query, json, headers, ...rest } = exampleCall(operation, fit)
            const answer = await call({
              ...rest,
              ...(headers && { headers: without(headers, name) }),
              ...(query && { query: without(query, name) }),
              ...(json !== undefined && { json: without(json as object, name) }),
            })
            assertError(answer, like(argumentMissing, { argument: name }))
          })
        }
      }

      /** The other parameters of the example, for a row that cannot do without them. */
      function othersThan(name: string): string {
        return new URLSearchParams(without(exampleCall(operation, fit).query ?? {}, name)).toString()
      }

      async function countActivities(): Promise<number> {
        return (await server.database.read.query.selectFrom('activities').select('id').execute()).length
      }

      async function startLimitedCalls(row: Operation): Promise<Answer> {
        // Counted before its body is read, so it need not do anything: what it deletes would be unknown to the second.
        const idle = row.method === 'DELETE' ? { token: tokens.owner, raw: 'x' } : exampleCall(row, tokens.owner)
        await limited.client.callRow(row, pathTo(), idle)
        return limited.client.callRow(row, pathTo(), exampleCall(row, tokens.owner))
      }
    })
  }
})

function without<T extends object>(object: T, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}
