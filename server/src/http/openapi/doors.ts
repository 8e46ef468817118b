import { writePermission } from '../../auth/scopes.ts'
import { type ErrorStatus, errorStatuses } from '../../graph/graph-error.ts'
import type { Door, Row } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { versionOf } from '../route-table.ts'
import type { OperationObject, SecurityScheme } from './document.ts'

/** The documents: one for businesses, one for the gateway and the open door, one for operators. */
export const documentNames = ['business', 'gateway', 'operator'] as const
export type DocumentName = (typeof documentNames)[number]

/** What the document says about a door, besides its rows. */
interface DescribedDoor {
  readonly document: DocumentName
  /** The default error statuses of its rows. */
  readonly errors: readonly ErrorStatus[]
  /** Whether calls are counted, so that responses report the usage. */
  readonly counted: boolean
  /** The proofs of which one is needed, where the vocabulary has them; by default a token. */
  readonly proofs?: readonly Proof[]
}

/** The names that the document has for proofs. */
type Proof = 'bearer' | 'access_token' | 'hub_signature'
const tokenProofs: readonly Proof[] = ['bearer', 'access_token']

function describeOpen(document: DocumentName): DescribedDoor {
  return { document, errors: [400, 403, 429, 500], counted: false, proofs: [] }
}

/** What apps call before they have a token: their paths may begin with a version, as all paths of the business API do. */
const openToApps = describeOpen('business')

const described: Readonly<Record<Door, DescribedDoor>> = {
  business: { document: 'business', errors: errorStatuses, counted: true },
  token: { document: 'business', errors: [400, 401, 403, 404, 429, 500], counted: false },
  // Wrong tokens and requests of strangers are counted everywhere, and cross-site browser requests are refused.
  gateway: { document: 'gateway', errors: errorStatuses, counted: false },
  operator: { document: 'operator', errors: errorStatuses, counted: false },
  receiver: {
    document: 'gateway',
    errors: [400, 401, 403, 404, 429, 500],
    counted: false,
    proofs: ['bearer', 'hub_signature', 'access_token'],
  },
  handshake: { document: 'gateway', errors: [400, 403, 429, 500], counted: false, proofs: [] },
  open: describeOpen('gateway'),
  link: { document: 'gateway', errors: [400, 401, 403, 404, 429, 500], counted: false },
  edge_link: { document: 'gateway', errors: [400, 401, 403, 404, 429, 500], counted: false },
}

export function doorOf(row: Row): DescribedDoor {
  return row.door === 'open' && versionOf(row) !== undefined ? openToApps : described[row.door]
}

/** The tag of a row: its chapter, or outside the business API the first half of its name. */
export function tagOf(row: Row): string {
  if (doorOf(row).document === 'business') return row.chapter
  return row.door === 'link' ? 'public' : (row.name.split('.')[0] as string)
}

/** Outside the business API, the titles of tags. */
export const titles: Readonly<Record<Exclude<DocumentName, 'business'>, Readonly<Record<string, string>>>> = {
  gateway: {
    gateway: 'Gateway',
    receiver: 'Inbound events',
    public: 'What anyone may open',
    sign_up: 'The pages of the sign-up',
    operators: 'Health and metrics',
  },
  operator: {
    operator: 'Operators',
    sandbox: 'Sandbox',
  },
}

/** The accepted scopes, of which a token needs one; empty when none is needed. */
export function scopesOf(row: Row, vocabulary: Vocabulary): string[] {
  switch (row.door) {
    case 'open':
    case 'handshake':
      return []
    case 'gateway':
    case 'edge_link':
    case 'receiver':
      return ['gateway']
    case 'operator':
      return ['operator']
    case 'token':
      return row.permission === undefined ? [] : writePermission(row.permission, vocabulary)
    default:
      return writePermission(row.permission, vocabulary)
  }
}

export function describeNeed(row: Row, vocabulary: Vocabulary): string {
  const scopes = scopesOf(row, vocabulary).map((scope) => `\`${scope}\``)
  switch (row.door) {
    case 'open':
      return 'Needs no token.'
    case 'handshake':
      return 'Needs no token: the verify token is the proof.'
    case 'receiver':
      return `Needs a token with the scope ${scopes.join(' or ')}, or the signature of an app that is linked to every account in the body.`
    case 'gateway':
    case 'operator':
      return `Needs the scope ${scopes.join(' or ')}.`
    case 'token':
      if (scopes.length === 0) return 'Needs a token, whatever its permissions.'
      return `Needs the permission ${scopes.join(' or ')}.`
    case 'business':
      return `Needs the permission ${scopes.join(' or ')}.`
    case 'edge_link':
      return `Needs the address as the gateway gave it, \`expires\` and \`signature\` included, and a token with the scope ${scopes.join(' or ')}.`
    case 'link':
      return `Needs the address as the API gave it, \`expires\` and \`signature\` included, and a token that sees what it names and has the permission ${scopes.join(' or ')}.`
  }
}

type Security = NonNullable<OperationObject['security']>

/** What the whole document asks for. */
export function securityOfAll(schemes: Readonly<Record<string, SecurityScheme>>): Security {
  return listProofs(tokenProofs, schemes)
}

/** What a row asks for; undefined: the same as the whole document. */
export function securityOf(row: Row, vocabulary: Vocabulary): Security | undefined {
  const { document, proofs } = doorOf(row)
  return proofs && listProofs(proofs, describeSecurity(document, vocabulary))
}

function listProofs(proofs: readonly Proof[], schemes: Readonly<Record<string, SecurityScheme>>): Security {
  return proofs.filter((name) => Object.hasOwn(schemes, name)).map((name) => ({ [name]: [] }))
}

export function describeSecurity(name: DocumentName, vocabulary: Vocabulary): Record<string, SecurityScheme> {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: tokenDescriptions[name] },
    ...(name !== 'operator' &&
      vocabulary.habits.token_in_query && {
        access_token: {
          type: 'apiKey',
          in: 'query',
          name: 'access_token',
          description: 'The same token, in the query.',
        },
      }),
    ...(name === 'gateway' && { hub_signature: hubSignature }),
  }
}

const tokenDescriptions: Readonly<Record<DocumentName, string>> = {
  business: 'The access token of an app: `./switchboard token create --app ID` prints a new one.',
  gateway: 'A token with the scope `gateway`: `./switchboard token create --app ID --scope gateway`.',
  operator: 'A token with the scope `operator`: `./switchboard token create --app ID --scope operator`.',
}

const hubSignature: SecurityScheme = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Hub-Signature-256',
  description:
    '`sha256=` and the HMAC-SHA256 of the exact bytes of the body, in hexadecimal, with the secret of an app that is linked to every account in it and whose business has access to them. Looked at only where there is no `Authorization`. A post that is proven so is taken once: sent again, it is answered 200 and not passed on. Where `webhook-signature` is sent as well, `webhook-id`, `webhook-timestamp` and it must be as the Standard Webhooks convention says, and the timestamp at most 5 minutes off; the post is then known by its id.',
}
