import type { Configuration, CustomFetch } from 'openid-client'
import type { AllowedEntry, Claims } from '../auth/allowed-operators.ts'
import { SignInFailed } from '../auth/sign-in-failed.ts'
import type { SignInState } from '../auth/sign-in-state.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { hour, minute } from '../base/time/duration.ts'
import { shareWhileRunning } from '../base/work/share-while-running.ts'
import type { IssuerResponse } from '../graph/ports.ts'

/** Who says who operators are, and who of them may sign in. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  readonly groupsClaim: string
  readonly allow: readonly AllowedEntry[]
}

/** How long what the issuer says of itself is used; then it is asked again, and the old counts while it does not answer. */
const discoveryLifetime = hour
const timeoutSeconds = 10
/** How long the old counts while the issuer does not answer. */
const pauseAfterFailure = minute
const maxResponseBytes = 262_144
/** How many sign-ins wait for the issuer at once: each holds a connection and an answer. */
const maxUnderWay = 32
const maxAddress = 2048
/** What an issuer says is cut to it in the log. */
const maxLogged = 200
/** How far the issuer's clock may be off. */
const clockTolerance = 60

/** Where every browser comes back from the issuer: one address, which the issuer knows. */
const callbackPath = '/console/sign-in/callback'

export function writeCallback(publicUrl: string): string {
  return publicUrl + callbackPath
}

/** The address that a browser came back to, as the issuer knows it, whatever stands between the browser and this process. */
export function finishUrl(publicUrl: string, response: IssuerResponse): URL {
  const url = new URL(writeCallback(publicUrl))
  for (const [name, value] of Object.entries(response)) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** An OpenID Connect issuer. Its library is loaded at the first sign-in, and the issuer is asked for nothing before. */
export class Issuer {
  /** For people. */
  readonly host: string
  readonly #settings: OidcSettings
  readonly #clock: Clock
  readonly #log: Log
  readonly #load: () => Promise<Loaded>
  #known: { readonly loaded: Loaded; readonly until: number } | undefined
  #underWay = 0

  constructor(settings: OidcSettings, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#settings = settings
    this.#clock = clock
    this.#log = log
    this.host = new URL(settings.issuer).host
    this.#load = shareWhileRunning(() => discover(settings))
  }

  /** Where a browser goes to sign in; `again`: not as whoever is signed in there already. */
  async begin(redirectUri: string, { state, nonce, verifier }: SignInState, again = false): Promise<URL> {
    const { client, config } = await this.#find()
    return client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(again && { prompt: choosePrompt(config.serverMetadata()['prompt_values_supported']) }),
    })
  }

  /** Takes what the browser brought back for what the issuer says of the person. The library checks state, issuer, nonce, times and signature. */
  async finish(response: URL, { state, nonce, verifier }: SignInState): Promise<Claims> {
    const { client, config } = await this.#find()
    if (this.#underWay >= maxUnderWay) throw new SignInFailed('unreachable', 'too many sign-ins wait for the issuer')
    this.#underWay += 1
    try {
      const tokens = await client.authorizationCodeGrant(config, response, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims: Claims = { ...tokens.claims() }
      this.#checkClaims(claims)
      if (this.#isComplete(claims) || config.serverMetadata().userinfo_endpoint === undefined) return claims
      return mergeClaims(claims, await client.fetchUserInfo(config, tokens.access_token, String(claims['sub'])))
    } catch (error) {
      throw error instanceof SignInFailed ? error : explainRefusal(error)
    } finally {
      this.#underWay -= 1
    }
  }

  /** Where a browser goes to sign out of the issuer too; undefined: the issuer has no such page, or is not reached. */
  async findEndSession(returnUri: string): Promise<URL | undefined> {
    try {
      // Who signs out does not wait for an issuer that was known before.
      const { client, config } = this.#known?.loaded ?? (await this.#find())
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
    return hasGroups && 'email' in claims && 'email_verified' in claims
  }

  /** What the library leaves to its callers: a token for another client, of the future, or of nobody. */
  #checkClaims({ azp, iat, sub }: Claims): void {
    const { clientId } = this.#settings
    const latest = Math.floor(Date.now() / 1000) + clockTolerance
    if (azp !== undefined && azp !== clientId) throw new SignInFailed('refused', 'azp is another client')
    if (typeof iat === 'number' && iat > latest) throw new SignInFailed('refused', 'iat is in the future')
    if (typeof sub !== 'string' || sub === '') throw new SignInFailed('refused', 'sub is empty')
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
      if (this.#known) {
        this.#known = { ...this.#known, until: now + pauseAfterFailure }
        return this.#known.loaded
      }
      throw new SignInFailed('unreachable', failure)
    }
  }
}

/** Some issuers refuse a prompt that they do not have, and not all say which they have. */
function choosePrompt(supported: unknown): string {
  return Array.isArray(supported) && !supported.includes('select_account') ? 'login' : 'select_account'
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
  const { authorization_endpoint, token_endpoint, jwks_uri } = config.serverMetadata()
  for (const [name, address] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri })) {
    if (!isAddress(address, url.protocol)) throw new Error(`its ${name} is no ${url.protocol}// address`)
  }
  return { client, config }
}

/** What would only fail when it is used, at every sign-in until it is asked for anew. */
function isAddress(text: string | undefined, protocol: string): boolean {
  if (text === undefined || text.length > maxAddress || !URL.canParse(text)) return false
  const given = new URL(text).protocol
  return given === 'https:' || given === protocol
}

/** An address counts only with what the same source says of it. */
function mergeClaims(claims: Claims, more: Claims): Claims {
  const { email: _email, email_verified: _verified, ...rest } = claims
  return 'email_verified' in claims ? { ...more, ...claims } : { ...more, ...rest }
}

const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, { ...options, body: options.body ?? null } as RequestInit)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxResponseBytes) throw new Error(`the issuer's answer is larger than ${maxResponseBytes} bytes`)
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers })
}

/** Neither the code nor a token stands in these texts. */
function explainFailure(error: unknown): string {
  const { message, cause } = error as Error
  // The library gives a body of the issuer as the cause, too: that is anybody's text.
  const { code, message: inner } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
  const detail = code !== undefined && /^[A-Z\d_]{1,64}$/.test(code) ? code : inner
  return (detail === undefined ? message : `${message}: ${detail}`).slice(0, maxLogged)
}

function explainRefusal(error: unknown): SignInFailed {
  const { name, error: issuerError } = error as Error & { error?: unknown }
  if (issuerError === 'access_denied') return new SignInFailed('declined', 'access_denied')
  // Of fetch itself, or of its time limit.
  const isGone = name === 'TypeError' || name === 'TimeoutError' || isTimeout(error)
  const reason =
    typeof issuerError === 'string' ? `${explainFailure(error)} (${issuerError.slice(0, 100)})` : explainFailure(error)
  return new SignInFailed(isGone ? 'unreachable' : 'refused', reason)
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'OAUTH_TIMEOUT'
}
