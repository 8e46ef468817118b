import { makeKey } from '../core/body.ts'
import type { AnyClient } from '../core/client.ts'
import { writeQuery } from '../core/request.ts'

export interface SignUpUrlParams {
  /** The id of the app that a business shall connect itself to. */
  readonly client_id: string
  /** Where the browser goes afterwards: exactly one of the `redirect_uris` of the app. */
  readonly redirect_uri: string
  /** What the app asks for; managing and messaging when left out. */
  readonly scope?: string | readonly string[] | undefined
  /** What the redirect is recognised by; a random one when left out. */
  readonly state?: string | undefined
  readonly config_id?: string | undefined
  /** The address of the server as browsers know it, where that is not the client's. */
  readonly baseUrl?: string | undefined
}

export interface SignUpUrl {
  /** The address of the dialog: for a link, a redirect or a pop-up. */
  readonly url: string
  /** What the redirect must bring back. Keep it in the session of the browser. */
  readonly state: string
  /** What proves at the exchange that the code was asked for here. Keep it beside the state; it is in no address. */
  readonly code_verifier: string
}

/** Writes the address of the dialog in which a business connects itself to an app, with a state and PKCE. */
export async function oauthSignUpUrl(client: AnyClient, params: SignUpUrlParams): Promise<SignUpUrl> {
  const { scope, state = makeKey(), baseUrl = client.baseUrl, ...given } = params
  // 64 characters, of 43 to 128 that a verifier may have.
  const code_verifier = makeKey() + makeKey()
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code_verifier))
  const query = {
    ...given,
    state,
    response_type: 'code',
    scope: Array.isArray(scope) ? scope.join(',') : scope,
    code_challenge: encodeBase64Url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
  }
  return { url: `${baseUrl}/${client.version}/dialog/oauth${writeQuery(query)}`, state, code_verifier }
}

function encodeBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
