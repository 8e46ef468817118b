import { type ExpressionBuilder, sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { MessageTemplatesTable, Tables } from '../../db/tables.ts'
import { releaseFile } from '../../files/files.ts'
import { notFound } from '../../graph/errors.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import { deleteNode, type Node } from '../../graph/nodes.ts'
import { cardsOf, type TemplateFilter } from './rules.ts'

/** What a write here works with besides its transaction. */
export interface Tools {
  readonly clock: Clock
  readonly random: Random
}

export type Template = MessageTemplatesTable

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('message_templates').selectAll().where('id', '=', id),
)

/** The template of a node. */
export async function findTemplate(db: Db, node: Node): Promise<Template> {
  const template = await db.first(findById, { id: node.id })
  // Deleted since the node was found.
  if (!template) throw notFound()
  return template
}

/** The same of any business: whoever calls checks that it is seen. */
export async function findTemplateForGateway(db: Db, id: string): Promise<Template | undefined> {
  return db.first(findById, { id })
}

const lockById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', id).forNoKeyUpdate(),
)

/** Nobody else changes the templates of an account before the transaction ends: rules are about several of them. */
export function lockTemplates(tx: Transaction, account_id: string): void {
  tx.lock(lockById, { id: account_id })
}

type Conditions = ExpressionBuilder<Tables, 'message_templates'>

function matches(eb: Conditions, account_id: string, filter: TemplateFilter) {
  const { name, content, status, category, language, quality_score } = filter
  return eb.and([
    eb('account_id', '=', account_id),
    ...(name === undefined ? [] : [eb('name', '=', name)]),
    ...(content === undefined ? [] : [sql<boolean>`content LIKE ${toPattern(content)} ESCAPE '\\'`]),
    ...(status === undefined ? [] : [eb('status', 'in', status as Template['status'][])]),
    ...(category === undefined ? [] : [eb('category', 'in', category as Template['category'][])]),
    ...(language === undefined ? [] : [eb('language', 'in', [...language])]),
    ...(quality_score === undefined ? [] : [eb('quality_score', 'in', quality_score as Template['quality_score'][])]),
  ])
}

function toPattern(content: string): string {
  return `%${content.replaceAll(/[\\%_]/g, '\\$&')}%`
}

export async function listTemplates(
  db: Db,
  account: Node,
  filter: TemplateFilter,
  range: PageRange,
): Promise<Template[]> {
  const query = db.query.selectFrom('message_templates').selectAll()
  return range.apply(query.where((eb) => matches(eb, account.id, filter))).execute()
}

export async function countTemplates(db: Db, account: Node, filter: TemplateFilter): Promise<number> {
  const { count } = await db.query
    .selectFrom('message_templates')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((eb) => matches(eb, account.id, filter))
    .executeTakeFirstOrThrow()
  return count
}

/** The templates of every account, or of those that a token is limited to. */
export async function listTemplatesForGateway(
  db: Db,
  accounts: ReadonlySet<string> | undefined,
  status: Template['status'] | undefined,
  range: PageRange,
): Promise<Template[]> {
  let query = db.query.selectFrom('message_templates').selectAll()
  if (accounts) query = query.where('account_id', 'in', [...accounts, ''])
  if (status) query = query.where('status', '=', status)
  return range.apply(query).execute()
}

