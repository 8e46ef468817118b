import type { Configuration, CustomFetch } from 'openid-client'
import type { AllowedEntry, Claims } from '../auth/allowed-operators.ts'
import type { SignInState } from '../auth/sign-in-state.ts'
import type { Clock } from '../base/clock.ts'
import { hour } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { shareWhileRunning } from '../base/share.ts'

/** Who says who operators are, and who of them may sign in. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  readonly groupsClaim: string
  readonly allow: readonly AllowedEntry[]
}

/** Why somebody is not signed in, for the page that says so. */
export type SignInProblem = 'unreachable' | 'refused' | 'declined' | 'stale' | 'not_allowed'

export class SignInFailed extends Error {
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, reason: string) {
    super(reason)
    this.problem = problem
  }
}

/** How long what the issuer says of itself is used; then it is asked again, and the old counts while it does not answer. */
const discoveryLifetime = hour
const timeoutSeconds = 10
const maxAnswerBytes = 1_048_576
/** How far the issuer's clock may be off. */
const clockTolerance = 60

/** An OpenID Connect issuer. Its library is loaded at the first sign-in, and the issuer is asked for nothing before. */
export class Issuer {
  /** For people. */
  readonly host: string
  readonly #settings: OidcSettings
  readonly #clock: Clock
  readonly #log: Log
  readonly #load: () => Promise<Loaded>
  #known: { readonly loaded: Loaded; readonly until: number } | undefined

  constructor(settings: OidcSettings, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#settings = settings
    this.#clock = clock
    this.#log = log
    this.host = new URL(settings.issuer).host
    this.#load = shareWhileRunning(() => discover(settings))
  }

  /** Where a browser goes to sign in. */
  async begin(redirectUri: string, { state, nonce, verifier }: SignInState): Promise<URL> {
    const { client, config } = await this.#find()
    return client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
  }

  /** Takes what the browser brought back for what the issuer says of the person. The library checks state, issuer, nonce, times and signature. */
  async finish(answer: URL, { state, nonce, verifier }: SignInState): Promise<Claims> {
    const { client, config } = await this.#find()
    try {
      const tokens = await client.authorizationCodeGrant(config, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims: Claims = { ...tokens.claims() }
      if (this.#isComplete(claims) || config.serverMetadata().userinfo_endpoint === undefined) return claims
      return { ...(await client.fetchUserInfo(config, tokens.access_token, String(claims['sub']))), ...claims }
    } catch (error) {
      throw explainRefusal(error)
    }
  }

  /** Where a browser goes to sign out of the issuer too; undefined: the issuer has no such page, or is not reached. */
  async findEndSession(returnUri: string): Promise<URL | undefined> {
    try {
      const { client, config } = await this.#find()
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      return client.buildEndSessionUrl(config, { post_logout_redirect_uri: returnUri })
    } catch {
      return undefined
    }
  }

  /** Many issuers put into the ID token only who it is, and the rest elsewhere. */
  #isComplete(claims: Claims): boolean {
    const { allow, groupsClaim } = this.#settings
    const hasGroups = groupsClaim in claims || allow.every(({ kind }) => kind !== 'group')
    return hasGroups && 'email' in claims
  }

  async #find(): Promise<Loaded> {
    const now = this.#clock.now()
    if (this.#known && now < this.#known.until) return this.#known.loaded
    try {
      const loaded = await this.#load()
      this.#known = { loaded, until: now + discoveryLifetime }
      return loaded
    } catch (error) {
      const failure = explainFailure(error)
      this.#log.warn({ issuer: this.#settings.issuer, reason: failure }, 'the OpenID Connect issuer cannot be used')
      if (this.#known) return this.#known.loaded
      throw new SignInFailed('unreachable', failure)
    }
  }
}

interface Loaded {
  readonly client: typeof import('openid-client')
  readonly config: Configuration
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Loaded> {
  const client = await import('openid-client')
  const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)]
  const url = new URL(issuer)
  const config = await client.discovery(
    url,
    clientId,
    { [client.clockTolerance]: clockTolerance },
    (server, ...rest) => {
      // Basic is what the standard has where an issuer says nothing.
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest)
    },
    {
      timeout: timeoutSeconds,
      [client.customFetch]: fetchBounded,
      // The settings allow http only for an issuer on this machine, outside production.
      execute: [client.enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [client.allowInsecureRequests] : [])],
    },
  )
  return { client, config }
}

const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, { ...options, body: options.body ?? null } as RequestInit)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error(`the issuer's answer is larger than ${maxAnswerBytes} bytes`)
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers })
}

/** Neither the code nor a token stands in these texts. */
function explainFailure(error: unknown): string {
  const { message, cause } = error as Error
  const inner = (cause as { code?: unknown; message?: unknown } | undefined) ?? {}
  const detail = typeof inner.code === 'string' ? inner.code : inner.message
  return typeof detail === 'string' ? `${message}: ${detail}` : message
}

function explainRefusal(error: unknown): SignInFailed {
  const { name, error: answered } = error as Error & { error?: unknown }
  if (answered === 'access_denied') return new SignInFailed('declined', 'access_denied')
  // Of fetch itself, or of its time limit.
  const isGone = name === 'TypeError' || name === 'TimeoutError' || isTimeout(error)
  const reason =
    typeof answered === 'string' ? `${explainFailure(error)} (${answered.slice(0, 100)})` : explainFailure(error)
  return new SignInFailed(isGone ? 'unreachable' : 'refused', reason)
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'OAUTH_TIMEOUT'
}
