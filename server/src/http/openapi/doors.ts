import { writePermission } from '../../auth/scopes.ts'
import { type ErrorStatus, errorStatuses } from '../../graph/graph-error.ts'
import type { Door, Row } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import type { SecurityScheme } from './document.ts'

/** The documents: one for businesses, and one for the gateway and the open door. */
export const documentNames = ['business', 'gateway'] as const
export type DocumentName = (typeof documentNames)[number]

/** What the document says about a door, besides its rows. */
interface DescribedDoor {
  readonly document: DocumentName
  /** The default error statuses of its rows. */
  readonly errors: readonly ErrorStatus[]
  /** Whether calls are counted, so that responses report the usage. */
  readonly counted: boolean
  /** By default that of the whole document. */
  readonly security?: readonly []
}

const described: Readonly<Record<Door, DescribedDoor>> = {
  business: { document: 'business', errors: errorStatuses, counted: true },
  // Wrong tokens and requests of strangers are counted everywhere, and cross-site browser requests are refused.
  gateway: { document: 'gateway', errors: errorStatuses, counted: false },
  open: { document: 'gateway', errors: [400, 403, 429, 500], counted: false, security: [] },
  link: { document: 'gateway', errors: [400, 401, 403, 404, 429, 500], counted: false },
}

export function doorOf({ door }: Row): DescribedDoor {
  return described[door]
}

/** The tag of a row: its chapter, or outside the business API the first half of its name. */
export function tagOf(row: Row): string {
  if (row.door === 'business') return row.chapter
  return row.door === 'link' ? 'public' : (row.name.split('.')[0] as string)
}

export const gatewayTags = {
  gateway: 'Gateway',
  receiver: 'Inbound events',
  public: 'What anyone may open',
  operators: 'Health and metrics',
} as const

/** The accepted scopes, of which a token needs one; empty when none is needed. */
export function scopesOf(row: Row, vocabulary: Vocabulary): string[] {
  if (row.door === 'open') return []
  return row.door === 'gateway' ? ['gateway'] : writePermission(row.permission, vocabulary)
}

export function describeNeed(row: Row, vocabulary: Vocabulary): string {
  const scopes = scopesOf(row, vocabulary).map((scope) => `\`${scope}\``)
  switch (row.door) {
    case 'open':
      return 'Needs no token.'
    case 'gateway':
      return `Needs the scope ${scopes.join(' or ')}.`
    case 'business':
      return `Needs the permission ${scopes.join(' or ')}.`
    case 'link':
      return `Needs the address as the API gave it, \`expires\` and \`signature\` included, and a token that sees what it names and has the permission ${scopes.join(' or ')}.`
  }
}

export function describeSecurity(name: DocumentName, vocabulary: Vocabulary): Record<string, SecurityScheme> {
  const business = 'The access token of an app: `./switchboard token create --app ID` prints a new one.'
  const gateway = 'A token with the scope `gateway`: `./switchboard token create --app ID --scope gateway`.'
  return {
    bearer: { type: 'http', scheme: 'bearer', description: name === 'business' ? business : gateway },
    ...(vocabulary.habits.token_in_query && {
      access_token: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same token, in the query.' },
    }),
  }
}
