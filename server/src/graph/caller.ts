/** The scopes of a token, in the specification's names; a vocabulary only changes their spelling. */
export const scopes = [
  'msgapp_business_management',
  'msgapp_business_messaging',
  'business_management',
  'gateway',
  'operator',
] as const
export type Scope = (typeof scopes)[number]

/** Whether a scope opens a door of those who run the service, and not one of a business. */
export function isScopeOfService(scope: string): boolean {
  return scope === 'gateway' || scope === 'operator'
}

/** The app that signed a post. */
export interface Signer {
  readonly app_id: string
  readonly business_id: string
  /**
   * What the post is known by when it comes again: it is new when the first of them is. A signature over the bytes alone says nothing
   * of when it was made, so whoever has seen the post could send it again and again.
   */
  readonly digests: readonly string[]
}

/** Who hands in events: by a token, or by a signature. */
export type Sender = { readonly caller: Caller } | { readonly signer: Signer }

/** Who is calling: the token, the app it belongs to, and that app's business. Both are '' for a session of the console. */
export interface Caller {
  readonly token_id: string
  readonly app_id: string
  readonly business_id: string
  readonly first_party: boolean
  /** Whether a session of the console acts for the app: the next request of the same token may act for another one. */
  readonly isActing?: true
  /** Whether it is the token that the app has by its secret. */
  readonly isOfApp?: true
  /** Whether its requests must prove that they know the secret of the app. */
  readonly needsProof?: true
  readonly scopes: ReadonlySet<Scope>
  /** The only accounts that a granular token sees; undefined: all that the app's business owns or was given. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The only businesses, with all that is theirs, that an operator sees besides `accounts`; undefined: no such limit. */
  readonly businesses: ReadonlySet<string> | undefined
  /** The only accounts at the gateway: `accounts`, and those that `businesses` own by now; undefined: no such limit. */
  readonly gateway_accounts: ReadonlySet<string> | undefined
  /** The same three as stored, to detect a change. */
  readonly granted: {
    readonly scopes: readonly string[]
    readonly accounts: readonly string[] | null
    readonly businesses: readonly string[] | null
  }
}

/** Whether a page of the console calls, for itself or for an app. */
export function isOfConsole({ app_id, isActing }: Caller): boolean {
  return app_id === '' || isActing === true
}
