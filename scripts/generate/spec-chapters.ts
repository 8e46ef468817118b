/** One page of docs/spec/chapters: which parts of the specification, the decisions and the operations it has. */
export interface SpecChapter {
  /** Its file, without the extension. */
  readonly file: string
  readonly title: string
  /** The chapters of the table of operations. */
  readonly operations: readonly string[]
  /** Sections of management-api.md, a nested section as `Outer/Inner`; `''` is the text before the first. */
  readonly specification: readonly string[]
  /** Sections of decisions.md. */
  readonly decisions: readonly string[]
  /** Files of docs/decisions about it. */
  readonly reasons: readonly string[]
  /** A text of its own that is whole, in docs/spec; beside sections of the others it holds the rest. */
  readonly text?: string
}

/** Every section of both texts is on exactly one page: the generator refuses anything else. */
export const specChapters: readonly SpecChapter[] = [
  {
    file: 'common',
    title: 'Common to every operation',
    operations: ['service'],
    specification: [
      '',
      'What the service does',
      'Resources and their fields',
      'States and transitions',
      'Endpoints',
      'Authentication',
      'Errors',
      'Limits',
      'Versioning',
    ],
    decisions: ['', 'Common to every operation', 'With `VOCABULARY=whatsapp`'],
    reasons: [
      '0004-wrong-method-is-404',
      '0007-tokens-are-looked-up-every-time',
      '0008-order-of-list-ties',
      '0003-one-openapi-path-for-bare-nodes',
    ],
  },
  {
    file: 'calls',
    title: 'Calls',
    operations: ['calls'],
    specification: [
      'Resources and their fields/Call permission (per phone number and user)',
      'Resources and their fields/Call',
      'Endpoints/Calls',
    ],
    decisions: ['Calls'],
    reasons: ['0016-calls', '0092-findings-of-session-descriptions', '0094-sound-beside-the-server'],
    text: 'calls-with-sound.md',
  },
  {
    file: 'profile',
    title: 'Business profile and resumable upload',
    operations: ['profile', 'uploads'],
    specification: ['Resources and their fields/Business profile', 'Endpoints/Business profile'],
    decisions: ['Business profile'],
    reasons: ['0011-bytes-and-uploads'],
  },
  {
    file: 'account',
    title: 'Business account',
    operations: ['account'],
    specification: ['Resources and their fields/Business account', 'Endpoints/Business account'],
    decisions: ['Account'],
    reasons: [],
  },
  {
    file: 'encryption',
    title: 'Encryption key',
    operations: ['encryption'],
    specification: ['Resources and their fields/Business public key record', 'Endpoints/Encryption key'],
    decisions: ['Encryption key'],
    reasons: ['0013-keys-and-compliance'],
  },
  {
    file: 'groups',
    title: 'Groups',
    operations: ['groups'],
    specification: ['Resources and their fields/Group', 'Endpoints/Groups'],
    decisions: ['Groups'],
    reasons: ['0015-groups'],
  },
  {
    file: 'phone-numbers',
    title: 'Phone numbers',
    operations: ['phone-numbers'],
    specification: [
      'Resources and their fields/Phone number of an account (list item)',
      'Resources and their fields/Account number (single read)',
      'Resources and their fields/Phone number info (read by phone number ID)',
      'Endpoints/Phone numbers',
    ],
    decisions: ['Phone numbers'],
    reasons: ['0012-the-life-of-a-number', '0091-a-callback-for-a-while'],
  },
  {
    file: 'media',
    title: 'Media',
    operations: ['media'],
    specification: ['Resources and their fields/Media', 'Endpoints/Media'],
    decisions: ['Media'],
    reasons: ['0018-media', '0011-bytes-and-uploads'],
  },
  {
    file: 'templates',
    title: 'Message templates',
    operations: ['templates'],
    specification: [],
    decisions: [],
    reasons: ['0034-message-templates'],
    text: 'messages.md',
  },
  {
    file: 'sending',
    title: 'Sending messages',
    operations: ['messages'],
    specification: [],
    decisions: [],
    reasons: ['0035-messages'],
    text: 'messages.md',
  },
  {
    file: 'users',
    title: "The users' side",
    operations: ['users'],
    specification: [],
    decisions: [],
    reasons: ['0035-messages'],
    text: 'messages.md',
  },
  {
    file: 'bot',
    title: 'Bot',
    operations: ['bot'],
    specification: ['Resources and their fields/Bot', 'Endpoints/Bot'],
    decisions: ['Bots'],
    reasons: ['0014-schedules-qr-codes-bots'],
  },
  {
    file: 'schedules',
    title: 'Schedules',
    operations: ['schedules'],
    specification: ['Resources and their fields/Schedule', 'Endpoints/Schedules'],
    decisions: ['Schedules'],
    reasons: ['0014-schedules-qr-codes-bots'],
  },
  {
    file: 'qr-codes',
    title: 'Message QR codes',
    operations: ['qr-codes'],
    specification: ['Resources and their fields/Message QR code', 'Endpoints/Message QR codes'],
    decisions: ['QR codes'],
    reasons: ['0014-schedules-qr-codes-bots'],
  },
  {
    file: 'solutions',
    title: 'Multi-partner solutions and onboarding',
    operations: ['solutions'],
    specification: [
      'Resources and their fields/Multi-partner solution',
      'Resources and their fields/Partner onboarding request',
      'Endpoints/Multi-partner solutions and onboarding',
    ],
    decisions: ['Solutions and onboarding'],
    reasons: ['0009-solutions-and-onboarding'],
  },
  {
    file: 'compliance',
    title: 'Compliance',
    operations: ['compliance'],
    specification: ['Resources and their fields/Compliance information', 'Endpoints/Compliance'],
    decisions: ['Compliance'],
    reasons: ['0013-keys-and-compliance'],
  },
  {
    file: 'portfolio',
    title: 'Portfolio, credits and migration',
    operations: ['portfolio'],
    specification: [
      'Resources and their fields/Migration intent',
      'Resources and their fields/Business portfolio',
      'Resources and their fields/Extended credit line',
      'Endpoints/Other reads',
    ],
    decisions: ['Portfolio, credits, migration'],
    reasons: ['0005-credit-lines-are-403-for-partners'],
  },
  {
    file: 'sign-up',
    title: 'Sign-up',
    operations: ['sign-up'],
    specification: [],
    decisions: [],
    reasons: ['0096-connections'],
    text: 'sign-up.md',
  },
  {
    file: 'tokens',
    title: 'Tokens',
    operations: ['tokens'],
    specification: [],
    decisions: [],
    reasons: ['0095-tokens-of-apps-and-people'],
    text: 'sign-up.md',
  },
  {
    file: 'webhooks',
    title: 'Webhooks',
    operations: ['webhooks'],
    specification: ['Endpoints/Webhook receiver', 'Events'],
    decisions: ['Events'],
    reasons: ['0010-callbacks', '0017-events'],
  },
  {
    file: 'operators',
    title: 'Operators',
    operations: ['operators'],
    specification: [],
    decisions: [],
    reasons: ['0039-operators'],
    text: 'operator-door.md',
  },
  {
    file: 'sandbox',
    title: 'Sandbox',
    operations: ['sandbox'],
    specification: [],
    decisions: [],
    reasons: ['0041-sandbox'],
    text: 'operator-door.md',
  },
]
