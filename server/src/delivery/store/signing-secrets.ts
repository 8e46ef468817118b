import { sql } from 'kysely'
import { renewAppTokens } from '../../auth/app-tokens.ts'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/secrets/keyed-hash.ts'
import { openSecret, takeSeal } from '../../db/secrets/sealing.ts'
import { defineSql, defineStatement } from '../../db/statement.ts'
import type { AppsTable } from '../../db/tables.ts'
import { keysOf } from './lanes.ts'

/**
 * The secrets of an app that sign its posts: several during a rotation, the newest first. An empty secret would be known to
 * everyone, so it signs and verifies nothing.
 */
export type Secrets = readonly string[]

export type StoredSecrets = Pick<AppsTable, 'id' | 'secret' | 'previous_secret' | 'previous_secret_until'>

const findOfApp = defineStatement<{ app_id: string }>()((db, { app_id }) =>
  db.selectFrom('apps').select(['id', 'secret', 'previous_secret', 'previous_secret_until']).where('id', '=', app_id),
)

/** The secrets that sign an app's webhooks now. */
export async function findSecrets(db: Db, app_id: string, now: number): Promise<Secrets> {
  const app = await db.first(findOfApp, { app_id })
  if (!app) throw new Error(`the app ${app_id} is missing`)
  return secretsInForce(db, app, now)
}

const findOfApps = defineSql<{ ids: object }>()(
  ({ ids }) => sql<StoredSecrets>`
    SELECT apps.id, secret, previous_secret, previous_secret_until FROM json_each(${ids}) AS o JOIN apps ON apps.id = o.key`,
)

/** The sealed secrets of some apps, in one round trip. */
export async function listStoredSecrets(db: Db, app_ids: Iterable<string>): Promise<StoredSecrets[]> {
  return db.list(findOfApps, { ids: keysOf(app_ids) })
}

/** The app's secret, and the previous one during the overlap of a rotation. */
export function secretsInForce(
  db: Db,
  { id, secret, previous_secret, previous_secret_until }: StoredSecrets,
  now: number,
): Secrets {
  const current = openSecret(db, 'apps.secret', id, secret)
  const overlaps = previous_secret !== null && (previous_secret_until ?? 0) > now
  return overlaps ? [current, openSecret(db, 'apps.previous_secret', id, previous_secret)] : [current]
}

export interface StoredSecretFacts {
  readonly app_id: string
  readonly business_id: string
  readonly secret_time: number | null
  /** Tells secrets apart without revealing anything about them. */
  readonly fingerprint: string
  /** The secret before, while it is good. */
  readonly previous: { readonly fingerprint: string; readonly until: number } | null
}

const fingerprintDigits = 12

/** What can be said of an app's secrets without them; undefined when there is no such app. For operators: not bound to a tenant. */
export async function findAppSecretForOperators(
  db: Db,
  app_id: string,
  now: number,
): Promise<StoredSecretFacts | undefined> {
  const app = await db.query
    .selectFrom('apps')
    .select(['id', 'business_id', 'secret', 'secret_time', 'previous_secret', 'previous_secret_until'])
    .where('id', '=', app_id)
    .executeTakeFirst()
  if (!app) return undefined
  const [current, previous] = secretsInForce(db, app, now).map((secret) =>
    keyedHash(db, 'app secret', secret).slice(-fingerprintDigits),
  )
  return {
    app_id,
    business_id: app.business_id,
    secret_time: app.secret_time,
    fingerprint: current ?? '',
    previous: previous === undefined ? null : { fingerprint: previous, until: app.previous_secret_until ?? now },
  }
}

/** Gives an app a new secret, and keeps the old one valid for a while; undefined when there is no such app. */
export async function rotateSecretForOperators(
  tx: Transaction,
  clock: Clock,
  random: Random,
  { app_id, overlap }: { app_id: string; overlap: number },
): Promise<string | undefined> {
  const app = await tx.query
    .selectFrom('apps')
    .select('secret')
    .where('id', '=', app_id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!app) return undefined
  const secret = random.bytes(32).toString('hex')
  const seal = await takeSeal(tx)
  await tx.query
    .updateTable('apps')
    .set({
      secret: seal('apps.secret', app_id, secret),
      // A sealed value opens only in its own column.
      previous_secret: seal('apps.previous_secret', app_id, openSecret(tx, 'apps.secret', app_id, app.secret)),
      previous_secret_until: clock.now() + overlap,
      secret_time: clock.now(),
    })
    .where('id', '=', app_id)
    .execute()
  await renewAppTokens(tx, { clock, random }, [app_id])
  return secret
}
