import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { type SealedPlace, writePlace } from '../db/secrets/sealed-columns.ts'
import type { AppsTable, Sealed } from '../db/tables.ts'
import type { Scope } from '../graph/caller.ts'
import { hashToken, makeTokenId } from './tokens.ts'

/** What an app may do for itself; it sees no account, because its token is limited to none. */
const appScopes: readonly Scope[] = ['msgapp_business_management', 'msgapp_business_messaging']

/** The form of an app's own token, whether or not there is such an app. */
export const appTokenPattern = /^(\d{15,20})\|(.+)$/

/** The token by which an app acts for itself. */
export function writeAppToken(app_id: string, secret: string): string {
  return `${app_id}|${secret}`
}

type AppSecrets = Pick<AppsTable, 'id' | 'secret' | 'previous_secret' | 'previous_secret_until'>

/**
 * Makes the own tokens of apps those of their secrets by now: of the current one without an end, of the previous one until its overlap
 * ends, and of no other. To be called in the transaction of whatever changes a secret. `ids` fit one statement.
 */
export async function renewAppTokens(
  tx: Transaction,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const now = clock.now()
  const apps = await tx.query
    .selectFrom('apps')
    .select(['id', 'secret', 'previous_secret', 'previous_secret_until'])
    .where('id', 'in', [...ids])
    .orderBy('id')
    // Whoever changes a secret at the same moment comes before or after all of this.
    .forNoKeyUpdate()
    .execute()
  const wanted = new Map(apps.flatMap((app) => listWanted(tx, app, now).map((token) => [token.hash, token] as const)))
  const stored = await tx.query
    .selectFrom('tokens')
    .select(['id', 'hash', 'expires_time', 'revoked_time'])
    .where('app_id', 'in', [...ids])
    .where('is_of_app', '=', true)
    .execute()
  for (const { id, hash, expires_time, revoked_time } of stored) {
    const token = wanted.get(hash)
    wanted.delete(hash)
    const change = (to: { expires_time: number | null; revoked_time?: null; created_time?: number }) =>
      tx.query.updateTable('tokens').set(to).where('id', '=', id).execute()
    if (!token) {
      if (expires_time === null || expires_time > now) await change({ expires_time: now })
    } else if (revoked_time !== null || expires_time !== token.expires_time) {
      // A secret that an app had before may come back, and its token with it.
      await change({ expires_time: token.expires_time, revoked_time: null, created_time: now })
    }
  }
  const added = [...wanted.values()].map((token) => ({
    ...token,
    id: makeTokenId(random),
    scopes: [...appScopes],
    accounts: [],
    businesses: null,
    created_time: now,
    revoked_time: null,
    session_name: null,
    session_grant: null,
    made_by: null,
    user_id: null,
    connection_id: null,
    is_of_app: true,
    exchanged_from: null,
  }))
  if (added.length === 0) return
  // Processes that start together add the same.
  await tx.query
    .insertInto('tokens')
    .values(added)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute()
}

/** An empty secret would be known to everyone, and an altered one is known to nobody. */
function listWanted(db: Db, { id, secret, previous_secret, previous_secret_until }: AppSecrets, now: number) {
  const read = (column: SealedPlace, sealed: Sealed, expires_time: number | null) => {
    const text = db.secrets.tryOpen(writePlace(column, id), sealed as unknown as string)
    return text ? [{ app_id: id, hash: hashToken(db, writeAppToken(id, text)), expires_time }] : []
  }
  const overlaps = previous_secret !== null && (previous_secret_until ?? 0) > now
  return [
    ...read('apps.secret', secret, null),
    ...(overlaps ? read('apps.previous_secret', previous_secret, previous_secret_until) : []),
  ]
}

const batchSize = 500

/**
 * Gives their own tokens to apps whose secret is newer: those of a store that was made before there were such tokens, and those whose
 * secret was set meanwhile by a process of an earlier version.
 */
export async function addMissingAppTokens(
  database: Database,
  deps: { readonly clock: Clock; readonly random: Random },
): Promise<void> {
  const rows = await database.read.query
    .selectFrom('apps')
    .leftJoin('tokens', (join) =>
      join
        .onRef('tokens.app_id', '=', 'apps.id')
        .on('tokens.is_of_app', '=', true)
        .on('tokens.expires_time', 'is', null)
        .on('tokens.revoked_time', 'is', null)
        .on(({ eb, or }) =>
          or([eb('apps.secret_time', 'is', null), eb('tokens.created_time', '>=', eb.ref('apps.secret_time'))]),
        ),
    )
    .select('apps.id')
    .where('tokens.id', 'is', null)
    .execute()
  for (let start = 0; start < rows.length; start += batchSize) {
    const ids = rows.slice(start, start + batchSize).map(({ id }) => id)
    await database.transaction((tx) => renewAppTokens(tx, deps, ids))
  }
}
