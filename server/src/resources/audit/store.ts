import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely'
import {
  type AdmissionParameters,
  type Admitted,
  isSameAdmission,
  isStillAdmitted,
  makeAdmissionChanged,
  makeByRule,
  parametersOf,
  ruleOf,
} from '../../auth/readmission.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineSql, defineStatement } from '../../db/statement.ts'
import type { ActivitiesTable } from '../../db/tables.ts'
import { defineTogether } from '../../db/together.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'
import { type ActivityType, operationsOf } from './activity-types.ts'

export type NewActivity = Insertable<ActivitiesTable>
export type Activity = Selectable<ActivitiesTable>

const columns = [
  'time',
  'operation',
  'node_id',
  'node_kind',
  'business_id',
  'account_id',
  'actor_app_id',
  'actor_business_id',
  'actor_token_id',
  'remote_address',
  'trace',
] as const

/** One activity of an admitted caller, or several. */
const insertIfAdmitted = makeByRule((rule) =>
  defineTogether(
    defineStatement<NewActivity & AdmissionParameters>()((db, parameters) =>
      db
        .insertInto('activities')
        .columns(columns)
        .expression(
          db
            .selectFrom('tokens')
            .select([
              sql<number>`CAST(${parameters.time} AS BIGINT)`.as('time'),
              writeText(parameters.operation).as('operation'),
              writeText(parameters.node_id).as('node_id'),
              writeText(parameters.node_kind).as('node_kind'),
              writeText(parameters.business_id).as('business_id'),
              writeText(parameters.account_id).as('account_id'),
              writeText(parameters.actor_app_id).as('actor_app_id'),
              writeText(parameters.actor_business_id).as('actor_business_id'),
              writeText(parameters.actor_token_id).as('actor_token_id'),
              writeText(parameters.remote_address).as('remote_address'),
              writeText(parameters.trace).as('trace'),
            ])
            .where(isStillAdmitted(rule, parameters)),
        )
        .returning('id'),
    ),
    {
      statement: defineSql<AdmissionParameters & { readonly activities: readonly NewActivity[] }>()((parameters) => {
        const names = sql.join(columns.map((name) => sql.ref(name)))
        const given = sql.join(columns.map((name) => sql.ref(`given.${name}`)))
        return sql<object>`INSERT INTO activities (${names})
          SELECT ${given} FROM tokens CROSS JOIN json_populate_recordset(CAST(NULL AS activities), ${parameters.activities}) AS given
          WHERE ${isStillAdmitted(rule, parameters)} RETURNING id`
      }),
      mayJoin: isSameAdmission,
      join: (activities) => ({ ...(activities[0] as AdmissionParameters), activities }),
    },
  ),
)

function writeText<T extends string | null | undefined>(parameter: T): RawBuilder<NonNullable<T>> {
  return sql<NonNullable<T>>`CAST(${parameter} AS TEXT)`
}

/**
 * Records a write, last in its transaction, and checks in the same statement that its caller is still admitted: a separate check
 * would cost every write one more statement. Fails the transaction with `AdmissionChanged`.
 */
export function appendActivity(tx: Transaction, clock: Clock, admitted: Admitted, activity: NewActivity): void {
  const parameters = { ...parametersOf(clock, admitted), ...activity }
  tx.require(insertIfAdmitted[ruleOf(admitted)], parameters, makeAdmissionChanged)
}

const insertAny = defineStatement<NewActivity>()((db, activity) =>
  db.insertInto('activities').values({
    time: activity.time,
    operation: activity.operation,
    node_id: activity.node_id,
    node_kind: activity.node_kind,
    business_id: activity.business_id,
    account_id: activity.account_id,
    actor_app_id: activity.actor_app_id,
    actor_business_id: activity.actor_business_id,
    actor_token_id: activity.actor_token_id,
    remote_address: activity.remote_address,
    trace: activity.trace,
  }),
)

/** Records what was done by a caller whom the store does not know any more: it was replaced, or the caller has just ended itself. */
export function insertActivity(tx: Transaction, activity: NewActivity): void {
  tx.run(insertAny, activity)
}

export async function listActivities(db: Db, account: Node, range: PageRange): Promise<Activity[]> {
  return range.apply(db.query.selectFrom('activities').selectAll().where('account_id', '=', account.id)).execute()
}

interface ActivityConditions {
  readonly activity_type: ActivityType | undefined
  readonly since: number | undefined
  readonly until: number | undefined
}

