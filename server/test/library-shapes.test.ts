import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { publicLibraries } from '../../scripts/generate/public-libraries.ts'
import { second } from '../src/base/time/duration.ts'
import type { Answer } from './harness/client.ts'
import { libraries } from './harness/library-requests/all.ts'
import type { LibraryRequest, LibraryRequests, Part } from './harness/library-requests/request.ts'
import { mp4, ogg, pdf, png, webp } from './harness/media-files.ts'
import { useTestServer } from './harness/server.ts'
import { listenForTest } from './harness/sink.ts'
import { accounts, ids, numbers, templates, testWorld, tokens } from './harness/world.ts'

/** What the braces of requests stand for. */
type Values = Record<string, string>

const boundary = '----------ThatNoFileHolds'

/** The files that messages link to. */
const linked: Readonly<Record<string, Buffer>> = {
  '/voice.ogg': ogg('OpusHead'),
  '/a.pdf': pdf,
  '/a.png': png,
  '/a.mp4': mp4('isom', ['vide']),
  '/a.webp': webp({ animated: false }),
}

/** Serves the linked files, and proves that the callback of webhooks is ours. */
function serveFiles({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://files')
  response.end(linked[pathname] ?? searchParams.get('hub.challenge') ?? '')
}

/** The world of the tests, with a template that has parameters in every component. */
function worldOfLibraries(): object {
  const world = testWorld()
  const [account] = world.accounts
  const components = [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A7'] } },
    {
      type: 'BODY',
      text: 'Hello {{1}}, your order {{2}} is ready to be picked up.',
      example: { body_text: [['Ada', 'A7']] },
    },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'I am coming' },
        {
          ...{ type: 'URL', text: 'Where to', url: 'https://luckyshrub.example/orders/{{1}}' },
          example: ['https://luckyshrub.example/orders/A7'],
        },
      ],
    },
  ]
  const template = { id: '5100000000000008', name: 'order_ready', language: 'en_US', category: 'UTILITY', components }
  return {
    ...world,
    accounts: world.accounts.map((one) =>
      one === account ? { ...account, templates: [...(account?.templates ?? []), template] } : one,
    ),
  }
}

test('the documents say of each library how to point it at this service', () => {
  assert.deepEqual(
    libraries.map(({ library }) => library),
    publicLibraries.map(({ name }) => name),
  )
})

