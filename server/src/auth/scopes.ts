import { type Caller, type Scope, scopes } from '../graph/caller.ts'
import { missingPermission } from '../graph/errors.ts'
import type { GraphError } from '../graph/graph-error.ts'
import type { Permission } from '../graph/operation.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'

const scopesOf: Record<Permission, readonly Scope[]> = {
  management: ['msgapp_business_management'],
  messaging: ['msgapp_business_messaging'],
  either: ['msgapp_business_management', 'msgapp_business_messaging'],
}

/** Refuses a caller whose token has none of the accepted scopes. */
export function checkPermission(caller: Caller, permission: Permission, vocabulary: Vocabulary): void {
  if (!scopesOf[permission].some((scope) => caller.scopes.has(scope)))
    throw lacksPermission(writePermission(permission, vocabulary))
}

/** The 403 for a token that has none of these scopes. */
export function lacksPermission(oneOf: readonly string[]): GraphError {
  return missingPermission({ permissions: oneOf.map((scope) => `"${scope}"`).join(' or ') })
}

/** The accepted scopes, of which a token needs one, in the spelling of a vocabulary. */
export function writePermission(permission: Permission, vocabulary: Vocabulary): string[] {
  return scopesOf[permission].map((scope) => writeScope(scope, vocabulary))
}

/** A scope in the spelling of a vocabulary. */
export function writeScope(scope: Scope, vocabulary: Vocabulary): string {
  return scope.replace(/^msgapp_/, `${vocabulary.product}_`)
}

/** A scope from any vocabulary's spelling, so that one world file serves both. */
export function readScope(text: string): Scope | undefined {
  const canonical = text.replace(/^whatsapp_/, 'msgapp_')
  return scopes.find((scope) => scope === canonical)
}

/** What a token may do: its permissions, and the accounts that it is limited to; null: it is not. */
interface Grant {
  readonly scopes: readonly string[]
  readonly accounts: readonly string[] | null
}

/** What is left of a grant that rests on another one. */
export function limitGrant({ scopes, accounts }: Grant, by: Grant): { scopes: string[]; accounts: string[] | null } {
  const own = accounts ?? by.accounts
  return {
    scopes: scopes.filter((scope) => by.scopes.includes(scope)),
    accounts: own?.filter((account) => by.accounts?.includes(account) ?? true) ?? null,
  }
}
