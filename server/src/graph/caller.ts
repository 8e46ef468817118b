/** The scopes of a token, in the specification's names; a vocabulary only changes their spelling. */
export const scopes = [
  'msgapp_business_management',
  'msgapp_business_messaging',
  'business_management',
  'gateway',
] as const
export type Scope = (typeof scopes)[number]

/** Who is calling: the token, the app it belongs to, and that app's business. */
export interface Caller {
  readonly token_id: string
  readonly app_id: string
  readonly business_id: string
  readonly first_party: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The only accounts that a granular token sees; undefined: all that the app's business owns or was given. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The same two as stored, to detect a change. */
  readonly granted: { readonly scopes: readonly string[]; readonly accounts: readonly string[] | null }
}
