import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { GatewayOperation } from '../src/graph/gateway-operation.ts'
import { buildGatewayOperations } from '../src/operations.ts'
import { callSides } from './harness/calls.ts'
import type { Answer, CallOptions } from './harness/client.ts'
import { onBothDatabases } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

/**
 * What holds for every operation of the gateway door, generated from its table: a new row is covered here without a new line.
 * The cases are named by their outcome; what an operation does when all is well is told by the tests of its chapter.
 */
const operations = buildGatewayOperations()
/** A user whom no example names, so that a call of theirs stays as it is. */
const bystander = '16505559999'

function placeholdersOf({ path }: GatewayOperation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

function exampleCall(operation: GatewayOperation, token: string | undefined): CallOptions {
  const input = Object.entries(operation.examples.input ?? {}).filter(
    ([name]) => !placeholdersOf(operation).includes(name),
  )
  if (operation.method === 'POST') return { token, json: Object.fromEntries(input) }
  return { token, query: Object.fromEntries(input.map(([name, value]) => [name, String(value)])) }
}

function assertError(answer: Answer, status: number, code: number, subcode?: number): void {
  assert.equal(answer.status, status, answer.text)
  const { error } = answer.body
  assert.equal(error.code, code)
  assert.equal(error.error_subcode, subcode)
  assert.equal(error.type, [404, 422].includes(status) ? 'GraphMethodException' : 'OAuthException')
  assert.equal(error.svctrace_id, answer.headers.get('x-svctrace-id'))
  assert.equal(answer.headers.get('cache-control'), 'private, no-store')
}

test('the table of the gateway is not empty, and no two rows are alike', () => {
  const keys = operations.map(({ method, path }) => `${method} ${path}`)
  assert.ok(keys.length >= 5)
  assert.equal(new Set(keys).size, keys.length)
  assert.equal(new Set(operations.map(({ name }) => name)).size, keys.length)
})

onBothDatabases('every operation of the gateway', (engine) => {
  const server = useTestServer({ engine })
  /** What the placeholders of paths stand for: things that are there. */
  const members: Record<string, string> = {}

  before(async () => {
    members['phone_number_id'] = ids.phone_number
    members['call_id'] = await callSides(server).callUser(bystander)
  })

  for (const operation of operations) {
    describe(`${operation.method} ${operation.path} (${operation.name})`, () => {
      const pathOf = () =>
        operation.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
          assert.ok(members[name], `give the placeholder ${name} a thing in this test`)
          return members[name]
        })
      const call = async (options: CallOptions): Promise<Answer> => {
        const answer = await server.client.call(operation.method, pathOf(), options)
        if (answer.status === 200) server.client.checkOutput(operation, answer.body)
        return answer
      }

      test('401 without a token', async () => {
        const answer = await call(exampleCall(operation, undefined))
        assertError(answer, 401, 104)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
      })

      for (const [name, token] of [
        ['an unknown', 'no-such-token'],
        ['an expired', tokens.expired],
      ] as const) {
        test(`401 with ${name} token`, async () => {
          const answer = await call(exampleCall(operation, token))
          assertError(answer, 401, 190, 463)
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        })
      }

      for (const [name, token] of [
        ['a business', tokens.owner],
        ['a partner', tokens.partner],
      ] as const) {
        test(`403 with the token of ${name}, which lacks the scope gateway`, async () => {
          const answer = await call(exampleCall(operation, token))
          assertError(answer, 403, 200)
          assert.match(answer.body.error.message, /"gateway"/)
        })
      }

      test('404 with a method that is not offered, and on an unknown path below it', async () => {
        const options = exampleCall(operation, tokens.gateway)
        assertError(await server.client.call('PUT', pathOf(), options), 404, 803)
        assertError(await server.client.call(operation.method, `${pathOf()}/no/such`, options), 404, 803)
      })

      if (operation.method === 'POST') {
        for (const [name, options] of [
          ['a content type that is not taken', { raw: 'a: 1', headers: { 'content-type': 'text/yaml' } }],
          ['a body without a content type', { raw: new TextEncoder().encode('{}') }],
          ['malformed JSON', { raw: '{"a":', headers: { 'content-type': 'application/json' } }],
          ['JSON that is not an object', { raw: '[1]', headers: { 'content-type': 'application/json' } }],
          ['multipart without a boundary', { raw: 'x', headers: { 'content-type': 'multipart/form-data' } }],
          ['a body that is too large', { raw: 'x'.repeat(1_048_577), headers: { 'content-type': 'application/json' } }],
        ] as const) {
          test(`400 with ${name}`, async () => {
            assertError(await call({ token: tokens.gateway, ...options }), 400, 100)
          })
        }
      }

      for (const [name, schema] of Object.entries(operation.input.properties)) {
        if (placeholdersOf(operation).includes(name)) continue

        test(`400 with \`${name}\` of the wrong type`, async () => {
          const { type } = schema as { type?: string }
          const wrong = type === 'string' || type === undefined ? { an: 'object' } : 'text'
          const example = exampleCall(operation, tokens.gateway)
          const answer =
            operation.method === 'GET'
              ? await server.client.get(`${pathOf()}?${name}=x&${name}=y`, { token: tokens.gateway })
              : await call({ ...example, json: { ...(example.json as object), [name]: wrong } })
          assertError(answer, 400, 100)
          assert.match(answer.body.error.message, new RegExp(`^${name}`), 'the message names the member')
        })

        if (!(operation.input.required ?? []).includes(name)) continue
        test(`400 without \`${name}\``, async () => {
          const { query, json, ...rest } = exampleCall(operation, tokens.gateway)
          const answer = await call({
            ...rest,
            ...(query && { query: without(query, name) }),
            ...(json !== undefined && { json: without(json as object, name) }),
          })
          assertError(answer, 400, 100)
          assert.match(answer.body.error.message, new RegExp(`^${name}: it is required; send `))
        })
      }

      test('its example is well-formed input', async () => {
        const answer = await call(exampleCall(operation, tokens.gateway))
        assert.ok([200, 404, 422].includes(answer.status), answer.text)
      })
    })
  }
})

function without<T extends object>(object: T, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}
