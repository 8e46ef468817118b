import { hashToken } from '../auth/tokens.ts'
import type { Db } from '../db/database.ts'
import type { SecretName } from '../world-part/part.ts'
import type { Problems } from '../world-part/problems.ts'
import type { WorldEntries } from './list.ts'
import { worldParts } from './parts.ts'

/** The secrets of worlds/demo.yaml and of the README, which are public. A test compares them with that file. */
export const demoSecrets: ReadonlySet<string> = new Set([
  'demo-token',
  'demo-gateway-token',
  'demo-operator-token',
  'demo-partner-token',
  'demo-granular-token',
  'shrub-app-secret',
  'partner-app-secret',
  'shrub-verify-token',
])

/** The minimum length of a secret: a shorter one can be guessed. */
const minSecretLengths: Readonly<Record<SecretName, number>> = { token: 20, secret: 16, verify_token: 8 }
/** The minimum of different characters: a repeated character is as weak as one. */
const leastDistinct = 5

/** Reports secrets in a file that are known or guessable, without quoting them. */
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

/** The ids of demo tokens that a store accepts, for example because it was filled before production. For operators. */
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
