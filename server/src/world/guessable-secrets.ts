import { hashToken } from '../auth/tokens.ts'
import type { Db } from '../db/database.ts'
import type { Problems } from './refused.ts'
import type { Things } from './things.ts'

/** The secrets of worlds/demo.yaml and of the README, which everybody can read. A test holds them against that file. */
export const demoSecrets: ReadonlySet<string> = new Set([
  'demo-token',
  'demo-gateway-token',
  'demo-partner-token',
  'demo-granular-token',
  'shrub-app-secret',
  'partner-app-secret',
  'shrub-verify-token',
])

/** How many characters a secret has at the least: what is shorter can be tried out. */
export const minSecretLengths = { token: 20, secret: 16, verify_token: 8 } as const
/** One character again and again is as short as one, however long it is. */
const minDistinctCharacters = 5

/** Complains of the secrets of a file that somebody could know or guess. What they are is not repeated. */
export function checkSecrets({ tokens, apps }: Things, problems: Problems): void {
  const check = (place: string, kind: keyof typeof minSecretLengths, secret: string | undefined, remedy: string) => {
    const problem = secret === undefined ? undefined : findWeakness(secret, minSecretLengths[kind])
    if (problem) problems.add(`${place}.${kind}`, `${problem}; ${remedy}.`)
  }
  for (const { given, place } of tokens) {
    check(place, 'token', given.token, 'leave it out and make one with ./switchboard token create')
  }
  for (const { given, place } of apps) {
    const remedy = 'leave it out, and one is made at random'
    check(place, 'secret', given.secret, remedy)
    check(`${place}.webhook`, 'verify_token', given.webhook?.verify_token, remedy)
  }
}

/** The ids of tokens of the demo that a store takes: it was filled before it went into production, say. For operators. */
export async function listDemoTokensForOperators({ query }: Db): Promise<string[]> {
  const tokens = await query
    .selectFrom('tokens')
    .select('id')
    .where('hash', 'in', [...demoSecrets].map(hashToken))
    .where('revoked_time', 'is', null)
    .orderBy('id')
    .execute()
  return tokens.map(({ id }) => id)
}

function findWeakness(secret: string, minLength: number): string | undefined {
  if (demoSecrets.has(secret)) return 'it is of the demo world, which everybody can read, and not for production'
  if (secret.length < minLength) return `it has fewer than ${minLength} characters, which is too few for production`
  if (new Set(secret).size < minDistinctCharacters) {
    return `it has fewer than ${minDistinctCharacters} different characters, which is too few for production`
  }
  return undefined
}
