import { beginUpper } from '../../ui/begin-upper.ts'

export interface ExplainedToken {
  readonly scopes: readonly string[]
  /** The only accounts and businesses that it sees; null: no such limit. */
  readonly accounts: readonly string[] | null
  readonly businesses: readonly string[] | null
}

/** By the end of the name of a scope: its beginning is the name of the product. */
const scopeWords: readonly (readonly [end: string, does: string])[] = [
  ['_business_management', 'manages accounts and numbers'],
  ['_business_messaging', 'sends messages and calls'],
]
const wholeScopeWords: Readonly<Record<string, string>> = {
  business_management: 'onboards businesses',
  gateway: "acts for the users' phones",
  operator: 'sees and runs everything',
}

/** What a token can do, in words. */
export function explainToken({ scopes, accounts, businesses }: ExplainedToken, nameOf: (id: string) => string): string {
  const limits = [...(accounts ?? []), ...(businesses ?? [])]
  const isLimited = accounts !== null || businesses !== null
  const where = isLimited ? `, only for ${limits.map(nameOf).join(', ') || 'nothing'}` : ''
  return `${explainScopes(scopes)}${where}`
}

/** What scopes allow, in words. */
export function explainScopes(scopes: readonly string[]): string {
  const does = scopes.map(
    (scope) => wholeScopeWords[scope] ?? scopeWords.find(([end]) => scope.endsWith(end))?.[1] ?? scope,
  )
  return beginUpper(does.join(', ') || 'can do nothing')
}

const stateWords: Readonly<Record<string, string>> = { good: 'Active', expired: 'Expired', revoked: 'Revoked' }

export function nameState(state: string): string {
  return stateWords[state] ?? state
}