/** The newest first, for the command line. */
export async function listTemplatesForOperators(
  db: Db,
  { account, status }: { account?: string | undefined; status?: Template['status'] | undefined },
  limit: number,
): Promise<Template[]> {
  let query = db.query.selectFrom('message_templates').selectAll()
  if (account !== undefined) query = query.where('account_id', '=', account)
  if (status !== undefined) query = query.where('status', '=', status)
  return query.orderBy('created_time', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

/** Every language of a name. */
export async function listLanguages(db: Db, account_id: string, name: string): Promise<Template[]> {
  return db.query
    .selectFrom('message_templates')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('name', '=', name)
    .orderBy('id')
    .execute()
}

export async function insertTemplate(tx: Transaction, template: Template): Promise<void> {
  const { account_id, name } = template
  await tx.query.insertInto('message_templates').values(template).execute()
  await tx.query
    .insertInto('template_names')
    .values({ account_id, name, was_approved: false, deleted_time: null })
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doUpdateSet({ deleted_time: null }))
    .execute()
}

export async function updateTemplate(tx: Transaction, id: string, changes: Partial<Template>): Promise<void> {
  await tx.query.updateTable('message_templates').set(changes).where('id', '=', id).execute()
}

/** Keeps that a name was approved, which decides whether it rests when its last template is deleted. */
export async function noteApproval(tx: Transaction, { account_id, name }: Template): Promise<void> {
  await tx.query
    .updateTable('template_names')
    .set({ was_approved: true })
    .where('account_id', '=', account_id)
    .where('name', '=', name)
    .execute()
}

/** What the store of bytes knows a template's use of the files of its headers by. */
export function headerUse(id: string): string {
  return `template:${id}`
}

/** The files of a template's headers, each once. */
export function filesOf({ header_sha256, components }: Pick<Template, 'header_sha256' | 'components'>): string[] {
  const ofCards = cardsOf(components).flatMap(({ file }) => (file ? [file.sha256] : []))
  return [...new Set(header_sha256 === null ? ofCards : [header_sha256, ...ofCards])]
}

/** Deletes templates of one name; the name rests if it was approved and none is left. */
export async function deleteTemplates(tx: Transaction, tools: Tools, templates: readonly Template[]): Promise<void> {
  for (const template of templates) {
    const { id } = template
    await tx.query.deleteFrom('template_edits').where('template_id', '=', id).execute()
    await tx.query.deleteFrom('message_templates').where('id', '=', id).execute()
    await deleteNode(tx, id)
    for (const sha256 of filesOf(template)) await releaseFile(tx, tools, sha256, headerUse(id))
  }
  const [first] = templates
  if (!first) return
  const { account_id, name } = first
  const left = await tx.query
    .selectFrom('message_templates')
    .select('id')
    .where('account_id', '=', account_id)
    .where('name', '=', name)
    .executeTakeFirst()
  if (left) return
  const ofName = { account_id, name }
  await tx.query
    .updateTable('template_names')
    .set({ deleted_time: tools.clock.now() })
    .where((eb) => eb.and(ofName))
    .execute()
  await tx.query
    .deleteFrom('template_names')
    .where((eb) => eb.and({ ...ofName, was_approved: false }))
    .execute()
}

/** When the last template of a name was deleted; undefined: the name does not rest. */
export async function findRestingName(db: Db, account_id: string, name: string): Promise<number | undefined> {
  const found = await db.query
    .selectFrom('template_names')
    .select('deleted_time')
    .where('account_id', '=', account_id)
    .where('name', '=', name)
    .executeTakeFirst()
  return found?.deleted_time ?? undefined
}

/** Forgets the names that have rested long enough. */
export async function forgetRestedNames(tx: Transaction, account_id: string, before: number): Promise<void> {
  await tx.query
    .deleteFrom('template_names')
    .where('account_id', '=', account_id)
    .where('deleted_time', '<=', before)
    .execute()
}

/** How many names the templates of an account have. */
export async function countNames(db: Db, account_id: string): Promise<number> {
  const { count } = await db.query
    .selectFrom('template_names')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', account_id)
    .where('deleted_time', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** When a template was edited while it was approved, the last time first. */
export async function listEdits(db: Db, template_id: string, since: number): Promise<number[]> {
  const edits = await db.query
    .selectFrom('template_edits')
    .select('edited_time')
    .where('template_id', '=', template_id)
    .where('edited_time', '>', since)
    .orderBy('edited_time', 'desc')
    .execute()
  return edits.map(({ edited_time }) => edited_time)
}

/** Counts an edit, and forgets those that count no more. */
export async function addEdit(tx: Transaction, tools: Tools, template_id: string, countsSince: number): Promise<void> {
  await tx.query
    .deleteFrom('template_edits')
    .where('template_id', '=', template_id)
    .where('edited_time', '<=', countsSince)
    .execute()
  await tx.query
    .insertInto('template_edits')
    .values({ id: tools.random.trace(), template_id, edited_time: tools.clock.now() })
    .execute()
}
