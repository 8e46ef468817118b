import { type Body, makeKey, noBody, prepareBody, type ReadyBody, writeJson } from './body.ts'
import type { Client, Row } from './client.ts'
import { SwitchboardError } from './errors.ts'

/** Options of one request, which win over those of the client. */
export interface RequestOptions {
  /** Milliseconds that each try may take. */
  readonly timeout?: number | undefined
  /** Ends the request, also between tries. */
  readonly signal?: AbortSignal | undefined
  /** How often it is sent again. */
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly token?: string | undefined
  /** Of what sends messages; by default one is made for each call. The same key gives the first response again. */
  readonly idempotencyKey?: string | undefined
}

export type Params = object | undefined

/** A request that can be sent, perhaps several times. */
export interface PreparedRequest {
  readonly row: Row
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: ReadyBody
}

/** Makes the request of a row. */
export async function prepareRequest(
  client: Client,
  row: Row,
  args: readonly string[],
  params: Params,
  options: RequestOptions,
  raw: Body | undefined,
): Promise<PreparedRequest> {
  const given: Record<string, unknown> = { ...params }
  if (row.product) given['messaging_product'] ??= client.vocabulary
  const headers: Record<string, string> = { ...lowerNames(client.headers) }
  const token = options.token ?? (await client.tokenFor(row.door))
  if (token !== undefined) headers['authorization'] = `Bearer ${checkToken(row, token)}`
  if (row.key) headers['idempotency-key'] = options.idempotencyKey ?? makeKey()
  for (const name of row.headers ?? []) {
    if (given[name] !== undefined) headers[name] = String(given[name])
    delete given[name]
  }
  const body = raw === undefined ? writeParams(row, given) : prepareBody(raw)
  if (body.contentType !== undefined) headers['content-type'] = body.contentType
  const query = row.method === 'GET' ? writeQuery(given) : ''
  Object.assign(headers, lowerNames(options.headers))
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value)
  return { row, url: `${locate(client, row, args)}${query}`, body, headers }
}

/** `fetch` would refuse it too, as if the server could not be reached. */
function checkHeader(name: string, value: string): void {
  if (/^[\t -~\x80-\xff]*$/.test(value)) return
  throw new SwitchboardError(`the header ${name} has characters that no header holds`)
}

/** `fetch` would refuse it too, with the token in the error. */
function checkToken({ door }: Row, token: string): string {
  const trimmed = token.trim()
  if (/^[!-~]+$/.test(trimmed)) return trimmed
  const fault = trimmed === '' ? 'is empty' : 'has blanks or characters that no header holds'
  throw new SwitchboardError(`the token for the ${door} door ${fault}`)
}

function lowerNames(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function writeParams({ method, file, write = writeJson }: Row, given: Readonly<Record<string, unknown>>): ReadyBody {
  if (method === 'GET' || Object.keys(given).length === 0) return noBody
  return write(given, file ?? '')
}

function locate(client: Client, row: Row, args: readonly string[]): string {
  if (row.link) return locateLink(client, row, args[0] ?? '')
  let index = 0
  const path = row.path.replaceAll(/\{(product)?\}/g, (_match, product) =>
    product ? client.vocabulary : writeSegment(row, args[index++]),
  )
  return row.door === 'business' ? `${client.baseUrl}/${client.version}${path}` : `${client.baseUrl}${path}`
}

/** An argument that is empty or a dot would change which path it is. */
function writeSegment({ name }: Row, value: string | undefined): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
    throw new SwitchboardError(`${name} needs an id for its path, not ${JSON.stringify(value)}`)
  }
  // The ids of uploads have a colon, which paths can hold.
  return encodeURIComponent(value).replaceAll('%3A', ':')
}

/** The server of this client is asked for a link, whatever host the link names: so the token goes nowhere else. */
function locateLink({ baseUrl }: Client, { name, path }: Row, link: string): string {
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined
  const start = url?.pathname.lastIndexOf(path) ?? -1
  if (!url || start < 0) throw new SwitchboardError(`${name} needs the URL of a response, with ${path} in it`)
  return `${baseUrl}${url.pathname.slice(start)}${url.search}`
}

function writeQuery(given: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined)
  if (pairs.length === 0) return ''
  return `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, writeText(name, value)]))}`
}

/** Names of fields are separated by commas; other structures are JSON. */
function writeText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  return name === 'fields' && Array.isArray(value) ? value.join(',') : JSON.stringify(value)
}
