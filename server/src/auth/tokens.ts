import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Db, Transaction } from '../db/database.ts'
import { keyedHash } from '../db/secrets/keyed-hash.ts'
import { defineStatement } from '../db/statement.ts'
import type { AppsTable, Tables, TokensTable } from '../db/tables.ts'
import type { Caller, Scope } from '../graph/caller.ts'

/**
 * The stored form of a token, and its look-up key. A token made by the service has 256 random bits and could be hashed plainly, but a
 * token chosen for a world file could be guessed. It is a keyed hash of the plain hash, because older stores have only the latter.
 */
export function hashToken(db: Db, secret: string): string {
  return keyedHash(db, 'token', hash('sha256', secret))
}

export function makeTokenSecret(random: Random): string {
  return `sb_${random.bytes(32).toString('base64url')}`
}

/** The id by which a token is listed and revoked; it reveals nothing about the secret. */
export function makeTokenId(random: Random): string {
  return `t${random.bytes(8).toString('hex')}`
}

export interface NewToken {
  readonly secret: string
  /** Null: of no app. For sessions of the console alone. */
  readonly app_id: string | null
  readonly scopes: readonly Scope[]
  readonly accounts: readonly string[] | null
  /** For operators alone. */
  readonly businesses?: readonly string[] | null
  readonly expires_time: number | null
  /** Whose session of the console it is, and by what it was admitted if not by a link. */
  readonly session_name?: string
  readonly session_grant?: string | null | undefined
  /** The session of the console by which it is made, at first or second hand. */
  readonly made_by?: string | undefined
  /** The person of a business to whom it belongs. */
  readonly user_id?: string | null
  /** What it was given for, and ends with. */
  readonly connection_id?: string | null
  /** The token that it was exchanged for, at first hand: it ends with that one. */
  readonly exchanged_from?: string
}

/** Stores a token as its hash only, and returns its id. */
export async function insertToken(tx: Transaction, clock: Clock, random: Random, token: NewToken): Promise<string> {
  const id = makeTokenId(random)
  await tx.query
    .insertInto('tokens')
    .values({
      id,
      hash: hashToken(tx, token.secret),
      app_id: token.app_id,
      scopes: [...token.scopes],
      accounts: token.accounts && [...token.accounts],
      businesses: token.businesses ? [...token.businesses] : null,
      created_time: clock.now(),
      expires_time: token.expires_time,
      revoked_time: null,
      session_name: token.session_name ?? null,
      session_grant: token.session_grant ?? null,
      made_by: token.made_by ?? null,
      user_id: token.user_id ?? null,
      connection_id: token.connection_id ?? null,
      is_of_app: null,
      exchanged_from: token.exchanged_from ?? null,
    })
    .execute()
  return id
}

export function selectTokens(db: Kysely<Tables>) {
  return db
    .selectFrom('tokens')
    .leftJoin('apps', 'apps.id', 'tokens.app_id')
    .select([
      'tokens.id',
      'tokens.app_id',
      'tokens.scopes',
      'tokens.accounts',
      'tokens.businesses',
      'tokens.expires_time',
      'tokens.revoked_time',
      'tokens.is_of_app',
      'apps.business_id',
      'apps.first_party',
      'apps.require_appsecret_proof',
    ])
}

const findByHash = defineStatement<{ hash: string }>()((db, { hash }) =>
  selectTokens(db).where('tokens.hash', '=', hash),
)

const findById = defineStatement<{ id: string }>()((db, { id }) => selectTokens(db).where('tokens.id', '=', id))

/** The app and business of a token, and when it expires. */
export interface FoundToken {
  readonly caller: Caller
  readonly expires_time: number | null
}

/** The identity behind a token's secret, unless revoked; the caller checks the expiry. */
export async function findCaller(db: Db, secret: string): Promise<FoundToken | undefined> {
  return toFound(db, await db.first(findByHash, { hash: hashToken(db, secret) }))
}

/** Whether a token was revoked. */
export async function wasRevoked(db: Db, secret: string): Promise<boolean> {
  const row = await db.first(findByHash, { hash: hashToken(db, secret) })
  return row !== undefined && row.revoked_time !== null
}

/** The same for a token that was found before. */
export async function findCallerById(db: Db, id: string): Promise<FoundToken | undefined> {
  return toFound(db, await db.first(findById, { id }))
}

