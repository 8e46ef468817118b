import { hash, timingSafeEqual } from 'node:crypto'
import { isDemoAppSecret } from '../../auth/demo.ts'
import { defineStatement } from '../../db/statement.ts'
import { secretsInForce } from '../../delivery/store/signing-secrets.ts'
import type { OpenContext } from '../../graph/context.ts'
import { clientSecretWrong } from './exchange-errors.ts'

/** What an app proves itself with. */
interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

export interface Client {
  readonly id: string
  readonly business_id: string
}

const findApp = defineStatement<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('apps')
    .select(['id', 'business_id', 'secret', 'previous_secret', 'previous_secret_until'])
    .where('id', '=', id),
)

/** In the place of the secrets of an app that does not exist. */
const nobodysSecrets = ['']

/**
 * The app whose secret this is; during the overlap of a rotation also by the secret before. Unknown apps and wrong secrets cost the same
 * and get the same error, and addresses that guess are refused as those are that guess tokens.
 */
export async function authenticateClient(
  { db, clock, guesses, mayUseDemo, remote_address }: OpenContext,
  { client_id, client_secret }: Credentials,
): Promise<Client> {
  const proof = `${client_id}|${client_secret}`
  guesses.refuse(remote_address, proof)
  const app = await db.first(findApp, { id: client_id })
  const secrets = app ? secretsInForce(db, app, clock.now()) : nobodysSecrets
  const isTaken = mayUseDemo || !isDemoAppSecret(client_secret)
  // Every secret is compared, whichever fits.
  const fitting = secrets.filter((secret) => isSame(secret, client_secret) && secret !== '')
  if (!app || fitting.length === 0 || !isTaken) {
    guesses.noteWrong(remote_address, { secret: proof })
    throw clientSecretWrong()
  }
  guesses.noteGood(proof)
  return { id: app.id, business_id: app.business_id }
}

/** Compares hashes, so that the time reveals nothing of a text, nor of its length. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}
