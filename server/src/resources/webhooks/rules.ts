import { webhookFields } from '../../delivery/webhook-fields.ts'
import type { Caller } from '../../graph/caller.ts'
import type { Node } from '../../graph/nodes.ts'
import {
  onlyOwnerUnlinks,
  overrideRequired,
  subscriptionOfAllAccounts,
  subscriptionOfAnother,
  verifyTokenRequired,
  webhookFieldRequired,
  webhookFieldsWrong,
  webhookFieldUnknown,
} from './errors.ts'
import type { NewLink } from './schemas.ts'

/**
 * Only the app itself may read and set its callback, whose address may hold a secret. A subscription covers every account that the app
 * is linked to, so a token for some of them may not change it. The token that an app has by its secret sees no account and is the app.
 */
export function checkOwnSubscriptions(caller: Caller, application: Node): void {
  if (caller.accounts && !caller.isOfApp) throw subscriptionOfAllAccounts()
  if (caller.app_id !== application.id) throw subscriptionOfAnother()
}

/** The owner of an account decides which apps receive its events; all others decide only for their own app. */
export function checkMayUnlink(caller: Caller, account: Node): void {
  if (caller.business_id !== account.business_id) throw onlyOwnerUnlinks()
}

/** Parses the names of fields, an array or separated by commas, without duplicates and in the order of the known ones. */
export function readFieldNames(given: string | readonly string[]): string[] {
  const names = typeof given === 'string' ? splitNames(given) : given
  const known: readonly string[] = webhookFields
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw webhookFieldUnknown({ field: JSON.stringify(unknown.slice(0, 100)), known })
  if (names.length === 0) throw webhookFieldRequired({ known })
  return known.filter((name) => names.includes(name))
}

/** In a form or a query an array comes as JSON text. */
function splitNames(text: string): string[] {
  if (text.trimStart().startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(text)
      if (Array.isArray(parsed) && parsed.every((name) => typeof name === 'string')) return parsed
    } catch {
      // Reported below, like everything else that is not a list of names.
    }
    throw webhookFieldsWrong()
  }
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** An app's callback for an account, or none; each of its two members needs the other. */
export function readOverride({
  override_callback_uri,
  verify_token,
}: NewLink): { readonly url: string; readonly verify_token: string } | undefined {
  if (override_callback_uri === undefined) {
    if (verify_token === undefined) return undefined
    throw overrideRequired()
  }
  if (verify_token === undefined) throw verifyTokenRequired()
  return { url: override_callback_uri, verify_token }
}
