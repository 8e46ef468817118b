import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { EventStream, ListCall, Switchboard } from '@switchboard/client'
import { describeMethods, type Method } from '../../scripts/generate/sdk/describe-methods.ts'
import { describeValues, type WebhookField } from '../../scripts/generate/sdk/event-schemas.ts'
import type { RowExamples } from '../src/graph/examples.ts'
import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../src/graph/vocabulary.ts'
import { isLink } from '../src/http/openapi/client-methods.ts'
import { toJsonSchema } from '../src/http/openapi/schemas.ts'
import { placeholdersOf } from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { connectByDialog } from './harness/demo-connection.ts'
import { findMisfit } from './harness/event-shapes.ts'
import { byForm } from './harness/form.ts'
import { card, cardHeader, carousel } from './harness/public-templates.ts'
import { startSink } from './harness/sink.ts'

type Values = Record<string, unknown>
type AnyMethod = (...args: unknown[]) => unknown
type Group = Record<string, AnyMethod>

/** Every row for programs has its method in the client, and its example goes through: the drift of either would fail here. */
for (const vocabulary of byForm(['msgapp'] as const, vocabularyNames))
  describe(`every example through the client (${vocabulary})`, () => run(vocabulary))

function run(vocabulary: VocabularyName): void {
  const methods = Map.groupBy(describeMethods(chooseVocabulary(vocabulary)), ({ row }) => row.name as string)
  const examples = new Map<string, RowExamples>(
    buildOperations(chooseVocabulary(vocabulary)).map((row) => [row.name, row.examples]),
  )
  /** What was answered to rows that others build on. */
  const answers = new Map<string, unknown>()
  let place: StorePlace
  let server: RunningServer
  let owner: Switchboard
  let partner: Switchboard
  let operator: Switchboard
  /** A client with a token that may end. */
  let makeSpare: () => Promise<Switchboard>
  let stream: ReturnType<Switchboard['operator']['feed']['stream']>

  before(async () => {
    place = await makeStorePlace('sqlite')
    server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
      cwd: place.dataDir,
      env: { VOCABULARY: vocabulary, RATE_LIMITS: 'off' },
    })
    const common = {
      baseUrl: server.url,
      vocabulary,
      gatewayToken: 'demo-gateway-token',
      operatorToken: 'demo-operator-token',
      maxRetries: 0,
    }
    // The types are those of the first vocabulary.
    owner = new Switchboard({ ...common, token: 'demo-token' }) as unknown as Switchboard
    partner = new Switchboard({ ...common, token: 'demo-partner-token' }) as unknown as Switchboard
    const as = (token: string) => new Switchboard({ ...common, token }) as unknown as Switchboard
    operator = as('demo-operator-token')
    makeSpare = async () => as((await owner.operator.tokens.create({ app_id: '3000000000000001' })).token)
    stream = owner.operator.feed.stream({ types: 'event' })
    await stream.opened
  })
  after(async () => {
    stream.close()
    await server.stop('SIGTERM')
    await place.remove()
  })

  for (const name of examples.keys()) {
    if (!methods.has(name)) continue
    test(name, async (t) => {
      const given: Values = await findLinked(name)
      if (name === 'webhooks.subscribe') {
        const sink = await startSink(t, ({ target }, response) => {
          response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge'))
        })
        given['callback_url'] = sink.url
      }
      if (name === 'operator.end_connection') given['connection_id'] = await connectByDialog(server.url)
      await sendExample(name, given)
    })
  }

  test('every event that was raised is what the types of events say', async () => {
    const schemas = describeValues(chooseVocabulary(vocabulary))
    // The last one tells that all of them have come.
    const last = '16505550777'
    await owner.gateway.chats.update(last, '4000000000000001', { marketing: 'stop' })
    const seen = new Set<string>()
    for await (const { event, data } of stream) {
      if (event !== 'event') continue
      const { field, value } = data.data as { field: WebhookField; value: unknown }
      assert.equal(findMisfit(toJsonSchema(schemas[field]), value), undefined, JSON.stringify({ field, value }))
      seen.add(field)
      if (field === 'user_preferences' && JSON.stringify(value).includes(last)) break
    }
    for (const field of ['messages', 'calls', 'group_lifecycle_update', 'message_template_status_update']) {
      assert.ok(seen.has(field), field)
    }
  })

  /** Sends what an example needs, then the example. A write is not sent again while what it made is there. */
  async function sendExample(name: string, given: Values = {}): Promise<unknown> {
    const { first = [], by } = examples.get(name) ?? { output: undefined }
    const values = { ...given }
    for (const { send, take } of first) {
      const answer = answers.get(send) ?? (await sendExample(send))
      if (take) values[take.as] = readPointer(answer, take.pointer)
    }
    const method = methods.get(name)?.find((one) => fits(one, examples.get(name)?.input ?? {}))
    assert.ok(method, name)
    const client = by === 'spare' ? await makeSpare() : { owner, partner, operator }[by ?? 'owner']
    const group = findGroup(client, method)
    const call = group[method.name]
    assert.ok(call, `client.${method.resource}.${method.name}`)
    const result = call.apply(group, writeArguments(method, values))
    const answer = await settle(result)
    if (method.row.method !== 'GET') {
      answers.set(name, answer)
      // After it the store is another one.
      if (/^sandbox\.re(set|store)/.test(name)) answers.clear()
      // A write uses up what it was built on.
      for (const { send } of first) answers.delete(send)
    }
    return answer
  }

  function writeArguments({ row, pathArguments, memberArguments, parameters }: Method, values: Values): unknown[] {
    const { input = {}, bytes } = examples.get(row.name) ?? { output: undefined }
    const named = placeholdersOf(row.path).filter((placeholder) => placeholder !== 'Version')
    const path = pathArguments.map(({ example }, index) => {
      const placeholder = isLink(row) ? 'url' : (named[index] ?? '')
      return values[placeholder] ?? (typeof input[placeholder] === 'string' ? input[placeholder] : example)
    })
    // The product is the client's part.
    const { messaging_product: _product, ...others } = putInto(input, values)
    // Whether deliveries wait depends on who listens at the callback of the demo world, which is the machine's affair.
    if (row.name === 'operator.list_deliveries') delete others['state']
    const params = Object.fromEntries(
      Object.entries(others).filter(([name]) => parameters.some((p) => p.name === name)),
    )
    return [
      ...path,
      ...memberArguments.map(({ member }) => others[member]),
      ...(row.body === 'raw' ? [Buffer.from(bytes ?? '', 'base64')] : []),
      ...(parameters.length > 0 ? [params] : []),
    ]
  }

  /** What is named at random, and found in responses. */
  async function findLinked(name: string): Promise<Values> {
    const number = '4000000000000001'
    switch (name) {
      case 'media.download': {
        const { id } = (await sendExample('media.upload')) as { id: string }
        return { url: (await owner.media.retrieve(id)).url }
      }
      case 'gateway.download_file': {
        const { id } = (await sendExample('media.upload')) as { id: string }
        await owner.gateway.messages.write({
          phone_number_id: number,
          from: '16505551234',
          type: 'text',
          text: { body: 'Hi' },
        })
        const sent = await owner.messages.send(number, { to: '16505551234', type: 'image', image: { id } })
        assert.ok('messages' in sent)
        const { image } = (await owner.gateway.messages.retrieve(sent.messages[0]?.id ?? '')) as {
          image?: { url?: string }
        }
        return { url: image?.url }
      }
      case 'templates.download':
        return { url: await makeTemplateFile() }
      case 'templates.download_card':
        return { url: await makeCardFile() }
      default:
        return {}
    }
  }

  async function upload(): Promise<string> {
    const { id } = (await sendExample('uploads.create')) as { id: string }
    const bytes = Buffer.from(examples.get('uploads.append')?.bytes ?? '', 'base64')
    const done = await owner.uploads.append(id, bytes, { file_offset: 0 })
    answers.delete('uploads.create')
    assert.ok('h' in done)
    return done.h
  }

  async function makeTemplateFile(): Promise<string> {
    const header = { type: 'HEADER', format: 'IMAGE', example: { header_handle: [await upload()] } } as const
    const { id } = await owner.templates.create('1000000000000001', {
      name: 'with_picture',
      language: 'en_US',
      category: 'MARKETING',
      components: [header, { type: 'BODY', text: 'Look at this.' }],
    })
    const { components = [] } = await owner.templates.retrieve(id)
    return components[0]?.example?.header_handle?.[0] ?? ''
  }

  async function makeCardFile(): Promise<string> {
    const cards = [card({ header: cardHeader(await upload()) }), card({ header: cardHeader(await upload()) })]
    const given = {
      ...{ name: 'with_cards', language: 'en_US', category: 'MARKETING' },
      components: [{ type: 'BODY', text: 'Look at these.' }, carousel(...cards)],
    }
    // Its types are wider than those of the components.
    const { id } = await owner.templates.create('1000000000000001', given as never)
    const { components = [] } = await owner.templates.retrieve(id)
    return /"header_handle":\["([^"]+)"/.exec(JSON.stringify(components))?.[1] ?? ''
  }
}