/** A record, the name of the app, and whether it was made by a session of the console. */
export type ActivityWithActor = Activity & { readonly app_name: string | null; readonly is_session: boolean }

/** Of a session of the console, or of a person of a business who signed up. */
const nameOfActor = sql<string | null>`COALESCE(
  (SELECT session_name FROM tokens WHERE tokens.id = activities.actor_token_id),
  (SELECT name FROM business_users WHERE business_users.id = activities.actor_token_id))`
const nameOfApp = sql<string | null>`(SELECT name FROM apps WHERE apps.id = activities.actor_app_id)`

export async function listActivitiesWithActors(
  db: Db,
  account: Node,
  { activity_type, since, until }: ActivityConditions,
  range: PageRange,
): Promise<ActivityWithActor[]> {
  let query = db.query
    .selectFrom('activities')
    .selectAll()
    .select([nameOfApp.as('app_name'), nameOfActor.as('session_name')])
    .where('account_id', '=', account.id)
  if (activity_type !== undefined) query = query.where(isOfType(activity_type))
  // Not by an index, as in the list for operators.
  if (since !== undefined) query = query.where(sql<boolean>`+time >= ${since}`)
  if (until !== undefined) query = query.where(sql<boolean>`+time < ${until}`)
  const rows = await range.apply(query).execute()
  return rows.map(({ session_name, ...row }) => ({ ...row, is_session: session_name !== null }))
}

function isOfType(type: ActivityType): RawBuilder<boolean> {
  const { operations, excluded } = operationsOf(type)
  if (operations.length === 0) return sql`FALSE`
  const list = sql.join(operations)
  return excluded ? sql`operation NOT IN (${list})` : sql`operation IN (${list})`
}

export interface ActivityFilter {
  readonly account_id?: string | undefined
  readonly business_id?: string | undefined
  readonly node_id?: string | undefined
  readonly operation?: string | undefined
  readonly token_id?: string | undefined
  /** The name of a session of the console, or the id of a token or of an app. */
  readonly actor?: string | undefined
  readonly trace?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** A record, and who was signed in to the console when it was made by a session of it. */
export type NamedActivity = Activity & { readonly actor_name: string | null }

/** One page of the records of every tenant that `isSeen` selects. For operators: bound by their limits alone. */
export async function listActivityPageForOperators(
  db: Db,
  isSeen: RawBuilder<boolean>,
  filter: ActivityFilter,
  range: PageRange,
): Promise<NamedActivity[]> {
  let query = db.query.selectFrom('activities').selectAll().select(nameOfActor.as('actor_name')).where(isSeen)
  for (const name of ['account_id', 'business_id', 'node_id', 'operation', 'trace'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  if (filter.token_id !== undefined) query = query.where('actor_token_id', '=', filter.token_id)
  if (filter.actor !== undefined) query = query.where(isActor(filter.actor))
  // Not by an index: that is for the bounds of the page, which are narrower.
  if (filter.since !== undefined) query = query.where(sql<boolean>`+time >= ${filter.since}`)
  if (filter.until !== undefined) query = query.where(sql<boolean>`+time < ${filter.until}`)
  return range.apply(query).execute()
}

function isActor(actor: string): RawBuilder<boolean> {
  return sql`(actor_token_id = ${actor} OR actor_app_id = ${actor} OR ${nameOfActor} = ${actor})`
}

/** The records of one request. For operators: bound by their limits alone. */
export async function listOfTraceForOperators(
  db: Db,
  isSeen: RawBuilder<boolean>,
  trace: string,
): Promise<NamedActivity[]> {
  const query = db.query.selectFrom('activities').selectAll().select(nameOfActor.as('actor_name'))
  return query.where('trace', '=', trace).where(isSeen).orderBy('id').execute()
}

/** Some records, by their ids. For operators: whoever asks has checked that they are seen. */
export async function listRecordsForOperators(db: Db, ids: readonly number[]): Promise<NamedActivity[]> {
  const query = db.query.selectFrom('activities').selectAll().select(nameOfActor.as('actor_name'))
  return query.where('id', 'in', ids).execute()
}

/** The newest records of every tenant, or of one account. For operators: not bound to a tenant. */
export async function listActivitiesForOperators(
  db: Db,
  account: string | undefined,
  limit: number,
): Promise<NamedActivity[]> {
  let query = db.query
    .selectFrom('activities')
    .selectAll()
    .select(nameOfActor.as('actor_name'))
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (account !== undefined) query = query.where('account_id', '=', account)
  return query.execute()
}
