import { APIConnectionError, APIError, Switchboard, SwitchboardError } from '@switchboard/client'
import { type Environment, processEnvironment } from '../base/environment.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import { CommandFailed } from './fail.ts'
import { writeLocalUrl } from './local-url.ts'
import { configFrom } from './store.ts'

/** A server that a command asks instead of the store itself. */
export interface Remote {
  readonly url: string
  readonly client: Switchboard
  /** How to give it a token, for when it refuses the one it got. */
  readonly tokenHint: string
}

/** Where a command works: `--url` and `--token`, the same for all. */
export interface RemoteFlags {
  readonly url?: string | undefined
  readonly token?: string | undefined
}

/** Tokens of worlds/demo.yaml, which a server takes from its own machine alone. */
const demoOperatorToken = 'demo-operator-token'
const demoGatewayToken = 'demo-gateway-token'
const requestTimeoutMs = 10 * 60_000

/** The server that `--url` or SWITCHBOARD_URL names; undefined: the command opens the store. */
export function findRemote(flags: RemoteFlags, environment: Environment = processEnvironment()): Remote | undefined {
  const url = flags.url ?? (environment['SWITCHBOARD_URL'] || undefined)
  if (url === undefined) {
    if (flags.token === undefined) return undefined
    throw new CommandFailed('--token is for a server: name it with --url or SWITCHBOARD_URL; the store needs none')
  }
  const operatorToken = flags.token ?? (environment['SWITCHBOARD_TOKEN'] || demoOperatorToken)
  return openRemote(url, { operatorToken }, hintAt('SWITCHBOARD_TOKEN', 'operator'))
}

/** For commands that need a server: without a name for it, it is on this machine. */
export function requireRemote({ url, token }: RemoteFlags): Remote {
  const named = url ?? (processEnvironment()['SWITCHBOARD_URL'] || undefined)
  return findRemote({ url: named ?? findLocalUrl(), token }) as Remote
}

/** A server whose gateway door is used: without a name for it, it is on this machine. */
export function openGateway({ url = findLocalUrl(), token }: RemoteFlags): Remote {
  const gatewayToken = token ?? (processEnvironment()['SWITCHBOARD_GATEWAY_TOKEN'] || demoGatewayToken)
  return openRemote(url, { gatewayToken }, hintAt('SWITCHBOARD_GATEWAY_TOKEN', 'gateway'))
}

function hintAt(variable: string, scope: string): string {
  return `give a token of that server with --token or ${variable}; there ./switchboard token create --app ID --scope ${scope} makes one`
}

function findLocalUrl(): string {
  return writeLocalUrl(configFrom({}))
}

function openRemote(
  url: string,
  tokens: { readonly operatorToken?: string; readonly gatewayToken?: string },
  tokenHint: string,
): Remote {
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new CommandFailed(`--url ${url} is not an http or https URL such as http://127.0.0.1:8080`)
  }
  const baseUrl = cutTrailingSlashes(url)
  // Whoever types a command sees at once that nobody is there, and decides alone about trying again.
  return {
    url: baseUrl,
    client: new Switchboard({ baseUrl, ...tokens, timeout: requestTimeoutMs, maxRetries: 0 }),
    tokenHint,
  }
}

/** A refusal by the server. */
export class RemoteRefused extends CommandFailed {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Asks a server; reports a refusal in one line. */
export async function ask<T>(
  { url, client, tokenHint }: Remote,
  call: (client: Switchboard) => Promise<T>,
): Promise<T> {
  try {
    return await call(client)
  } catch (error) {
    if (error instanceof APIError && error.status === 401) {
      throw new RemoteRefused(401, `${url} answered 401: it does not accept the token; ${tokenHint}`)
    }
    if (error instanceof APIError) {
      throw new RemoteRefused(error.status, `${url} answered ${error.status}: ${writePlain(error.detail)}`)
    }
    if (error instanceof APIConnectionError) {
      throw new CommandFailed(`${url} cannot be reached (${error.reason}): start a server there, or give --url`)
    }
    // What cannot be sent at all.
    throw error instanceof SwitchboardError ? new CommandFailed(error.message) : error
  }
}

/** What a server says may come from anybody, so control characters are removed. */
function writePlain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
