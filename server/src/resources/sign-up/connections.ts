import { sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/secrets/keyed-hash.ts'
import { defineStatement } from '../../db/statement.ts'
import type { ConnectionsTable } from '../../db/tables.ts'
import type { EndTools } from '../../delivery/history/end-waiting.ts'
import { scopes as allScopes } from '../../graph/caller.ts'
import type { Settings } from '../../graph/settings.ts'
import { withdrawAccess } from '../account/public.ts'
import { raisePartnerEvent } from './events.ts'
import { endLiveConnections, selectLive } from './store.ts'

/** What a person of a business agreed to. */
export interface Consent {
  readonly app_id: string
  readonly user_id: string
  readonly account_id: string
  /** Null: none was chosen. */
  readonly phone_number_id: string | null
  /** In the names of the specification. */
  readonly scopes: readonly string[]
  /** Where the browser takes the code, as the app gave it. */
  readonly redirect_uri: string
  /** S256; null: the app did not ask for a proof. */
  readonly code_challenge: string | null
}

/** The transaction of the consent, and what it needs. */
export interface ConnectContext {
  readonly db: Transaction
  readonly clock: Clock
  readonly random: Random
  readonly settings: Pick<Settings, 'signUpCodeLifetime'>
}

/** Taken first by whoever changes a connection of the account. */
export const lockAccount = defineStatement<{ account_id: string }>()((db, { account_id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', account_id).forUpdate(),
)

/**
 * Connects an account to an app, as a person of its business agreed: the app's business sees the account from now on, the app is notified,
 * and gets a code to exchange for its token. Connecting again adds to the connection that is there.
 */
export async function connect(
  { db: tx, clock, random, settings }: ConnectContext,
  consent: Consent,
): Promise<{ code: string; connection_id: string }> {
  // Whoever connects or withdraws access to the account at the same moment comes before or after.
  tx.lock(lockAccount, consent)
  const now = clock.now()
  const connection = await storeConnection(tx, random, now, consent)
  const code = random.bytes(32).toString('base64url')
  await tx.query
    .insertInto('sign_up_codes')
    .values({
      hash: hashCode(tx, code),
      app_id: consent.app_id,
      connection_id: connection.id,
      redirect_uri: consent.redirect_uri,
      code_challenge: consent.code_challenge,
      scopes: [...consent.scopes],
      created_time: now,
      expires_time: now + settings.signUpCodeLifetime,
      used_time: null,
      token_id: null,
    })
    .execute()
  await raisePartnerEvent(tx, clock, 'PARTNER_ADDED', connection)
  return { code, connection_id: connection.id }
}

/** The stored form of a code, and its look-up key. */
export function hashCode(db: Db, code: string): string {
  return keyedHash(db, 'sign-up code', code)
}

type Stored = Pick<ConnectionsTable, 'id' | 'app_id' | 'account_id' | 'business_id'>

async function storeConnection(
  tx: Transaction,
  random: Random,
  now: number,
  { app_id, account_id, user_id, phone_number_id, scopes }: Consent,
): Promise<Stored> {
  await giveAccess(tx, now, app_id, account_id)
  const live = await tx.query
    .selectFrom('connections')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('account_id', '=', account_id)
    .where('ended_time', 'is', null)
    .executeTakeFirst()
  if (live) {
    await tx.query
      .updateTable('connections')
      .set({
        user_id,
        phone_number_id: phone_number_id ?? live.phone_number_id,
        scopes: inOrder([...live.scopes, ...scopes]),
      })
      .where('id', '=', live.id)
      .execute()
    return live
  }
  const { business_id } = await tx.query
    .selectFrom('accounts')
    .select('business_id')
    .where('id', '=', account_id)
    .executeTakeFirstOrThrow()
  const id = `c${random.bytes(8).toString('hex')}`
  const connection = { id, app_id, business_id, account_id, phone_number_id, user_id }
  await tx.query
    .insertInto('connections')
    .values({ ...connection, scopes: inOrder(scopes), created_time: now, ended_time: null })
    .execute()
  return connection
}

/** Each once, in the order in which the service lists them. */
function inOrder(given: readonly string[]): string[] {
  return allScopes.filter((scope) => given.includes(scope))
}

/** Lets the business of an app see an account, beside any other access that it has; its own it sees anyway. */
async function giveAccess(tx: Transaction, now: number, app_id: string, account_id: string): Promise<void> {
  const business_id = await findBusinessOfApp(tx, app_id)
  await tx.query
    .insertInto('account_access')
    .columns(['account_id', 'business_id', 'relation', 'created_time'])
    .expression(
      tx.query
        .selectFrom('accounts')
        .select([
          'id',
          sql<string>`CAST(${business_id} AS TEXT)`.as('business_id'),
          sql<'connected'>`'connected'`.as('relation'),
        ])
        .select(sql<number>`CAST(${now} AS BIGINT)`.as('created_time'))
        .where('id', '=', account_id)
        .where('business_id', '<>', business_id),
    )
    .onConflict((conflict) => conflict.columns(['account_id', 'business_id', 'relation']).doNothing())
    .execute()
}

async function findBusinessOfApp(tx: Transaction, app_id: string): Promise<string> {
  const app = await tx.query.selectFrom('apps').select('business_id').where('id', '=', app_id).executeTakeFirstOrThrow()
  return app.business_id
}

/**
 * Ends a connection, with its tokens and codes, and withdraws the access that it gave unless another connection of the same business
 * rests on it. False when it has ended already.
 */
export async function endConnection(
  tx: Transaction,
  tools: EndTools,
  { id, account_id }: Pick<ConnectionsTable, 'id' | 'account_id'>,
): Promise<boolean> {
  tx.lock(lockAccount, { account_id })
  const [ended] = await endLiveConnections(tx, tools, [id])
  if (!ended) return false
  const business_id = await findBusinessOfApp(tx, ended.app_id)
  const other = await selectLive(tx, account_id).where('apps.business_id', '=', business_id).executeTakeFirst()
  if (!other) await withdrawAccess(tx, tools, { account_id, business_id, relation: 'connected' })
  return true
}
