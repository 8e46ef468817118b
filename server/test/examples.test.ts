import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RowExamples } from '../src/graph/examples.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import type { OpenApiDocument, OperationObject, Parameter } from '../src/http/openapi/document.ts'
import { buildOperations } from '../src/operations.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { connectByDialog } from './harness/demo-connection.ts'
import { startSink } from './harness/sink.ts'

/**
 * The documents promise that their examples work in the demo world. Here each is sent as it is written there, to a server with
 * that world. What has to be done first is told by the rows themselves.
 */
const vocabulary = chooseVocabulary('msgapp')
const rows = new Map<string, RowExamples>(buildOperations(vocabulary).map(({ name, examples }) => [name, examples]))

/** What these lead to has a name that is drawn at random; the links in answers hold it. */
const linked = ['public.invite', 'public.picture', 'media.download', 'templates.download', 'gateway.download_file']

/** What goes on until the client ends it. */
const endless = ['operator.stream', 'gateway.stream']

/** What only the pages before lead to: the forms of the sign-up, which its own tests fill in. */
const isOfDialog = (name: string) => /^sign_up\.(?!open_dialog|exchange)/.test(name)

/** What no request of the documents can make, and what this test gives instead. */
const outsideNeeds = {
  'operator.end_connection': 'a connection',
  'webhooks.subscribe': 'a callback that answers: a sink of this test stands in for the one of the example',
} as const

interface Described {
  readonly document: OpenApiDocument
  readonly path: string
  readonly method: string
  readonly operation: OperationObject
}

type Arguments = Record<string, unknown>

describe('every example of the documents', () => {
  let place: StorePlace
  let server: RunningServer
  const described = new Map<string, Described>()
  /** What was answered to rows that others build on. */
  const answers = new Map<string, unknown>()

  before(async () => {
    place = await makeStorePlace('sqlite')
    server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], { cwd: place.dataDir })
    for (const name of ['openapi.json', 'openapi-gateway.json', 'openapi-operator.json']) {
      const document = (await (await fetch(`${server.url}/${name}`)).json()) as OpenApiDocument
      for (const [path, item] of Object.entries(document.paths)) {
        for (const [method, operation] of Object.entries(item)) {
          for (const row of operation['x-operations']) described.set(row.name, { document, path, method, operation })
        }
      }
    }
  })
  after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  test('every example of the documents stands in the documents, and no other is left out', () => {
    assert.deepEqual([...described.keys()].sort(), [...rows.keys()].sort())
  })

  for (const [name, { needs, by }] of rows) {
    if (linked.includes(name) || endless.includes(name) || isOfDialog(name)) continue
    test(`${name} is answered with 200`, async (t) => {
      assert.equal(needs !== undefined, Object.hasOwn(outsideNeeds, name), 'needs of examples are kept in one list')
      const given: Arguments = {}
      if (name === 'webhooks.subscribe') {
        const sink = await startSink(t, ({ target }, response) => {
          response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge'))
        })
        given['callback_url'] = sink.url
      }
      if (name === 'operator.end_connection') given['connection_id'] = await connectByDialog(server.url)
      await sendExample(name, given, by === 'spare' ? await makeToken() : undefined)
    })
  }

  async function makeToken(): Promise<string> {
    const response = await fetch(`${server.url}/operator/tokens`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-operator-token', 'content-type': 'application/json' },
      body: JSON.stringify({ app_id: '3000000000000001' }),
    })
    return ((await response.json()) as { token: string }).token
  }

  /** Sends what an example needs, then the example. A write is not sent again while what it made is there. */
  async function sendExample(name: string, given: Arguments = {}, token?: string): Promise<unknown> {
    const { first = [] } = rows.get(name) ?? { output: undefined }
    const values = { ...given }
    for (const { send, take } of first) {
      const answer = answers.get(send) ?? (await sendExample(send))
      if (take) values[take.as] = readPointer(answer, take.pointer)
    }
    const { url, init } = writeRequest(name, values, token)
    const response = await fetch(url, init)
    const text = await response.text()
    assert.equal(response.status, 200, `${name}: ${init.method} ${url} ${init.body ?? ''}\n${text}`)
    const answer = text.startsWith('{') ? JSON.parse(text) : text
    if (init.method !== 'GET') {
      answers.set(name, answer)
      // A write uses up what it was built on.
      for (const { send } of first) answers.delete(send)
    }
    return answer
  }

  function writeRequest(name: string, values: Arguments, spare?: string): { url: string; init: RequestInit } {
    const found = described.get(name)
    assert.ok(found, name)
    const { document, operation, method } = found
    const headers: Record<string, string> = {}
    const isGateway = operation.tags.some((tag) => ['gateway', 'receiver'].includes(tag))
    const { by, bytes } = rows.get(name) ?? { output: undefined }
    const usual = by === 'partner' ? 'demo-partner-token' : 'demo-token'
    const isOperator = by === 'operator' || operation.tags.some((tag) => ['operator', 'sandbox'].includes(tag))
    const token = spare ?? (isGateway ? 'demo-gateway-token' : isOperator ? 'demo-operator-token' : usual)
    headers['authorization'] = `Bearer ${token}`

    let { path } = found
    const query = new URLSearchParams()
    for (const given of operation.parameters) {
      const parameter = '$ref' in given ? (follow(document, given.$ref as string) as Parameter) : given
      const value = exampleOf(parameter, name, values)
      if (value === undefined) continue
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(text))
      else if (parameter.in === 'header') headers[parameter.name] = text
      else query.set(parameter.name, text)
    }
    assert.doesNotMatch(path, /[{}]/, `${name}: every member of the path has an example`)

    const url = `${server.url}${path}${query.size > 0 ? `?${query}` : ''}`
    const init = { method: method.toUpperCase(), headers }
    if (bytes !== undefined) return { url, init: { ...init, body: Buffer.from(bytes, 'base64') } }
    const example = operation.requestBody?.content['application/json']?.examples?.[name]?.value
    if (example === undefined) return { url, init }
    headers['content-type'] = 'application/json'
    return { url, init: { ...init, body: JSON.stringify(putInto(example as Arguments, values)) } }
  }
})

/** An example has the name of its row, where several rows share a path. */
function exampleOf(parameter: Parameter, row: string, values: Arguments): unknown {
  const taken = values[parameter.name] ?? (parameter.name === 'Node-ID' ? takenId(row, values) : undefined)
  if (taken !== undefined) return taken
  const shown = parameter.content?.['application/json'] ?? parameter
  return shown.examples ? shown.examples[row]?.value : parameter.example
}

/** The id that was taken for a row whose path has the neutral placeholder. */
function takenId(row: string, values: Arguments): unknown {
  const take = rows.get(row)?.first?.find(({ take }) => take?.as.endsWith('-ID'))?.take
  return take && values[take.as]
}

/** `list/0` is the first of a list. */
function putInto(example: Arguments, values: Arguments): Arguments {
  const body = structuredClone(example)
  for (const [place, value] of Object.entries(values)) {
    const [name = '', index] = place.split('/')
    if (!(name in body)) continue
    body[name] = index === undefined ? value : [value]
  }
  return body
}

function readPointer(answer: unknown, pointer: string): unknown {
  let value = answer
  for (const name of pointer.split('/').slice(1)) value = (value as Record<string, unknown> | undefined)?.[name]
  assert.ok(value !== undefined, `${pointer} is in the answer ${JSON.stringify(answer)}`)
  return value
}

function follow(document: OpenApiDocument, reference: string): unknown {
  let value: unknown = document
  for (const name of reference.split('/').slice(1)) value = (value as Record<string, unknown>)[name]
  return value
}
