import { signal } from '@preact/signals'

/** The path that the service has before its own, when a proxy gives it one. */
export const base = document.querySelector<HTMLMetaElement>('meta[name="switchboard-base"]')?.content ?? ''

export interface Session {
  readonly signed_in: boolean
  readonly name?: string
  readonly token_id?: string
  readonly expires_time?: string
  readonly proof?: string
  readonly local?: boolean
  readonly limited?: boolean
  readonly reason?: string
  /** The issuer that operators sign in with. */
  readonly sign_in_with?: string
  readonly by_issuer?: boolean
}

/** Who is signed in; undefined while that is being found out. */
export const session = signal<Session | undefined>(undefined)

/** An answer that is no success, in the words of the service. */
export class Failure extends Error {
  readonly status: number
  readonly code: number | undefined

  constructor(status: number, message: string, code?: number) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Signs in: by the code of a link, by what the browser has, or by being on the machine of a sandbox. */
export async function signIn(code?: string): Promise<Session> {
  const response = await fetch(`${base}/console/session`, {
    method: 'POST',
    headers: code === undefined ? {} : { 'X-Console-Code': code },
  })
  const body = await readBody(response)
  if (!response.ok) throw toFailure(response, body)
  session.value = body as Session
  return session.value
}

let renewing: Promise<Session> | undefined

/** One renewal for everybody who finds at the same time that the session has ended. */
export function renewSession(): Promise<Session> {
  renewing ??= signIn().finally(() => {
    renewing = undefined
  })
  return renewing
}

export interface Asked {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly json?: unknown
  readonly form?: FormData
  /** A text body, with its type. */
  readonly text?: readonly [type: string, content: string]
  /** A token of a business, for its own API; left out: the session. */
  readonly token?: string
  readonly accept?: string
}

export type Method = 'GET' | 'POST' | 'DELETE' | 'PUT'

/** The one way to the service. All calls of the console go through here. */
export async function ask<T>(method: Method, path: string, asked: Asked = {}): Promise<T> {
  return (await askFully<T>(method, path, asked)).body
}

export interface Answer<T> {
  readonly body: T
  readonly status: number
  readonly trace: string | null
  readonly milliseconds: number
}

export async function askFully<T>(method: Method, path: string, asked: Asked = {}): Promise<Answer<T>> {
  const started = performance.now()
  let response = await send(method, path, asked)
  if (response.status === 401 && asked.token === undefined) {
    const { signed_in } = await renewSession()
    if (signed_in) response = await send(method, path, asked)
  }
  const body = await readBody(response)
  if (!response.ok) throw toFailure(response, body)
  const trace = response.headers.get('x-svctrace-id') ?? response.headers.get('x-fb-trace-id')
  return { body: body as T, status: response.status, trace, milliseconds: performance.now() - started }
}

function send(method: Method, path: string, { query, json, form, text, token, accept }: Asked): Promise<Response> {
  const headers: Record<string, string> = {}
  if (token !== undefined) headers['Authorization'] = `Bearer ${token}`
  else if (method !== 'GET') headers['X-Console-Proof'] = session.value?.proof ?? ''
  if (json !== undefined) headers['Content-Type'] = 'application/json'
  if (text) headers['Content-Type'] = text[0]
  if (accept !== undefined) headers['Accept'] = accept
  const body = form ?? text?.[1] ?? (json === undefined ? undefined : JSON.stringify(json))
  return fetch(`${base}${path}${writeQuery(query)}`, { method, headers, ...(body !== undefined && { body }) })
}

export function writeQuery(query: Asked['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const text = new URLSearchParams(pairs).toString()
  return text === '' ? '' : `?${text}`
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.includes('json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function toFailure({ status }: Response, body: unknown): Failure {
  const { error } = (typeof body === 'object' && body ? body : {}) as { error?: { message?: string; code?: number } }
  return new Failure(status, error?.message ?? `The service answered ${status}.`, error?.code)
}

/** What went wrong, for people. */
export function explain(error: unknown): string {
  if (error instanceof Failure) return error.message
  return error instanceof TypeError ? 'The service cannot be reached.' : String(error)
}
