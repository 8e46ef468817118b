import { APIConnectionError, APIError, Switchboard, SwitchboardError } from '@switchboard/client'
import { processEnvironment } from '../base/environment.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import { CommandFailed } from './fail.ts'
import { findLocalUrl, findPlace, hintAtServers, isStoreNamed, sayPlace } from './place.ts'
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
const demoBusinessToken = 'demo-token'
const requestTimeoutMs = 10 * 60_000

/** The server that a command asks; undefined: the command opens the store. */
export async function findRemote(flags: RemoteFlags & { readonly data?: string }): Promise<Remote | undefined> {
  const url = nameServer(flags)
  if (url !== undefined) return openOperator(url, flags)
  if (flags.token !== undefined) {
    if (!isStoreNamed(flags.data)) return openOperator(findLocalUrl(configFrom({})), flags)
    throw new CommandFailed(
      '--token is for a server: name it with --url or SWITCHBOARD_URL; the store that --data, DATA_DIR or DATABASE_URL names needs none',
    )
  }
  const config = configFrom({ DATA_DIR: flags.data })
  const place = await findPlace(config, flags.data)
  if (place.kind !== 'server') return undefined
  sayPlace(config, place)
  return openOperator(place.url, flags)
}

/** For commands that need a server: without a name for it, it is on this machine. */
export function requireRemote(flags: RemoteFlags): Remote {
  return openOperator(nameServer(flags) ?? findLocalUrl(configFrom({})), flags)
}

/** A server whose gateway door is used: without a name for it, it is on this machine. */
export function openGateway(flags: RemoteFlags): Remote {
  const gatewayToken = flags.token ?? (processEnvironment()['SWITCHBOARD_GATEWAY_TOKEN'] || demoGatewayToken)
  return openRemote(
    nameServer(flags) ?? findLocalUrl(configFrom({})),
    { gatewayToken },
    hintAt('SWITCHBOARD_GATEWAY_TOKEN', 'gateway'),
  )
}

/** A server whose business door is used, with the token of a business: without a name for it, it is on this machine. */
export function openBusiness(flags: RemoteFlags): Remote {
  const token = flags.token ?? (processEnvironment()['SWITCHBOARD_BUSINESS_TOKEN'] || demoBusinessToken)
  return openRemote(nameServer(flags) ?? findLocalUrl(configFrom({})), { token }, hintAt('SWITCHBOARD_BUSINESS_TOKEN'))
}

function nameServer({ url }: RemoteFlags): string | undefined {
  return url ?? (processEnvironment()['SWITCHBOARD_URL'] || undefined)
}

function openOperator(url: string, { token }: RemoteFlags): Remote {
  const operatorToken = token ?? (processEnvironment()['SWITCHBOARD_TOKEN'] || demoOperatorToken)
  return openRemote(url, { operatorToken }, hintAt('SWITCHBOARD_TOKEN', 'operator'))
}

function hintAt(variable: string, scope?: string): string {
  const flag = scope === undefined ? '' : ` --scope ${scope}`
  return `give a token of that server with --token or ${variable}; there ./switchboard token create --app ID${flag} makes one`
}

function openRemote(
  url: string,
  tokens: { readonly operatorToken?: string; readonly gatewayToken?: string; readonly token?: string },
  tokenHint: string,
): Remote {
  if (!isServerUrl(url)) {
    throw new CommandFailed(
      `--url ${url} is not an http or https URL such as http://127.0.0.1:8080, without a password or a query`,
    )
  }
  const baseUrl = cutTrailingSlashes(url)
  // Whoever types a command sees at once that nobody is there, and decides alone about trying again.
  return {
    url: baseUrl,
    client: new Switchboard({ baseUrl, ...tokens, timeout: requestTimeoutMs, maxRetries: 0 }),
    tokenHint,
  }
}

function isServerUrl(text: string): boolean {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === '' && !/[?#]/.test(text)
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
    // Whatever a Switchboard refuses has a code.
    if (error instanceof APIError && error.code === undefined) {
      throw new RemoteRefused(
        error.status,
        `${url} answered ${error.status} as no Switchboard does (${writePlain(error.detail).slice(0, maxShown)}): give the address of the server alone with --url, such as http://127.0.0.1:8080`,
      )
    }
    if (error instanceof APIError && error.status === 401) {
      throw new RemoteRefused(401, `${url} answered 401: it does not accept the token; ${tokenHint}`)
    }
    if (error instanceof APIError) {
      throw new RemoteRefused(error.status, `${url} answered ${error.status}: ${writePlain(error.detail)}`)
    }
    if (error instanceof APIConnectionError) {
      throw new CommandFailed(
        `${url} cannot be reached (${error.reason}): start a server there, or name another with --url or SWITCHBOARD_URL${hintAtServers(url)}`,
      )
    }
    // What cannot be sent at all.
    throw error instanceof SwitchboardError ? new CommandFailed(error.message) : error
  }
}

/** Enough to recognize a page. */
const maxShown = 80

/** What a server says may come from anybody, so control characters are removed. */
function writePlain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
