/** The settings that rules use; `src/settings/` has their defaults and descriptions. */
export interface Settings {
  readonly maxNumbersPerAccount: number
  readonly maxUsersPerGroup: number
  readonly maxUploadBytes: number
  /** How many bytes of media files an account, and of uploads a business, may have stored. */
  readonly maxStoredBytes: number
  /** How long an upload stays open, and how long its handle is valid. */
  readonly uploadLifetime: number
  readonly maxImageBytes: number
  readonly maxAudioBytes: number
  readonly maxVideoBytes: number
  readonly maxDocumentBytes: number
  readonly maxStickerBytes: number
  readonly maxAnimatedStickerBytes: number
  /** The largest body that holds a media file as text. */
  readonly maxMediaTextBytes: number
  readonly mediaLifetime: number
  /** Where verification codes are posted to be sent; undefined: the built-in carrier. */
  readonly carrierUrl: string | undefined
  readonly verificationCodeDigits: number
  readonly verificationCodeLifetime: number
  /** How many wrong codes within a period block all codes for the same period. Off with `rateLimitsOn`. */
  readonly wrongCodeLimit: { readonly count: number; readonly milliseconds: number }
  readonly rateLimitsOn: boolean
  /** How long an unanswered call rings. */
  readonly callRingTime: number
  /** The default lifetime of a permission to call. */
  readonly callPermissionLifetime: number
  /** How many calls a number may start to one user in 24 hours. */
  readonly maxCallsPerDay: number
  /** How many permission requests a number may send to one user in 24 hours and in 7 days. */
  readonly maxCallPermissionRequestsPerDay: number
  readonly maxCallPermissionRequestsPerWeek: number
  /** Whether session descriptions with a finding of the level `error` are refused. */
  readonly sdpStrict: boolean
  /** After how long without sound a phone ends an accepted call; undefined: never. */
  readonly callMediaTimeout: number | undefined
  /** Whether templates are approved by themselves, or wait for somebody. */
  readonly templateReview: 'auto' | 'manual'
  /** Names of templates that an account may have, and one whose business is verified. */
  readonly maxTemplates: number
  readonly maxTemplatesVerified: number
  /** How often an approved template may be edited. */
  readonly maxTemplateEdits: readonly { readonly count: number; readonly milliseconds: number }[]
  /** How long the name of a deleted template cannot be used. */
  readonly templateNameRest: number
  /** How long a request for permission to call waits for its answer. */
  readonly callPermissionRequestLifetime: number
  /** How long after a user's message or call a number may write to the user without a template. */
  readonly serviceWindow: number
  /** How long a message waits to be delivered before it is dropped. */
  readonly messageTtl: number
  /** Whether the phones of users are online that nothing was said of. */
  readonly usersPresence: 'online' | 'offline'
  /** How long after a message was sent a phone that is online has it, and how long after that it is read where `auto_read` is on. */
  readonly phoneDeliveryDelay: number
  readonly phoneReadDelay: number
  readonly idempotencyKeep: number
  /** How long fetching the file behind a link may take, and how long the file is used again. */
  readonly linkFetchTimeout: number
  readonly linkFetchCache: number
  readonly typingTime: number
  readonly maxBlockedUsers: number
  /** How many marketing templates a number may send to one user in 24 hours; 0: any number. */
  readonly maxMarketingPerUserPerDay: number
  /** The limit of messages to one user or group: a bucket of `count`, refilled within `milliseconds`. */
  readonly messagePairRate: { readonly count: number; readonly milliseconds: number }
  /** Whether this is a place to try things out, where more is shown and allowed. */
  readonly sandbox: boolean
  /** The largest world file that operators can send. */
  readonly maxWorldBytes: number
  /** How long a code of the sign-up may be exchanged, and how long a token lives that was exchanged for another one. */
  readonly signUpCodeLifetime: number
  readonly exchangedTokenLifetime: number
  /** How many deliveries a request replays itself; more become a job. */
  readonly replayAtOnce: number
}