describe('requests as client libraries send them', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' }, world: worldOfLibraries() })
  let users = 16_505_580_000
  let newNumbers = 6_315_552_000

  for (const library of libraries) {
    test(`${library.library} is answered as by the public platform`, async (t) => {
      const { port } = await listenForTest(t, createServer(serveFiles))
      const values = await prepare(`http://127.0.0.1:${port}`)
      const differences: string[] = []
      for (const request of library.requests) {
        if (JSON.stringify(request).includes('{code}')) values['code'] = await readCode(values)
        const answer = await send(library, request, values)
        const found = [
          ...differ(answer.status, request.status ?? 200, 'status'),
          ...differ(answer.body, fill(request.responds ?? {}, values), ''),
        ]
        if (found.length > 0) differences.push(`${request.does}: ${found.join('; ')}: ${answer.text}`)
        for (const [name, path] of Object.entries(request.keeps ?? {})) values[name] = String(answer.body?.[path])
      }
      assert.deepEqual(differences, [])
    })
  }

  /** What the requests of a library name: a user who has just written, a number that is not verified, a picture. */
  async function prepare(files: string): Promise<Values> {
    const user = String(++users)
    const digits = String(++newNumbers)
    const written = { phone_number_id: numbers.main, from: user, type: 'text', text: { body: 'Hi' } }
    const incoming = await server.client.post('/gateway/messages', { token: tokens.gateway, json: written })
    const number = await server.client.post(`/v23.0/${accounts.onBehalf}/phone_numbers`, {
      ...{ token: tokens.owner, json: { cc: '1', phone_number: digits, verified_name: 'Lucky Shrub' } },
    })
    const multipart = { messaging_product: 'whatsapp', file: new Blob([new Uint8Array(png)], { type: 'image/png' }) }
    const picture = await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, multipart })
    // The code that is sent for a new number is older than the codes that a library requests.
    server.clock.advance(second)
    for (const { status, text } of [incoming, number, picture]) assert.equal(status, 200, text)
    return {
      ...{ files, user, digits: `1${digits}`, incoming: incoming.body.message_id, new_phone: number.body.id },
      ...{ picture: picture.body.id, picture_length: String(png.length), order_template: templates.order },
      public_key: String(server.client.row('encryption.upload').examples.input?.['business_public_key']),
      ...{
        token: tokens.owner,
        phone: numbers.main,
        other_phone: numbers.shared,
        account: ids.account,
        app: ids.application,
      },
    }
  }

  async function readCode({ digits = '' }: Values): Promise<string> {
    const outbox = await server.client.get('/gateway/outbox', { token: tokens.gateway, query: { to: digits } })
    return outbox.body.data[0].code
  }

  function send({ version, headers }: LibraryRequests, request: LibraryRequest, values: Values): Promise<Answer> {
    const [method = '', path = ''] = fillText(request.call, values).split(' ')
    const at = request.version ?? version
    const inQuery = request.token === 'query' ? `${path.includes('?') ? '&' : '?'}access_token=${tokens.owner}` : ''
    const { 'content-type': typeOfJson = 'application/json', ...others } = headers
    const { body, type } = writeBody(request, values, typeOfJson)
    return server.client.call(method, `${at === '' ? '' : `/${at}`}${path}${inQuery}`, {
      headers: {
        ...others,
        ...(type !== undefined && { 'content-type': type }),
        ...authorize(request),
        ...request.headers,
      },
      ...(body !== undefined && { raw: body }),
    })
  }
})

function authorize({ token }: LibraryRequest): Record<string, string> {
  if (token === 'query') return {}
  if (token === 'unknown') return { authorization: 'Bearer no-such-token' }
  return { authorization: `${token === 'oauth' ? 'OAuth' : 'Bearer'} ${tokens.owner}` }
}

function writeBody(
  { json, form, parts, bytes }: LibraryRequest,
  values: Values,
  typeOfJson: string,
): { body?: string | Uint8Array; type?: string } {
  if (json) return { body: JSON.stringify(fill(json, values)), type: typeOfJson }
  if (form) {
    const filled = fill(form, values) as Record<string, string>
    return { body: new URLSearchParams(filled).toString(), type: 'application/x-www-form-urlencoded' }
  }
  if (parts) return { body: writeParts(parts, values), type: `multipart/form-data; boundary="${boundary}"` }
  return bytes ? { body: png } : {}
}

function writeParts(parts: readonly Part[], values: Values): Buffer {
  const written = parts.flatMap(({ head, text }) => [
    Buffer.from(`--${boundary}\r\n${fillText(head.join('\r\n'), values)}\r\n\r\n`),
    text === undefined ? png : Buffer.from(text),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)])
}

function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** The same value with the braces filled in every text. */
function fill(value: unknown, values: Values): unknown {
  if (typeof value === 'string') return fillText(value, values)
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  if (Array.isArray(value)) return value.map((one) => fill(one, values))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one, values)]))
}

/** Where a response lacks what is expected; it may have more. */
function differ(actual: unknown, expected: unknown, at: string): string[] {
  if (expected instanceof RegExp) return expected.test(String(actual)) ? [] : [`${at} is ${JSON.stringify(actual)}`]
  if (typeof expected !== 'object' || expected === null) {
    return actual === expected ? [] : [`${at} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`]
  }
  if (Array.isArray(expected) !== Array.isArray(actual)) return [`${at} is ${JSON.stringify(actual)}`]
  const members = actual as Record<string, unknown> | undefined
  return Object.entries(expected).flatMap(([name, one]) =>
    differ(members?.[name], one, at === '' ? name : `${at}.${name}`),
  )
}
