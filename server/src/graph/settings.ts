/** The numbers that rules work with and that the operator may set; `config.ts` has their defaults and sentences. */
export interface Settings {
  readonly maxNumbersPerAccount: number
  readonly maxUsersPerGroup: number
  readonly maxUploadBytes: number
  /** How long an upload is kept open, and how long its handle is good for. */
  readonly uploadLifetime: number
  readonly maxImageBytes: number
  readonly maxAudioBytes: number
  readonly maxVideoBytes: number
  readonly maxDocumentBytes: number
  readonly maxStickerBytes: number
  readonly maxAnimatedStickerBytes: number
  /** The largest body that holds a medium as text. */
  readonly maxMediaTextBytes: number
  readonly mediaLifetime: number
  /** How long the address of a medium is good for. */
  readonly mediaLinkLifetime: number
  /** Where verification codes are posted to be sent; undefined: the built-in carrier. */
  readonly carrierUrl: string | undefined
  readonly verificationCodeDigits: number
  readonly verificationCodeLifetime: number
  /** So many wrong codes within so long, then none is taken for as long. Off with `rateLimitsOn`. */
  readonly wrongCodeLimit: { readonly count: number; readonly milliseconds: number }
  readonly rateLimitsOn: boolean
  /** How long a call rings before it is given up. */
  readonly callRingTime: number
  /** How long a permission to call lasts that the gateway gives no time for. */
  readonly callPermissionLifetime: number
  /** Calls that a number may start to one user in 24 hours. */
  readonly maxCallsPerDay: number
  /** Permission requests that a number may send to one user in 24 hours and in 7 days. */
  readonly maxCallPermissionRequestsPerDay: number
  readonly maxCallPermissionRequestsPerWeek: number
}
