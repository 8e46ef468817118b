/** How a dialog ends, in the names of the message that a pop-up posts. */
export type DialogEvent = 'FINISH' | 'FINISH_ONLY_WABA' | 'CANCEL' | 'ERROR'

export interface ChosenIds {
  readonly business_id: string | null
  readonly account_id: string | null
  readonly phone_number_id: string | null
}

/** What the opener of a pop-up is posted. Ids that were not chosen are left out. */
export interface DialogMessage {
  readonly type: 'WA_EMBEDDED_SIGNUP'
  readonly event: DialogEvent
  readonly data: Readonly<Record<string, string>>
  readonly version: 3
}

/** Where the browser goes with the code of a consent. */
export function acceptedUri(redirect_uri: string, code: string, state: string): string {
  return addParameters(redirect_uri, { code, state })
}

export function declinedUri(redirect_uri: string, state: string): string {
  return addParameters(redirect_uri, { error: 'access_denied', error_reason: 'user_denied', state })
}

/** The listed address stays as it is, byte by byte; parameters are added behind its own, and before nothing: it has no fragment. */
function addParameters(uri: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  // A header holds ASCII alone.
  return escapeForHeader(uri) + separator + query.join('&')
}

function escapeForHeader(uri: string): string {
  return uri.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/** Whose pages may hear how it ended: those of the redirect's origin. Undefined where an address has none, as that of an app on a phone. */
export function originOf(redirect_uri: string): string | undefined {
  if (!URL.canParse(redirect_uri)) return undefined
  const { origin } = new URL(redirect_uri)
  return origin === 'null' ? undefined : origin
}

/** What the policy of a page must name, so that its forms may lead there: browsers apply it to redirects too. */
export function formTargetOf(redirect_uri: string): string {
  const { protocol, hostname } = new URL(redirect_uri)
  const origin = originOf(redirect_uri)
  // A policy cannot name an address of IPv6.
  return origin === undefined || hostname.startsWith('[') ? protocol : origin
}

export function composeMessage(
  event: DialogEvent,
  chosen: ChosenIds,
  more: Record<string, string> = {},
): DialogMessage {
  const { phone_number_id, account_id: waba_id, business_id } = chosen
  const ids = Object.entries({ phone_number_id, waba_id, business_id }).filter(([, id]) => id !== null)
  const data = { ...(Object.fromEntries(ids) as Record<string, string>), ...more }
  return { type: 'WA_EMBEDDED_SIGNUP', event, data, version: 3 }
}
