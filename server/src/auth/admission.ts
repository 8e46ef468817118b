import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { Node } from '../graph/nodes.ts'
import { isPossibleId, isVisibleTo, isWithinGrant, rememberVisible, visibleNodes } from './access.ts'
import { type AuthenticationDeps, type CredentialSource, findToken } from './bearer.ts'
import { type FoundToken, hashToken, selectTokens, toFound } from './tokens.ts'

/** The id of no node. */
const noId = ''

/** A token with its app, and the node if that business sees it: a row without a node if it does not, no row without a token. */
const findByHashAndId = defineStatement<{ hash: string; id: string }>()((db, { hash, id }) =>
  selectTokens(db)
    .leftJoin('nodes', (join) => join.on('nodes.id', '=', id).on(isVisibleTo(sql.ref<string>('apps.business_id'))))
    .select([
      'nodes.id as node_id',
      'nodes.kind as node_kind',
      'nodes.business_id as node_business_id',
      'nodes.account_id as node_account_id',
    ])
    .where('tokens.hash', '=', hash),
)

/** Who is calling, and the requested node; undefined when this caller sees no node of that id. */
export interface FoundAdmission extends FoundToken {
  readonly node: Node | undefined
}

/**
 * Looks up the caller (401) and the node with one statement, for a caller that is not cached. The token comes first, so that a wrong
 * one takes no longer for an id that exists.
 */
export async function findAdmission(
  deps: AuthenticationDeps,
  source: CredentialSource,
  id: string,
): Promise<FoundAdmission> {
  const db = deps.database.read
  const visible = db.cached(visibleNodes)
  const found = await findToken(deps, source, (_db, secret) => findByToken(db, secret, id))
  const { caller, node } = found
  if (!node) return found
  if (!(await isWithinGrant(db, caller, node))) return { ...found, node: undefined }
  rememberVisible(visible, caller, node)
  return found
}

async function findByToken(db: Db, secret: string, id: string): Promise<FoundAdmission | undefined> {
  const row = await db.first(findByHashAndId, { hash: hashToken(db, secret), id: isPossibleId(id) ? id : noId })
  const found = toFound(db, row)
  const token = found instanceof Promise ? await found : found
  if (!row || !token) return undefined
  const { caller, expires_time } = token
  return { caller, expires_time, node: readNode(row) }
}

function readNode(row: { readonly [K in keyof Node as `node_${K}`]: string | null }): Node | undefined {
  const { node_id: id, node_kind: kind, node_business_id: business_id, node_account_id: account_id } = row
  return id === null ? undefined : Object.freeze({ id, kind, business_id, account_id } as Node)
}