/** Whether an example is for this method of its row. */
function fits({ fixed, memberArguments }: Method, input: Values): boolean {
  return (
    Object.entries(fixed).every(([name, value]) => input[name] === value) &&
    memberArguments.every(({ member }) => member in input)
  )
}

function findGroup(client: Switchboard, { resource }: Method): Group {
  let found: unknown = client
  for (const name of resource.split('.')) found = (found as Record<string, unknown>)[name]
  return found as Group
}

async function settle(result: unknown): Promise<unknown> {
  if (result instanceof EventStream) {
    await result.opened
    result.close()
    return undefined
  }
  if (result instanceof ListCall) for await (const item of result) assert.ok(item)
  const { data, response, trace } = await (result as ListCall<unknown>).withResponse()
  assert.ok(response.ok && trace)
  if (data instanceof Response) await data.arrayBuffer()
  return data
}

/** `list/0` is the first of a list. */
function putInto(example: Readonly<Values>, values: Values): Values {
  const body = structuredClone(example) as Values
  for (const [place, value] of Object.entries(values)) {
    const [name = '', index] = place.split('/')
    if (name in body) body[name] = index === undefined ? value : [value]
  }
  return body
}

function readPointer(answer: unknown, pointer: string): unknown {
  let value = answer
  for (const name of pointer.split('/').slice(1)) value = (value as Values | undefined)?.[name]
  assert.ok(value !== undefined, `${pointer} is in the answer ${JSON.stringify(answer)}`)
  return value
}
