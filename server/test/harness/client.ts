import assert from 'node:assert/strict'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { request } from 'undici'
import { errorStatuses } from '../../src/graph/graph-error.ts'
import type { Operation, Row } from '../../src/graph/operation.ts'
import type { Vocabulary } from '../../src/graph/vocabulary.ts'
import { isOperation } from '../../src/http/route-table.ts'
import type { PublicResponses } from './public-responses.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape, and says itself what it expects.
  readonly body: any
  readonly text: string
}

export interface CallOptions {
  readonly token?: string | undefined
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as application/x-www-form-urlencoded. */
  readonly form?: Readonly<Record<string, string>>
  /** Sent as multipart/form-data. */
  readonly multipart?: Readonly<Record<string, string | Blob>>
  /** Sent as it is; set the Content-Type in `headers`. */
  readonly raw?: string | Uint8Array
}

/**
 * Calls a server as a client would, and checks every response of the business API against the table, in the second vocabulary against
 * the public document too.
 */
export class Client {
  readonly url: string
  readonly #vocabulary: Vocabulary
  readonly #operations: readonly Operation[]
  readonly #validators = new Map<TSchema, ReturnType<typeof Compile>>()

  readonly publicResponses: PublicResponses | undefined

  constructor(url: string, vocabulary: Vocabulary, operations: readonly Row[], publicResponses?: PublicResponses) {
    this.url = url
    this.publicResponses = publicResponses
    this.#vocabulary = vocabulary
    this.#operations = operations.filter(isOperation)
  }

  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.call('GET', path, options)
  }

  post(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', path, options)
  }

  delete(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.call('DELETE', path, options)
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const query = options.query ? `?${new URLSearchParams(options.query)}` : ''
    const check = await this.publicResponses?.expect(method, `${path}${query}`)
    const answer = await send(method, `${this.url}${path}${query}`, options)
    if (answer.status >= 400 && method !== 'HEAD') this.#checkEnvelope(answer, path)
    check?.(answer.status, answer.body)
    return answer
  }

  /** For libraries that take a `fetch`: their responses are checked too. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const sent = new Request(input, init)
    const check = sent.url.startsWith(this.url)
      ? await this.publicResponses?.expect(sent.method, sent.url.slice(this.url.length))
      : undefined
    const response = await fetch(sent)
    if (check && response.ok) check(response.status, await response.clone().json())
    return response
  }

  /** Calls a row of the table, and checks that the response has the shape of the row. */
  async callRow(operation: Operation, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.call(operation.method, path, options)
    if (answer.status === 200) this.checkOutput(operation, answer.body)
    else if (operation.briefErrors && !this.#vocabulary.habits.titled_errors)
      assert.deepEqual(Object.keys(answer.body.error), ['message', 'type', 'code'])
    return answer
  }

  row(name: string): Operation {
    const operation = this.#operations.find((candidate) => candidate.name === name)
    assert.ok(operation, `there is no operation ${name}`)
    return operation
  }

  checkOutput(operation: { readonly name: string; readonly output: TSchema }, body: unknown): void {
    const validator = this.#validators.get(operation.output) ?? Compile(strict(operation.output))
    this.#validators.set(operation.output, validator)
    const errors = validator.Check(body) ? [] : validator.Errors(body)[1]
    assert.deepEqual(errors, [], `${operation.name} answered with another shape than its row promises`)
  }

  #checkEnvelope(answer: Answer, path: string): void {
    if (answer.status === 503) return
    assert.ok(answer.body?.error, `${path} answered ${answer.status} without the envelope: ${answer.text}`)
    assert.ok(
      answer.status === 408 || (errorStatuses as readonly number[]).includes(answer.status),
      `${answer.status} is not a status of the API`,
    )
    const { message, type, code } = answer.body.error
    assert.equal(typeof message, 'string')
    assert.equal(typeof type, 'string')
    assert.equal(typeof code, 'number')
    const trace = answer.body.error[this.#vocabulary.trace_member]
    if (trace !== undefined) assert.equal(answer.headers.get(this.#vocabulary.trace_header), trace)
  }
}

/** The same schema without additional members. */
function strict(schema: TSchema): TSchema {
  return Type.Unsafe(
    JSON.parse(
      JSON.stringify(schema, (_key, value) =>
        value?.type === 'object' && value.properties
          ? { ...value, additionalProperties: value.additionalProperties ?? false }
          : value,
      ),
    ),
  )
}

async function send(method: string, url: string, options: CallOptions): Promise<Answer> {
  const { body, contentType } = writeBody(options)
  const headers = {
    ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...options.headers,
  }
  const received = options.multipart
    ? await fetchMultipart(method, url, headers, options.multipart)
    : await fetchPlain(method, url, headers, body)
  const { status, text } = received
  const isJson = method !== 'HEAD' && received.headers.get('content-type')?.startsWith('application/json')
  return { status, headers: received.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

type Received = Omit<Answer, 'body'>

/** By `request` and not by `fetch`, which takes nearly twice the processor time, the server included. */
async function fetchPlain(
  method: string,
  url: string,
  headers: Record<string, string>,
  sent: string | Uint8Array | undefined,
): Promise<Received> {
  const { statusCode, headers: received, body } = await request(url, { method, headers, body: sent ?? null })
  const pairs = Object.entries(received).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return { status: statusCode, headers: new Headers(pairs), text: await body.text() }
}

async function fetchMultipart(
  method: string,
  url: string,
  headers: Record<string, string>,
  parts: NonNullable<CallOptions['multipart']>,
): Promise<Received> {
  const body = new FormData()
  for (const [name, value] of Object.entries(parts)) body.append(name, value)
  const response = await fetch(url, { method, redirect: 'manual', headers, body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function writeBody({ json, form, raw, headers = {} }: CallOptions): {
  body?: string | Uint8Array
  contentType?: string
} {
  if (json !== undefined) return { body: JSON.stringify(json), contentType: 'application/json' }
  if (form) return { body: new URLSearchParams(form).toString(), contentType: 'application/x-www-form-urlencoded' }
  if (raw === undefined) return {}
  const isNamed = typeof raw !== 'string' || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return { body: raw, ...(!isNamed && { contentType: 'text/plain;charset=UTF-8' }) }
}
