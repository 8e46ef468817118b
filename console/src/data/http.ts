import { signal } from '@preact/signals'
import { APIConnectionError, APIError, Client, callRow, type Row } from '@switchboard/client/methods'

/** The path that the service has before its own, when a proxy gives it one. */
export const base = readMeta('base')
/** Whether the service is a sandbox. */
export const isSandbox = readMeta('sandbox') === 'on'
/** The script of the worker that pages share; empty when the page names none. */
export const workerFile = readMeta('worker')

function readMeta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="switchboard-${name}"]`)?.content ?? ''
}

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

/**
 * The client of the service, as everybody has it: all calls of the console go through here. Requests are sent with the
 * cookie of the session, and writes, and whatever acts for an app, with its proof.
 */
export const client = new Client({ baseUrl: location.origin + base, fetch: fetchInSession, maxRetries: 1 })

const signInRow: Row = { name: 'public.sign_in', method: 'POST', door: 'open', path: '/console/session' }

/** Signs in: by the code of a link, by what the browser has, or by being on the machine of a sandbox. */
export async function signIn(code?: string): Promise<Session> {
  const headers: Record<string, string> = code === undefined ? {} : { 'X-Console-Code': code }
  session.value = await callRow<Session>(client, signInRow, [], undefined, { headers })
  return session.value
}

/** A response that has not begun after this is slow enough to say so. */
const slowMilliseconds = 3000

/** How many requests wait for their response for long: the server is busy, or the browser has no connection left for them. */
export const slowRequests = signal(0)

async function countSlow(send: () => Promise<Response>): Promise<Response> {
  let isSlow = false
  const timer = setTimeout(() => {
    isSlow = true
    slowRequests.value += 1
  }, slowMilliseconds)
  try {
    return await send()
  } finally {
    clearTimeout(timer)
    if (isSlow) slowRequests.value -= 1
  }
}

let renewing: Promise<Session> | undefined

/** One renewal for everybody who finds at the same time that the session has ended. */
export function renewSession(): Promise<Session> {
  renewing ??= signIn().finally(() => {
    renewing = undefined
  })
  return renewing
}

/** A change after which the session may be unknown, and the new session after it. */
let change: Promise<unknown> | undefined

/** The client of such a change itself, which does not wait for its own end. */
const changingClient = new Client({ baseUrl: location.origin + base, fetch: sendInSession, maxRetries: 0 })

/** Does what may end the session of this page, such as moving the clock, and signs in again before anything else is sent. */
export function changeSession<T>(work: (changing: Client) => Promise<T>): Promise<T> {
  const done = work(changingClient).then(async (result) => {
    await renewSession()
    return result
  })
  const waited = done
    .catch(() => undefined)
    .finally(() => {
      if (change === waited) change = undefined
    })
  change = waited
  return done
}

async function fetchInSession(url: string, init: RequestInit): Promise<Response> {
  if (!url.endsWith(signInRow.path)) await change
  return sendInSession(url, init)
}

/** Sends a request of the client; when the session has ended, again in a new one. */
async function sendInSession(url: string, init: RequestInit): Promise<Response> {
  const headers = init.headers as Readonly<Record<string, string>>
  const isSignIn = url.endsWith(signInRow.path)
  const needsProof = !isSignIn && (init.method !== 'GET' || headers[actingHeader] !== undefined)
  const send = () => {
    const proof = session.value?.proof
    const isProven = needsProof && proof !== undefined
    return countSlow(() => fetch(url, isProven ? { ...init, headers: { ...headers, 'x-console-proof': proof } } : init))
  }
  const response = await send()
  if (response.status !== 401 || isSignIn) return response
  const { signed_in } = await renewSession()
  return signed_in ? send() : response
}

const actingHeader = 'x-console-app'

/** The headers of a request at the door of businesses: the session acts for an app that it sees. */
export function actAs(app_id: string): Readonly<Record<string, string>> {
  return { [actingHeader]: app_id }
}

export type Method = Row['method']

export interface Answer {
  readonly body: unknown
  readonly status: number
  readonly trace: string | undefined
}

/** A request that somebody wrote into the page: to a path of the API as it stands, as an app. */
export async function sendWritten(method: Method, path: string, app_id: string, json?: object): Promise<Answer> {
  // Placeholders are the client's; what was written has none.
  const row: Row = { name: path, method, door: 'open', path: path.replaceAll('{', '%7B').replaceAll('}', '%7D') }
  const { data, response, trace } = await callRow<unknown>(client, row, [], json, {
    headers: actAs(app_id),
    maxRetries: 0,
  }).withResponse()
  return { body: data, status: response.status, trace }
}

const unreachable = 'The service cannot be reached. Check that it is running.'

/** What went wrong, for people. */
export function explain(error: unknown): string {
  if (error instanceof APIError) return error.detail || `The service responded with ${error.status}.`
  if (error instanceof APIConnectionError || error instanceof TypeError) return unreachable
  return error instanceof Error ? error.message : String(error)
}
