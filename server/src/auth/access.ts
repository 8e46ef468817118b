import { type Expression, type RawBuilder, sql } from 'kysely'
import type { CacheName, Db } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { Caller } from '../graph/caller.ts'
import { notFound } from '../graph/errors.ts'
import { isNodeId, type Node, uploadIdPattern } from '../graph/nodes.ts'

/** Whether a business has access to an account, by any route: for conditions of queries. */
export function hasAccess(business_id: Expression<string>, account_id: Expression<string>): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM account_access a WHERE a.account_id = ${account_id} AND a.business_id = ${business_id})`
}

/** The same as a column: 1 or 0, because SQLite has no boolean type. */
export function writeAccess(business_id: Expression<string>, account_id: Expression<string>): RawBuilder<number> {
  return sql<number>`CASE WHEN ${hasAccess(business_id, account_id)} THEN 1 ELSE 0 END`
}

/** What the access check asks of one account, as a condition. */
export function isSeenBy(caller: Caller, account_id: Expression<string>): RawBuilder<boolean> {
  const isGiven = hasAccess(sql<string>`${caller.business_id}`, account_id)
  return caller.accounts ? sql<boolean>`(${isGranted(caller, account_id)} AND ${isGiven})` : isGiven
}

/** Whether a granular token is for the account; a token for no account is for none. */
export function isGranted({ accounts }: Pick<Caller, 'accounts'>, account_id: Expression<string>): RawBuilder<boolean> {
  if (!accounts) return sql<boolean>`TRUE`
  if (accounts.size === 0) return sql<boolean>`FALSE`
  return sql<boolean>`${account_id} IN (${sql.join([...accounts])})`
}

/**
 * Whether a business sees the row of `nodes`. Nodes of an account are visible to everyone with access to it (its owner, a business
 * that it was shared with, or one that acts on the owner's behalf); a business is visible to itself and to those it gave an account
 * to; every other node to the business that owns it, and to those that it was shared with.
 */
export function isVisibleTo(business_id: Expression<string>): RawBuilder<boolean> {
  return sql<boolean>`CASE
    WHEN nodes.account_id IS NOT NULL THEN ${hasAccess(business_id, sql.ref('nodes.account_id'))}
    WHEN nodes.business_id = ${business_id} THEN TRUE
    WHEN nodes.kind = 'business' THEN EXISTS (
      SELECT 1 FROM accounts c JOIN account_access a ON a.account_id = c.id
      WHERE c.business_id = nodes.id AND a.business_id = ${business_id})
    ELSE EXISTS (
      SELECT 1 FROM node_shares s WHERE s.node_id = nodes.id AND s.business_id = ${business_id}) END`
}

const findVisible = defineStatement<{ id: string; business_id: string }>()((db, { id, business_id }) =>
  db
    .selectFrom('nodes')
    .select(['nodes.id', 'nodes.kind', 'nodes.business_id', 'nodes.account_id'])
    .where('nodes.id', '=', id)
    .where(isVisibleTo(sql<string>`${business_id}`)),
)

/** By the id of a node: tokens that see it, each with the node. */
export const visibleNodes: CacheName<Sight[]> = { name: 'visible nodes' }

interface Sight {
  readonly token_id: string
  readonly node: Node
}

type Sights = Map<string, Sight[]> | undefined

/** How many tokens are cached for one node. */
const maxSights = 8

/** Keyed by the id in the row: the id in the request is a substring that keeps the whole URL alive. */
export function rememberVisible(visible: Sights, { token_id, isActing }: Caller, node: Node): void {
  // What it sees depends on the app, and not on the token alone.
  if (isActing) return
  const sights = visible?.get(node.id)
  if (!sights || sights.length >= maxSights) visible?.set(node.id, [{ token_id, node }])
  else sights.push({ token_id, node })
}

function recallVisible(visible: Sights, { token_id, isActing }: Caller, id: string): Node | undefined {
  const sights = isActing ? undefined : visible?.get(id)
  if (!sights) return undefined
  for (const sight of sights) if (sight.token_id === token_id) return sight.node
  return undefined
}

/** PostgreSQL refuses texts with a NUL. */
export function isPossibleId(id: string): boolean {
  return isNodeId(id) || uploadIdPattern.test(id)
}

/** The node of that id, if this caller may see it; the same 404 in all other cases. */
export function resolveNode(db: Db, caller: Caller, id: string): Node | Promise<Node> {
  const visible = db.cached(visibleNodes)
  return recallVisible(visible, caller, id) ?? findNode(db, caller, id, visible)
}

async function findNode(db: Db, caller: Caller, id: string, visible: Sights): Promise<Node> {
  if (!isPossibleId(id)) throw notFound()
  const row = await db.first(findVisible, { id, business_id: caller.business_id })
  if (!row || !(await isWithinGrant(db, caller, row as Node))) throw notFound()
  rememberVisible(visible, caller, row as Node)
  return row as Node
}

/**
 * A granular token sees its accounts, their nodes, the businesses that own them, and nodes of no account: its own business and app,
 * and what was shared with that business. An account that was withdrawn from its business no longer counts.
 */
export async function isWithinGrant(db: Db, caller: Caller, node: Node): Promise<boolean> {
  if (!caller.accounts) return true
  if (node.account_id !== null) return caller.accounts.has(node.account_id)
  if (node.business_id === caller.business_id || node.kind !== 'business') return true
  if (caller.accounts.size === 0) return false
  const owned = await db.query
    .selectFrom('accounts')
    .innerJoin('account_access', 'account_access.account_id', 'accounts.id')
    .select('accounts.id')
    .where('accounts.business_id', '=', node.id)
    .where('accounts.id', 'in', [...caller.accounts])
    .where('account_access.business_id', '=', caller.business_id)
    .executeTakeFirst()
  return owned !== undefined
}