type TokenRow = Pick<
  TokensTable,
  'id' | 'app_id' | 'scopes' | 'accounts' | 'businesses' | 'expires_time' | 'revoked_time' | 'is_of_app'
> & { readonly [K in 'business_id' | 'first_party' | 'require_appsecret_proof']: AppsTable[K] | null }

/** A promise only for a token that is limited to businesses: for all others it would cost every request a turn. */
export function toFound(db: Db, row: TokenRow | undefined): FoundToken | undefined | Promise<FoundToken | undefined> {
  if (!row || row.revoked_time !== null) return undefined
  const { accounts, businesses } = row
  if (!businesses) return describeToken(row, accounts)
  return listOwnedAccounts(db, businesses).then((owned) => describeToken(row, [...(accounts ?? []), ...owned]))
}

function describeToken(row: TokenRow, gatewayAccounts: readonly string[] | null): FoundToken {
  const { accounts } = row
  const own = accounts ? new Set(accounts) : undefined
  return {
    caller: {
      token_id: row.id,
      app_id: row.app_id ?? '',
      business_id: row.business_id ?? '',
      first_party: row.first_party ?? false,
      // It has the secret in it, so whoever sends it knows that.
      ...(row.is_of_app ? { isOfApp: true } : row.require_appsecret_proof && { needsProof: true }),
      scopes: new Set(row.scopes as Scope[]),
      accounts: own,
      businesses: row.businesses ? new Set(row.businesses) : undefined,
      gateway_accounts: gatewayAccounts === accounts ? own : new Set(gatewayAccounts),
      granted: { scopes: row.scopes, accounts: row.accounts, businesses: row.businesses },
    },
    expires_time: row.expires_time,
  }
}

/** Looked up each time, because a business gets further accounts. */
async function listOwnedAccounts(db: Db, businesses: readonly string[]): Promise<string[]> {
  const rows = await db.query
    .selectFrom('accounts')
    .select('id')
    .where('business_id', 'in', [...businesses, ''])
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Tokens for the doors of the service, and sessions of the console, are not of the business of their app: they act for all tenants, or
 * for some.
 */
export const isOfService = sql<boolean>`(tokens.session_name IS NOT NULL
  OR CAST(tokens.scopes AS TEXT) LIKE '%"operator"%' OR CAST(tokens.scopes AS TEXT) LIKE '%"gateway"%')`

/**
 * Revokes a token, and what a session made for the doors of the service with it; false when there is none of that id. The one that an
 * app has by its secret ends with that alone.
 */
export async function revokeToken(tx: Transaction, clock: Clock, id: string): Promise<boolean> {
  const found = await endToken(tx, clock, id)
  if (found) {
    const made = tx.query.updateTable('tokens').set({ revoked_time: clock.now() }).where('made_by', '=', id)
    await made.where(isOfService).where('revoked_time', 'is', null).execute()
  }
  return found
}

/** The same for its owner, who signs out: what was made with it stays, and what it was exchanged for ends with it. */
export async function endToken(tx: Transaction, clock: Clock, id: string): Promise<boolean> {
  // Locked first: the statement below then sees what it was exchanged for meanwhile.
  const query = tx.query.selectFrom('tokens').select('id').where('id', '=', id).where(isMade).forUpdate()
  const found = await query.executeTakeFirst()
  if (!found) return false
  await tx.query
    .updateTable('tokens')
    .set({ revoked_time: clock.now() })
    .where(({ eb, or }) => or([eb('id', '=', id), eb('exchanged_from', '=', id)]))
    .where('revoked_time', 'is', null)
    .execute()
  return true
}

/** A token that somebody made, and not one that an app has by its secret. */
export const isMade = sql<boolean>`tokens.is_of_app IS NULL`

/** Every token that somebody made, without its secret. For operators: not bound to a tenant. */
export async function listTokensForOperators(db: Db) {
  return db.query
    .selectFrom('tokens')
    .leftJoin('token_notes', 'token_notes.token_id', 'tokens.id')
    .select(['id', 'app_id', 'scopes', 'accounts', 'businesses', 'created_time', 'expires_time', 'revoked_time'])
    .select(['session_name', 'name', 'created_by', 'last_used_time'])
    .where(isMade)
    .orderBy('created_time')
    .orderBy('id')
    .execute()
}
