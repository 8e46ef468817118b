import { endToken } from '../../auth/tokens.ts'
import type { Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { EndTools } from '../../delivery/history/end-waiting.ts'
import type { Caller, Scope } from '../../graph/caller.ts'
import { invalidToken } from '../../graph/errors.ts'
import { endConnection, lockAccount } from '../sign-up/public.ts'

const findToken = defineStatement<{ token_id: string }>()((db, { token_id }) =>
  db
    .selectFrom('tokens')
    .leftJoin('connections', 'connections.id', 'tokens.connection_id')
    .select(['connections.id as connection_id', 'connections.account_id'])
    .where('tokens.id', '=', token_id),
)

/** Takes back everything that a token may do: it ends, and with it the connection that it was given for. */
export async function takeBackAll(tx: Transaction, tools: EndTools, caller: Caller): Promise<void> {
  const connection = await findConnection(tx, caller)
  await lockScopes(tx, caller)
  if (connection) await endConnection(tx, tools, connection)
  await endToken(tx, tools.clock, caller.token_id)
}

/** Takes back one permission: of the token, or of the connection that it was given for and of all its tokens. False: there is none such. */
export async function takeBack(tx: Transaction, tools: EndTools, caller: Caller, scope: Scope): Promise<boolean> {
  const connection = await findConnection(tx, caller)
  const scopes = await lockScopes(tx, caller)
  if (!scopes.includes(scope)) return false
  if (!connection) {
    await leaveOut(tx, tools, [{ id: caller.token_id, scopes }], scope)
    return true
  }
  const { id } = connection
  const agreed = await tx.query
    .selectFrom('connections')
    .select('scopes')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const left = agreed.scopes.filter((one) => one !== scope)
  if (left.length === 0) {
    await endConnection(tx, tools, connection)
    return true
  }
  await tx.query.updateTable('connections').set({ scopes: left }).where('id', '=', id).execute()
  const tokens = await tx.query
    .selectFrom('tokens')
    .select(['id', 'scopes'])
    .where('connection_id', '=', id)
    .where('revoked_time', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  await leaveOut(tx, tools, tokens, scope)
  const codes = await tx.query
    .selectFrom('sign_up_codes')
    .select(['hash', 'scopes'])
    .where('connection_id', '=', id)
    .where('used_time', 'is', null)
    .forUpdate()
    .execute()
  for (const { hash, scopes: given } of codes) {
    const others = given.filter((one) => one !== scope)
    await tx.query.updateTable('sign_up_codes').set({ scopes: others }).where('hash', '=', hash).execute()
  }
  return true
}

/** Whoever changes a connection takes its account first, so that they come one after the other. */
async function findConnection(tx: Transaction, { token_id }: Caller) {
  const found = await tx.first(findToken, { token_id })
  const { connection_id: id, account_id } = found ?? { connection_id: null, account_id: null }
  if (id === null || account_id === null) return undefined
  tx.lock(lockAccount, { account_id })
  return { id, account_id }
}

/** The scopes of the token that asks. It is not checked again at the end, because it may be over then; so it is checked here. */
async function lockScopes(tx: Transaction, { token_id }: Caller): Promise<readonly string[]> {
  const token = await tx.query
    .selectFrom('tokens')
    .select('scopes')
    .where('id', '=', token_id)
    .where('revoked_time', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!token) throw invalidToken()
  return token.scopes
}

async function leaveOut(
  tx: Transaction,
  { clock }: EndTools,
  tokens: readonly { readonly id: string; readonly scopes: readonly string[] }[],
  scope: Scope,
): Promise<void> {
  for (const { id, scopes } of tokens) {
    const left = scopes.filter((one) => one !== scope)
    if (left.length === 0) await endToken(tx, clock, id)
    else if (left.length < scopes.length) {
      await tx.query.updateTable('tokens').set({ scopes: left }).where('id', '=', id).execute()
    }
  }
}
