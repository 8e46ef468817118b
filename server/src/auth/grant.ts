/** What a token may do: its permissions, and the accounts that it is limited to; null: it is not. */
export interface Grant {
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
