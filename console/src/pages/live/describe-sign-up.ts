import type { AuditData } from '../../data/feed-data.ts'

/** What was done in a sign-up, by the operation: `{who}` did it to `{}`, and `{app}` is the one whose dialog it is. */
const steps: ReadonlyMap<string, string> = new Map([
  ['sign_up.choose_person', '{who} began to sign up for {app}'],
  ['sign_up.sign_in', '{who} signed in to sign up for {app}'],
  ['sign_up.sign_in_at_issuer', '{who} signed in at the issuer to sign up for {app}'],
  ['sign_up.choose_business', '{who} chose the business {}'],
  ['sign_up.add_business', '{who} created the business {}'],
  ['sign_up.choose_account', '{who} chose the account {}'],
  ['sign_up.add_account', '{who} created the account {}'],
  ['sign_up.choose_number', '{who} chose the phone number {}'],
  ['sign_up.add_number', '{who} added the phone number {}'],
  ['sign_up.send_code', '{who} asked for a verification code for {}'],
  ['sign_up.verify_number', '{who} verified the phone number {}'],
  ['sign_up.agree', '{who} agreed to connect {} to {app}'],
  ['sign_up.exchange', '{app} got a token for {}'],
  ['sign_up.decline', '{who} declined to connect anything to {app}'],
])

/** A record of a sign-up in one sentence; undefined: it is none. */
export function describeSignUp(
  { operation, node_kind, node_id, actor_name, actor_app_id }: AuditData,
  nameOf: (id: string) => string,
): string | undefined {
  const isWithoutNumber = operation === 'sign_up.choose_number' && node_kind === 'account'
  const did = isWithoutNumber ? '{who} chose no phone number' : steps.get(operation)
  if (did === undefined) return undefined
  const values: Readonly<Record<string, string>> = {
    '{who}': actor_name === undefined ? 'Somebody' : isolate(actor_name),
    '{app}': actor_app_id === undefined ? 'an app' : isolate(nameOf(actor_app_id)),
    '{}': isolate(nameOf(node_id)),
  }
  return did.replace(/\{\w*\}/g, (place) => values[place] ?? place)
}

/** A name that is written from the right does not turn the sentence around it. */
function isolate(name: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name
}
