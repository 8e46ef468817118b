import { systemRandom } from '../../src/base/keys/random.ts'
import { type Consent, connect } from '../../src/resources/sign-up/connections.ts'
import type { TestServer } from './server.ts'
import { ids, partnerIds } from './world.ts'

export const partnerSecret = 'partner-app-secret'
export const redirectUri = 'https://partner.example/connected'

const bothScopes = ['msgapp_business_management', 'msgapp_business_messaging'] as const

/** What Ada of the owner's business agrees to, unless something else is said: that the partner's app may use the private account. */
export function consentOf(members: Partial<Consent> = {}): Consent {
  return {
    app_id: partnerIds.application,
    user_id: ids.business_user,
    account_id: ids.account,
    phone_number_id: null,
    scopes: bothScopes,
    redirect_uri: redirectUri,
    code_challenge: null,
    ...members,
  }
}

/** Connects an account as the dialog does. */
export function connectAccount(
  { database, clock }: Pick<TestServer, 'database' | 'clock'>,
  members: Partial<Consent> = {},
): Promise<{ code: string; connection_id: string }> {
  const settings = { signUpCodeLifetime: 600_000 }
  return database.transaction((tx) => connect({ db: tx, clock, random: systemRandom, settings }, consentOf(members)))
}
