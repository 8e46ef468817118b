import type { Vocabulary } from '../generated/constants.ts'
import { OauthMethods } from '../generated/oauth.ts'
import { oauthSignUpUrl, type SignUpUrl, type SignUpUrlParams } from './sign-up-url.ts'

/** `client.oauth`: businesses connect themselves to an app, and the app gets its tokens. */
export class Oauth<V extends Vocabulary = 'msgapp'> extends OauthMethods<V> {
  /**
   * Writes the address of the dialog in which a business connects itself to an app, with a state and PKCE. Nothing is sent.
   *
   * @example
   * const { url, state, code_verifier } = await client.oauth.signUpUrl({ client_id: '3000000000000002', redirect_uri: 'https://partner.example/connected' })
   */
  signUpUrl(params: SignUpUrlParams): Promise<SignUpUrl> {
    return oauthSignUpUrl(this.client, params)
  }
}
