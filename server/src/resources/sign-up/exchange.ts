import { hash } from 'node:crypto'
import { limitGrant } from '../../auth/scopes.ts'
import { insertTokenNote } from '../../auth/token-notes.ts'
import { endToken, hashToken, insertToken, makeTokenSecret } from '../../auth/tokens.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import type { SignUpCodesTable, TokensTable } from '../../db/tables.ts'
import { isScopeOfService, type Scope } from '../../graph/caller.ts'
import type { OpenContext } from '../../graph/context.ts'
import { insertActivity } from '../audit/store.ts'
import type { Attempt } from './attempts.ts'
import { type Client, isSame } from './clients.ts'
import { hashCode, lockAccount } from './connections.ts'
import { codeUsedOrOld, redirectDiffers, tokenNotExchanged, verifierWrong } from './exchange-errors.ts'

export interface ExchangedCode {
  readonly code: string
  readonly redirect_uri?: string | undefined
  readonly code_verifier?: string | undefined
}

/** RFC 7636, 4.1. */
const verifierPattern = /^[\w.~-]{43,128}$/

/**
 * Exchanges a code for a token, once. A code that was used when it comes again has leaked: the token that was given for it ends. Of two
 * requests at once one gets the token and the other the refusal, and nothing ends.
 */
export async function exchangeCode(
  context: OpenContext,
  attempt: Attempt,
  app: Client,
  { code, redirect_uri, code_verifier }: ExchangedCode,
): Promise<string> {
  const { db, clock, ports } = context
  const hashed = hashCode(db, code)
  const found = await db.query.selectFrom('sign_up_codes').selectAll().where('hash', '=', hashed).executeTakeFirst()
  if (!found || found.app_id !== app.id) throw codeUsedOrOld()
  if (found.used_time !== null) {
    if (!attempt.isRaceWith(found.used_time)) await ports.transaction((tx) => endReplayed(tx, clock, hashed))
    throw codeUsedOrOld()
  }
  if (found.expires_time <= clock.now()) throw codeUsedOrOld()
  if (redirect_uri !== undefined && redirect_uri !== found.redirect_uri) throw redirectDiffers()
  if (!provesChallenge(found.code_challenge, code_verifier)) throw verifierWrong()
  const secret = await ports.transaction(async (tx) => {
    const given = await giveToken(tx, context, app, found)
    if (given !== undefined) attempt.win()
    return given
  })
  if (secret === undefined) throw codeUsedOrOld()
  return secret
}

function provesChallenge(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null || verifier === undefined) return challenge === null && verifier === undefined
  return verifierPattern.test(verifier) && isSame(hash('sha256', verifier, 'base64url'), challenge)
}

async function endReplayed(tx: Transaction, clock: Clock, code: string): Promise<void> {
  const given = await tx.query
    .selectFrom('sign_up_codes')
    .select('token_id')
    .where('hash', '=', code)
    .executeTakeFirst()
  if (given?.token_id) await endToken(tx, clock, given.token_id)
}

/** Undefined: another request was first, or the connection has ended. */
async function giveToken(
  tx: Transaction,
  { clock, random, remote_address, trace }: OpenContext,
  app: Client,
  code: SignUpCodesTable,
): Promise<string | undefined> {
  const connection = await lockConnection(tx, code.connection_id)
  if (!connection) return undefined
  const now = clock.now()
  const used = await tx.query
    .updateTable('sign_up_codes')
    .set({ used_time: now })
    .where('hash', '=', code.hash)
    .where('used_time', 'is', null)
    .where('expires_time', '>', now)
    .returning('hash')
    .executeTakeFirst()
  if (!used) return undefined
  const secret = makeTokenSecret(random)
  const { account_id, user_id } = connection
  const token_id = await insertToken(tx, clock, random, {
    secret,
    app_id: app.id,
    // What was taken back since the consent is not given.
    scopes: code.scopes.filter((scope) => connection.scopes.includes(scope)) as Scope[],
    accounts: [account_id],
    expires_time: null,
    user_id,
    connection_id: connection.id,
  })
  await tx.query.updateTable('sign_up_codes').set({ token_id }).where('hash', '=', code.hash).execute()
  insertActivity(tx, {
    time: now,
    operation: 'sign_up.exchange',
    node_id: account_id,
    node_kind: 'account',
    business_id: connection.business_id,
    account_id,
    actor_app_id: app.id,
    actor_business_id: app.business_id,
    actor_token_id: token_id,
    remote_address,
    trace,
  })
  return secret
}

