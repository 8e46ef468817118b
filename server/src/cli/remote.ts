import { type Environment, processEnvironment } from '../base/environment.ts'
import { cutTrailingSlashes } from '../base/slashes.ts'
import { CommandFailed } from './fail.ts'

/** A server that a command asks instead of the store itself. */
export interface Remote {
  readonly url: string
  readonly token: string
}

/** A token of worlds/demo.yaml, which a server takes from its own machine alone. */
const demoOperatorToken = 'demo-operator-token'
const patience = 10 * 60_000

/** The server that `--url` or SWITCHBOARD_URL names; undefined: the command opens the store. */
export function findRemote(
  flags: { readonly url?: string },
  environment: Environment = processEnvironment(),
): Remote | undefined {
  const url = flags.url ?? (environment['SWITCHBOARD_URL'] || undefined)
  if (url === undefined) return undefined
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new CommandFailed(`--url ${url} is not an http or https URL such as http://127.0.0.1:8080`)
  }
  return { url: cutTrailingSlashes(url), token: environment['SWITCHBOARD_TOKEN'] || demoOperatorToken }
}

export interface RemoteRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly json?: object
  /** Sent as it is. */
  readonly text?: string
  readonly accept?: string
}

/** A refusal by the server. */
export class RemoteRefused extends CommandFailed {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Asks the operator door of a server; reports a refusal in one line. */
export async function askRemote(remote: Remote, path: string, request: RemoteRequest = {}): Promise<Response> {
  const { method = 'GET', query = {}, json, text, accept } = request
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const response = await send(remote, `/operator/${path}${search}`, {
    method,
    headers: {
      authorization: `Bearer ${remote.token}`,
      ...(json && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
    },
    ...(json && { body: JSON.stringify(json) }),
    ...(text !== undefined && { body: text }),
    signal: AbortSignal.timeout(patience),
  })
  if (response.ok) return response
  const said = readMessage(await response.text())
  throw new RemoteRefused(response.status, `${remote.url} answered ${response.status}: ${said}`)
}

/** The same for a response that is an object. */
export async function askForObject<T>(remote: Remote, path: string, request: RemoteRequest = {}): Promise<T> {
  return (await (await askRemote(remote, path, request)).json()) as T
}

interface ListPage<T> {
  readonly data: readonly T[]
  readonly paging: { readonly next?: string; readonly cursors: { readonly after?: string } }
}

/** As many items of a list as asked for, page by page. */
export async function listRemote<T>(
  remote: Remote,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  limit: number,
): Promise<T[]> {
  const items: T[] = []
  for (let after: string | undefined; items.length < limit; ) {
    const size = String(Math.min(1000, limit - items.length))
    const page = await askForObject<ListPage<T>>(remote, path, { query: { ...query, limit: size, after } })
    items.push(...page.data)
    after = page.paging.next === undefined ? undefined : page.paging.cursors.after
    if (after === undefined) break
  }
  return items
}

async function send({ url }: Remote, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, init)
  } catch (error) {
    // fetch wraps the reason; an invalid token or address is explained by its own message.
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
    throw new CommandFailed(`${url} cannot be reached (${cause?.code ?? message}): start a server there, or give --url`)
  }
}

/** What a server says may come from anybody, so control characters are removed. */
function readMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    if (typeof error?.message === 'string') return error.message.replaceAll(/\p{Cc}+/gu, ' ')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return text.slice(0, 200).replaceAll(/\p{Cc}+/gu, ' ')
}
