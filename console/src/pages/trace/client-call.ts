import { chooseMethod, takeArguments } from '../../../shared/samples.js'
import { clientMethods } from '../../generated/client-methods.ts'

/** A request of the business door as operators see it. */
export interface SeenRequest {
  readonly operation: string
  /** With its query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The same through `@switchboard/client`, as a program; undefined for what it has no method for. */
export function writeClientCall(request: SeenRequest, baseUrl: string): string | undefined {
  const method = clientMethods[request.operation]
  const [path = '', query = ''] = request.target.split('?')
  const found = method && patternOf(method.path).exec(path)
  if (!method || !found) return undefined
  const { product, ...ids } = found.groups ?? {}
  // The client adds the product itself, and a token.
  const { messaging_product, access_token: _token, ...params } = readParams(request, query, method.parsed ?? [])
  for (const name of method.headers ?? []) params[name] ??= readValue(request.headers[name] ?? '')
  const { object: named } = params
  const called = chooseMethod(method.calls, params)
  const args = takeArguments(called, params)
  const file = `await openFile("path/to/the/file")`
  const members = Object.entries(params).map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value, null, 2)}`,
  )
  if (method.file !== undefined) members.push(`${method.file}: ${file}`)
  const given = [
    ...Object.values(ids).map((id) => JSON.stringify(decodeURIComponent(id))),
    ...args.map((value) => JSON.stringify(value)),
    ...(method.raw ? [file] : []),
    ...(members.length > 0 ? [`{\n${indent(members.join(',\n'))},\n}`] : []),
  ]
  const options = [
    `baseUrl: ${JSON.stringify(baseUrl)}`,
    'token: process.env.TOKEN',
    // Only where the product is in the path or among the parameters does it matter which names a server uses.
    ...(/^whatsapp/.test(String(product ?? messaging_product ?? named)) ? ["vocabulary: 'whatsapp'"] : []),
  ]
  return [
    "import { Switchboard } from '@switchboard/client'",
    ...(method.raw || method.file !== undefined ? ["import { openFile } from '@switchboard/client/node'"] : []),
    '',
    `const client = new Switchboard({ ${options.join(', ')} })`,
    `console.log(await client.${called.call}(${given.join(', ')}))`,
  ].join('\n')
}

/** `/{}/message_qrdls/{}` → what finds its ids, behind the version */
function patternOf(path: string): RegExp {
  let count = 0
  const pattern = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('{product}', '(?<product>msgapp|whatsapp)')
    .replaceAll('{}', () => `(?<id${count++}>[^/]+)`)
  return new RegExp(`^(?:/v[\\d.]+)?${pattern}$`)
}

/** The parameters, from the query and the body. */
function readParams({ body, headers }: SeenRequest, query: string, parsed: readonly string[]): Record<string, unknown> {
  const isForm = (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')
  const pairs = [...new URLSearchParams(query), ...(isForm ? new URLSearchParams(body ?? '') : [])]
  const read = pairs.map(([name, value]) => [name, parsed.includes(name) ? readValue(value) : value])
  return { ...Object.fromEntries(read), ...(isForm ? {} : readObject(body)) }
}

function readObject(text: string | null): Record<string, unknown> {
  const value = readValue(text ?? '')
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
