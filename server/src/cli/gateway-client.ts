import { processEnvironment } from '../base/environment.ts'
import { cutTrailingSlashes } from '../base/slashes.ts'
import { readConfig } from '../config.ts'
import type { VocabularyName } from '../graph/vocabulary.ts'
import { CommandFailed } from './fail.ts'
import { writeLocalUrl } from './local-url.ts'

/** Its token in worlds/demo.yaml. */
const demoGatewayToken = 'demo-gateway-token'

export interface GatewayFlags {
  /** By default the address of a server with the settings of this command's environment. */
  readonly url?: string
  readonly token?: string
}

/** A running server, and the token for its gateway door. */
export interface Gateway {
  readonly url: string
  readonly token: string
  readonly vocabulary: VocabularyName
}

export interface GatewayAnswer {
  readonly status: number
  readonly answer: unknown
}

/** A refusal by a running server. */
export class GatewayRefused extends CommandFailed {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What falls due when a clock is moved may take a minute; a refusal comes soon. */
const patience = 90_000

export function openGateway(flags: GatewayFlags): Gateway {
  const token = flags.token ?? (processEnvironment()['SWITCHBOARD_GATEWAY_TOKEN'] || demoGatewayToken)
  const config = readConfig(processEnvironment())
  const url = flags.url ?? writeLocalUrl(config)
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new CommandFailed(`--url ${url} is not an http or https URL such as http://127.0.0.1:8080`)
  }
  return { url: cutTrailingSlashes(url), token, vocabulary: config.vocabulary }
}

/** Sends a request to the server; reports a refusal in one line. */
export async function askGateway(
  { url, token }: Gateway,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<GatewayAnswer> {
  const isJson = body !== undefined && !(body instanceof FormData)
  const response = await send(url, path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(isJson && { 'content-type': 'application/json' }) },
    ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(patience),
  })
  const text = await response.text()
  const answer = parse(text)
  if (response.ok) return { status: response.status, answer }
  const { error } = (answer ?? {}) as { error?: { message?: unknown } }
  const message = typeof error?.message === 'string' ? error.message : text.slice(0, 200)
  const said = message.replaceAll(/\p{Cc}+/gu, ' ')
  throw new GatewayRefused(response.status, `${method} ${path} was answered ${response.status}: ${said}`)
}

async function send(url: string, path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, request)
  } catch (error) {
    // fetch wraps the reason; an invalid token or address is explained by its own message.
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
    throw new CommandFailed(`${url} cannot be reached (${cause?.code ?? message}): start a server there, or give --url`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Prints what was sent and what came back. */
export function report(sent: string, { status, answer }: GatewayAnswer): void {
  process.stdout.write(`→ ${sent}\n← ${status} ${JSON.stringify(answer)}\n`)
}