/** A live connection, which does not end before this transaction: whoever ends it finds the token that is made here. */
async function lockConnection(tx: Transaction, id: string) {
  return tx.query
    .selectFrom('connections')
    .selectAll()
    .where('id', '=', id)
    .where('ended_time', 'is', null)
    .forShare()
    .executeTakeFirst()
}

export interface RenewedToken {
  readonly secret: string
  /** In milliseconds, from when it was made. */
  readonly lifetime: number
}

/** Makes another token with the same grant, which lives for a while, and not longer than the one that somebody made. */
export async function exchangeToken(context: OpenContext, app: Client, given: string): Promise<RenewedToken> {
  const renewed = await context.ports.transaction((tx) => renewToken(tx, context, app, given))
  if (!renewed) throw tokenNotExchanged()
  return renewed
}

/** Undefined where that token may not be exchanged. */
async function renewToken(
  tx: Transaction,
  { clock, random, settings, remote_address, trace }: OpenContext,
  app: Client,
  given: string,
): Promise<RenewedToken | undefined> {
  const now = clock.now()
  const found = await findExchangeable(tx, app, hashToken(tx, given))
  if (!found) return undefined
  const { account_id, connection_id, user_id, made_by } = found
  if (account_id !== null) tx.lock(lockAccount, { account_id })
  const connection = connection_id === null ? undefined : await lockConnection(tx, connection_id)
  if (connection_id !== null && !connection) return undefined
  const first = await lockToken(tx, now, found.exchanged_from ?? found.id)
  const token = found.exchanged_from === null ? first : await lockToken(tx, now, found.id)
  if (!first || !token) return undefined
  // As of now: what somebody took from one of them is not given again by another.
  const grant = limitGrant(token, first)
  const scopes = grant.scopes.filter((scope) => !connection || connection.scopes.includes(scope))
  if (scopes.length === 0) return undefined
  const expires_time = Math.min(now + settings.exchangedTokenLifetime, first.expires_time ?? Number.POSITIVE_INFINITY)
  const secret = makeTokenSecret(random)
  const id = await insertToken(tx, clock, random, {
    secret,
    app_id: app.id,
    scopes: scopes as Scope[],
    accounts: grant.accounts,
    expires_time,
    made_by: made_by ?? undefined,
    user_id,
    connection_id,
    exchanged_from: first.id,
  })
  await insertTokenNote(tx, { token_id: id, name: null, created_by: token.id })
  insertActivity(tx, {
    time: now,
    operation: 'sign_up.exchange',
    node_id: id,
    node_kind: 'token',
    business_id: app.business_id,
    account_id: null,
    actor_app_id: app.id,
    actor_business_id: app.business_id,
    actor_token_id: token.id,
    remote_address,
    trace,
  })
  return { secret, lifetime: expires_time - now }
}

/** A valid token, locked: whoever ends or narrows it comes before this transaction, or finds the tokens that it makes. */
async function lockToken(
  tx: Transaction,
  now: number,
  id: string,
): Promise<Pick<TokensTable, 'id' | 'scopes' | 'accounts' | 'expires_time'> | undefined> {
  return tx.query
    .selectFrom('tokens')
    .select(['id', 'scopes', 'accounts', 'expires_time'])
    .where('id', '=', id)
    .where('revoked_time', 'is', null)
    .where(({ eb, or }) => or([eb('expires_time', 'is', null), eb('expires_time', '>', now)]))
    .forShare()
    .executeTakeFirst()
}

/** Whoever holds the secret of an app runs the app, and not the service: tokens for its doors are not exchanged. */
async function findExchangeable(tx: Transaction, app: Client, hashed: string) {
  const token = await tx.query
    .selectFrom('tokens')
    .leftJoin('connections', 'connections.id', 'tokens.connection_id')
    .selectAll('tokens')
    .select('connections.account_id')
    .where('tokens.hash', '=', hashed)
    .where('tokens.app_id', '=', app.id)
    .where('tokens.revoked_time', 'is', null)
    .where('tokens.is_of_app', 'is', null)
    .where('tokens.session_name', 'is', null)
    .executeTakeFirst()
  return token?.scopes.some(isScopeOfService) ? undefined : token
}
