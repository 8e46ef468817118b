import { type Body, makeKey, noBody, type ReadyBody, writeJson } from './body.ts'
import { type AnyClient as Client, type FetchOptions, lowerNames, type Row } from './client.ts'
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
  /** Handed to `fetch`, beside those of the client. */
  readonly fetchOptions?: FetchOptions | undefined
}

/** Options of what can be sent twice and is done once. */
export interface KeyedRequestOptions extends RequestOptions {
  /** By default one is made for each call. The same key gives the first response again. */
  readonly idempotencyKey?: string | undefined
}

export type Params = object | undefined

/** A request that can be sent, perhaps several times. */
export interface PreparedRequest {
  readonly row: Row
  /** The arguments of its path. */
  readonly args: readonly string[]
  /** What it sends, before it was written. */
  readonly given: unknown
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
  options: KeyedRequestOptions,
  raw: Body | undefined,
): Promise<PreparedRequest> {
  const { idempotencyKey } = options
  if (idempotencyKey !== undefined && !row.key) {
    throw new SwitchboardError(`${row.name} takes no idempotencyKey`)
  }
  const given: Record<string, unknown> = { ...params }
  if (row.product) given['messaging_product'] ??= client.vocabulary
  const headers: Record<string, string> = { ...client.headers }
  const token = options.token ?? (await client.tokenFor(row.door))
  if (token !== undefined) headers['authorization'] = `Bearer ${checkToken(row, token)}`
  if (row.key) headers['idempotency-key'] = idempotencyKey ?? makeKey()
  for (const name of row.headers ?? []) {
    if (given[name] !== undefined) headers[name] = String(given[name])
    delete given[name]
  }
  const { write = writeJson, file = '' } = row
  const sent = raw ?? (row.method !== 'GET' && Object.keys(given).length > 0 ? given : undefined)
  const body = sent === undefined ? noBody : write(sent, file)
  if (body.contentType !== undefined) headers['content-type'] = body.contentType
  const query = row.method === 'GET' ? writeQuery(given) : ''
  Object.assign(headers, lowerNames(options.headers))
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value)
  const url = (row.locate ?? locate)(client, row, args) + query
  return { row, args, url: (await client.sign?.(row, url, token)) ?? url, given: raw ?? given, body, headers }
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

/** The ids of accounts, numbers and files, which are longer than any number of a user. */
export function isNodeId(text: string): boolean {
  return /^\d{16,20}$/.test(text)
}

function locate(client: Client, row: Row, args: readonly string[]): string {
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

export function writeQuery(given: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined)
  if (pairs.length === 0) return ''
  return `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, writeText(name, value)]))}`
}

/** Names of fields are separated by commas; other structures are JSON. */
function writeText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  return name === 'fields' && Array.isArray(value) ? value.join(',') : JSON.stringify(value)
}
