import { readScope, writeScope } from '../../../auth/scopes.ts'
import { scopes as allScopes, isScopeOfService, type Scope } from '../../../graph/caller.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { challengeMissing, dialogAppUnknown, dialogScopeUnknown, redirectNotListed, stateTooLong } from './errors.ts'
import type { DialogQuery } from './schemas.ts'

/** What every app may ask of its platform and this service has nothing of: taken, and without effect. */
const emptyScopes = ['public_profile', 'email', 'openid']

const grantable = allScopes.filter((scope) => !isScopeOfService(scope))
const defaultScopes: readonly Scope[] = ['msgapp_business_management', 'msgapp_business_messaging']

/** As JSON writes it: it comes back in an address, and is carried through every step in one. */
const maxStateBytes = 4096

export interface DialogApp {
  readonly id: string
  readonly name: string
  readonly business_id: string
  readonly business_name: string
  readonly redirect_uris: readonly string[] | null
}

/** What an app asks for, once all of it was found to be right. */
export interface DialogRequest {
  readonly redirect_uri: string
  readonly state: string
  readonly scopes: readonly Scope[]
  readonly code_challenge: string | null
}

/**
 * Reads the request of an app; throws the 400 of the first fault. Which app it is and where it wants the browser back come first: until
 * both are right, nothing else is worth saying.
 */
export function readDialogRequest(
  given: DialogQuery,
  app: DialogApp | undefined,
  vocabulary: Vocabulary,
): DialogRequest {
  const { redirect_uri, state, scope, code_challenge, code_challenge_method } = given
  if (!app) throw dialogAppUnknown()
  if (!isListed(app, redirect_uri)) throw redirectNotListed()
  if (Buffer.byteLength(JSON.stringify(state)) > maxStateBytes + 2) throw stateTooLong({ max: maxStateBytes })
  const scopes = readScopes(scope, vocabulary)
  if (code_challenge_method !== undefined && code_challenge === undefined) throw challengeMissing()
  return { redirect_uri, state, scopes, code_challenge: code_challenge ?? null }
}

/** As a whole and byte by byte: whatever is taken for the same by a looser rule may lead to somebody else. */
export function isListed(app: DialogApp, redirect_uri: string): boolean {
  return app.redirect_uris?.includes(redirect_uri) === true
}

/** In the order in which the service lists them, each once. */
function readScopes(text: string | undefined, vocabulary: Vocabulary): readonly Scope[] {
  const asked = (text ?? '').split(/[\s,]/).filter((name) => name !== '' && !emptyScopes.includes(name))
  const read = asked.map(readScope)
  const asksForNothing = text !== undefined && text.trim() !== '' && read.length === 0
  if (asksForNothing || read.some((scope) => scope === undefined || isScopeOfService(scope))) {
    throw dialogScopeUnknown({ scopes: grantable.map((scope) => writeScope(scope, vocabulary)) })
  }
  return read.length === 0 ? defaultScopes : grantable.filter((scope) => read.includes(scope))
}
