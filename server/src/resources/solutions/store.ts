import { sql } from 'kysely'
import { hasAccess } from '../../auth/access.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { Caller } from '../../graph/caller.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import { type Node, shareNode } from '../../graph/nodes.ts'
import type { NewSolution, PartnerKind, SolutionStatus, solutionRoles } from './schemas.ts'

export interface StoredSolution {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly created_time: number
  readonly owner_app_id: string
  readonly owner_app_name: string
  readonly owner_permissions: string[]
  readonly partner_app_id: string
}

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('solutions')
    .innerJoin('solution_apps as owner', 'owner.solution_id', 'solutions.id')
    .innerJoin('apps as owner_app', 'owner_app.id', 'owner.app_id')
    .innerJoin('solution_apps as partner', 'partner.solution_id', 'solutions.id')
    .select([
      'solutions.id',
      'solutions.name',
      'solutions.status',
      'solutions.created_time',
      'owner.app_id as owner_app_id',
      'owner_app.name as owner_app_name',
      'owner.permissions as owner_permissions',
      'partner.app_id as partner_app_id',
    ])
    .where('solutions.id', '=', id)
    .where('owner.role', '=', 'OWNER')
    .where('partner.role', '=', 'PARTNER'),
)

const findPartnerById = defineStatement<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('apps')
    .select(['id', 'business_id', 'partner_kind'])
    .where('id', '=', id)
    .where('partner_kind', 'is not', null),
)

export interface PartnerApp {
  readonly id: string
  readonly business_id: string
  readonly partner_kind: PartnerKind
}

/** The app of that id, if it is a partner. Being a partner is public: anybody may invite one. */
export async function findPartnerApp(db: Db, id: string): Promise<PartnerApp | undefined> {
  return (await db.first(findPartnerById, { id })) as PartnerApp | undefined
}

export async function findSolution(db: Db, node: Node): Promise<StoredSolution> {
  const solution = await db.first(findById, { id: node.id })
  if (!solution) throw new Error(`the solution of node ${node.id} is missing`)
  return solution
}

/** The state of a solution, if that app is one of the two in it. */
export async function findSolutionOfApp(db: Db, id: string, app_id: string) {
  return db.query
    .selectFrom('solutions')
    .innerJoin('solution_apps', 'solution_apps.solution_id', 'solutions.id')
    .select(['solutions.id', 'solutions.status'])
    .where('solutions.id', '=', id)
    .where('solution_apps.app_id', '=', app_id)
    .executeTakeFirst()
}

export interface SolutionParties {
  readonly owner: { readonly app_id: string; readonly business_id: string }
  readonly partner: { readonly app_id: string; readonly business_id: string }
}

/** Stores a solution under its new node, and lets the partner's business see it. */
export async function insertSolution(
  tx: Transaction,
  { id, created_time, owner, partner }: SolutionParties & { readonly id: string; readonly created_time: number },
  { solution_name, owner_permissions, partner_permissions }: Omit<NewSolution, 'partner_app_id'>,
): Promise<void> {
  await tx.query
    .insertInto('solutions')
    .values({ id, name: solution_name, status: 'INITIATED', created_time })
    .execute()
  const common = { solution_id: id, created_time }
  await tx.query
    .insertInto('solution_apps')
    .values([
      { ...common, role: 'OWNER', app_id: owner.app_id, permissions: owner_permissions },
      { ...common, role: 'PARTNER', app_id: partner.app_id, permissions: partner_permissions },
    ])
    .execute()
  if (partner.business_id !== owner.business_id) await shareNode(tx, id, partner.business_id)
}

/** Answers a solution that still waits: of two concurrent answers the second finds it answered. */
export async function answerSolution(tx: Transaction, node: Node, status: SolutionStatus): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('solutions')
    .set({ status })
    .where('id', '=', node.id)
    .where('status', '=', 'INITIATED')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** The solutions of an app, in any role or in one. */
export async function listSolutions(
  db: Db,
  application: Node,
  role: (typeof solutionRoles)[number] | undefined,
  range: PageRange,
): Promise<StoredSolution[]> {
  let own = db.query
    .selectFrom('solution_apps as own')
    .innerJoin('solutions', 'solutions.id', 'own.solution_id')
    .innerJoin('solution_apps as owner', 'owner.solution_id', 'own.solution_id')
    .innerJoin('apps as owner_app', 'owner_app.id', 'owner.app_id')
    .innerJoin('solution_apps as partner', 'partner.solution_id', 'own.solution_id')
    .select([
      'own.solution_id as id',
      'own.created_time as created_time',
      'solutions.name as name',
      'solutions.status as status',
      'owner.app_id as owner_app_id',
      'owner_app.name as owner_app_name',
      'owner.permissions as owner_permissions',
      'partner.app_id as partner_app_id',
    ])
    .where('own.app_id', '=', application.id)
    .where('owner.role', '=', 'OWNER')
    .where('partner.role', '=', 'PARTNER')
  if (role !== undefined) own = own.where('own.role', '=', role)
  return range.apply(db.query.selectFrom(own.as('listed')).selectAll()).execute()
}

/**
 * The solutions that the onboarding of an account named: of requests by partners that have access to it, and of its moves. Whoever does
 * not own the account sees those that its business is in.
 */
export async function listSolutionsOfAccount(
  db: Db,
  account: Node,
  { business_id }: Caller,
  range: PageRange,
): Promise<StoredSolution[]> {
  const partner = sql.ref<string>('requests.partner_business_id')
  let named = db.query
    .selectFrom('solutions')
    .innerJoin('solution_apps as owner', 'owner.solution_id', 'solutions.id')
    .innerJoin('apps as owner_app', 'owner_app.id', 'owner.app_id')
    .innerJoin('solution_apps as partner', 'partner.solution_id', 'solutions.id')
    .innerJoin('apps as partner_app', 'partner_app.id', 'partner.app_id')
    .select([
      'solutions.id',
      'solutions.name',
      'solutions.status',
      'solutions.created_time',
      'owner.app_id as owner_app_id',
      'owner_app.name as owner_app_name',
      'owner.permissions as owner_permissions',
      'partner.app_id as partner_app_id',
    ])
    .where('owner.role', '=', 'OWNER')
    .where('partner.role', '=', 'PARTNER')
    .where(
      sql<boolean>`solutions.id IN (
        SELECT intents.solution_id FROM mobility_intents intents WHERE intents.account_id = ${account.id}
        UNION
        SELECT requests.solution_id FROM agreement_requests requests
        WHERE requests.end_business_id = ${account.business_id} AND ${hasAccess(partner, sql<string>`${account.id}`)})`,
    )
  if (business_id !== account.business_id) {
    named = named.where((is) =>
      is.or([is('owner_app.business_id', '=', business_id), is('partner_app.business_id', '=', business_id)]),
    )
  }
  return range.apply(db.query.selectFrom(named.as('listed')).selectAll()).execute()
}
