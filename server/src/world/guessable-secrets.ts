import { hashToken } from '../auth/tokens.ts'
import type { Db } from '../db/database.ts'
import type { SecretName } from '../world-part/part.ts'
import type { Problems } from '../world-part/problems.ts'
import type { WorldEntries } from './list.ts'
import { worldParts } from './parts.ts'

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
const minSecretLengths: Readonly<Record<SecretName, number>> = { token: 20, secret: 16, verify_token: 8 }
/** One character again and again is as short as one, however long it is. */
const leastDistinct = 5

/** Complains of the secrets of a file that somebody could know or guess. What they are is not repeated. */
export function checkSecrets(entries: WorldEntries, problems: Problems): void {
  for (const name of Object.keys(minSecretLengths) as SecretName[]) {
    for (const part of worldParts) {
      for (const { given, place } of part.secrets ? entries.of(part) : []) {
        const secret = part.secrets?.(given)[name]
        if (secret !== undefined) checkSecret(place, name, secret, problems)
      }
    }
  }
}

function checkSecret(place: string, kind: SecretName, secret: string, problems: Problems): void {
  const least = minSecretLengths[kind]
  const at = `${place}.${kind}`
  if (demoSecrets.has(secret)) {
    problems.add(at, 'it is of the demo world, which everybody can read; in production give one of your own.')
  } else if (secret.length < least) {
    problems.add(at, `it has fewer than ${least} characters; in production give a longer one, made at random.`)
  } else if (new Set(secret).size < leastDistinct) {
    problems.add(at, `it has fewer than ${leastDistinct} different characters; in production give one made at random.`)
  }
}

/** The ids of tokens of the demo that a store takes: it was filled before it went into production, say. For operators. */
export async function listDemoTokensForOperators(db: Db): Promise<string[]> {
  const hashes = [...demoSecrets].map((secret) => hashToken(db, secret))
  const tokens = await db.query
    .selectFrom('tokens')
    .select('id')
    .where('hash', 'in', hashes)
    .where('revoked_time', 'is', null)
    .orderBy('id')
    .execute()
  return tokens.map(({ id }) => id)
}
