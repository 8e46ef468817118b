import { sql } from 'kysely'
import { hasAccess } from '../../../auth/access.ts'
import type { Db, Transaction } from '../../../db/database.ts'
import { keyedHash } from '../../../db/secrets/keyed-hash.ts'
import { defineSql, defineStatement, defineWithRows, defineWithSteps, type Statement } from '../../../db/statement.ts'

/** What posts name, without duplicates: ids of accounts and numbers, and pairs of a signing app and an account, by any key. */
export interface Named {
  readonly accounts: Readonly<Record<string, 1>>
  readonly numbers: Readonly<Record<string, 1>>
  readonly links: Readonly<Record<string, readonly [app_id: string, account_id: string]>>
}

/**
 * What exists of it: an account; a number, with its account, its digits and the business that owns it; an app that may send events for an
 * account.
 */
export interface Fact {
  readonly kind: 'account' | 'number' | 'link'
  readonly id: string
  readonly account_id: string
  readonly digits: string
  readonly business_id: string
}

/** Both databases read lists as the keys and values of an object. */
const findLinks = defineSql<Pick<Named, 'links'>>()(
  ({ links }) => sql<Fact>`
    SELECT 'link' AS kind, links.app_id AS id, links.account_id, '' AS digits, '' AS business_id
    FROM json_each(${links}) AS o
    JOIN subscribed_apps links ON links.app_id = o.value ->> 0 AND links.account_id = o.value ->> 1
    JOIN apps ON apps.id = links.app_id
    WHERE ${hasAccess(sql.ref('apps.business_id'), sql.ref('links.account_id'))}`,
)

/**
 * The same for PostgreSQL, with each looked up by its key: joins are left to the planner, which reads whole tables as long as it
 * takes them for small.
 */
const findFactsByKey = defineSql<Named>()(
  ({ accounts, numbers, links }) => sql<Fact>`
    SELECT 'account' AS kind, found.id AS id, found.id AS account_id, '' AS digits, '' AS business_id
    FROM json_each(${accounts}) AS o
    CROSS JOIN LATERAL (SELECT id FROM accounts WHERE id = o.key OFFSET 0) AS found
    UNION ALL SELECT 'number', found.id, found.account_id, found.phone_number,
      (SELECT business_id FROM accounts WHERE accounts.id = found.account_id) FROM json_each(${numbers}) AS o
    CROSS JOIN LATERAL (
      SELECT id, account_id, phone_number FROM phone_numbers WHERE id = o.key OFFSET 0
    ) AS found
    UNION ALL SELECT 'link', found.app_id, found.account_id, '', '' FROM json_each(${links}) AS o
    CROSS JOIN LATERAL (
      SELECT links.app_id, links.account_id FROM subscribed_apps links JOIN apps ON apps.id = links.app_id
      WHERE links.app_id = o.value ->> 0 AND links.account_id = o.value ->> 1
        AND ${hasAccess(sql.ref('apps.business_id'), sql.ref('links.account_id'))} OFFSET 0
    ) AS found`,
)

const findAccount = defineSql<{ id: string }>()(
  ({ id }) => sql<Fact>`
    SELECT 'account' AS kind, id, id AS account_id, '' AS digits, '' AS business_id FROM accounts WHERE id = ${id}`,
)

const findNumber = defineSql<{ id: string }>()(
  ({ id }) => sql<Fact>`
    SELECT 'number' AS kind, id, account_id, phone_number AS digits,
      (SELECT business_id FROM accounts WHERE accounts.id = phone_numbers.account_id) AS business_id
    FROM phone_numbers WHERE id = ${id}`,
)

const findFacts = defineWithSteps(findFactsByKey, (db, { accounts, numbers, links }) => {
  const facts: Fact[] = []
  for (const id of Object.keys(accounts)) facts.push(...db.list(findAccount, { id }))
  for (const id of Object.keys(numbers)) facts.push(...db.list(findNumber, { id }))
  if (Object.keys(links).length > 0) facts.push(...db.list(findLinks, { links }))
  return facts
})

/** Which of the accounts and numbers exist, and which apps are linked to which accounts and have access to them. */
export async function listFactsForReceiver(tx: Transaction, named: Named): Promise<Fact[]> {
  return tx.list(findFacts, named)
}

/** The apps that are linked to all of some accounts and may see them, with their signing secrets. */
export async function listAppsLinkedToAll(db: Db, accounts: ReadonlySet<string>) {
  return db.query
    .selectFrom('subscribed_apps')
    .innerJoin('apps', 'apps.id', 'subscribed_apps.app_id')
    .select(['apps.id', 'apps.business_id', 'apps.secret', 'apps.previous_secret', 'apps.previous_secret_until'])
    .where('subscribed_apps.account_id', 'in', [...accounts])
    .where(hasAccess(sql.ref('apps.business_id'), sql.ref('subscribed_apps.account_id')))
    .groupBy('apps.id')
    .having(({ fn }) => fn.countAll(), '=', accounts.size)
    .execute()
}

const findVerifyToken = defineStatement<{ hash: string }>()((db, { hash }) =>
  db.selectFrom('app_subscriptions').select('app_id').where('verify_token_hash', '=', hash).limit(1),
)

/** Whether an app chose this verify token. */
export async function hasVerifyToken(db: Db, verify_token: string): Promise<boolean> {
  return (await db.first(findVerifyToken, { hash: keyedHash(db, 'verify token', verify_token) })) !== undefined
}

/** A stored item has two keys: its owner, and its identity. */
export type ReceivedKey = readonly [owner: string, id: string]

interface NewlyReceived {
  readonly keys: Readonly<Record<string, ReceivedKey>>
  readonly received_time: number
}

/** Where each kind is recorded: the table, and the columns of its keys. */
const tables = {
  messages: ['received_messages', 'phone_number_id', 'message_id'],
  statuses: ['received_statuses', 'phone_number_id', 'digest'],
  posts: ['received_posts', 'app_id', 'digest'],
} as const

type ReceivedKind = keyof typeof tables

function defineInsert(kind: ReceivedKind): Statement<NewlyReceived, { owner: string; id: string }> {
  const [table, owner, id] = tables[kind]
  return defineWithRows(
    // In a fixed order, so that transactions cannot deadlock.
    defineSql<NewlyReceived>()(
      ({ keys, received_time }) => sql<{ owner: string; id: string }>`
      INSERT INTO ${sql.table(table)} (${sql.ref(owner)}, ${sql.ref(id)}, received_time)
      SELECT o.value ->> 0, o.value ->> 1, CAST(${received_time} AS BIGINT)
      FROM json_each(${keys}) AS o WHERE TRUE ORDER BY o.key
      ON CONFLICT DO NOTHING RETURNING ${sql.ref(owner)} AS owner, ${sql.ref(id)} AS id`,
    ),
    ([value, identity, received_time]) => sql`
      INSERT INTO ${sql.table(table)} (${sql.ref(owner)}, ${sql.ref(id)}, received_time)
      VALUES (${value}, ${identity}, ${received_time})
      ON CONFLICT DO NOTHING RETURNING ${sql.ref(owner)} AS owner, ${sql.ref(id)} AS id`,
    ({ keys, received_time }) => Object.values(keys).map((key) => [...key, received_time]),
  )
}

const inserts: Readonly<Record<ReceivedKind, ReturnType<typeof defineInsert>>> = {
  messages: defineInsert('messages'),
  statuses: defineInsert('statuses'),
  posts: defineInsert('posts'),
}

/** Records messages and statuses of numbers, or signed posts of apps; returns those that are new. */
export async function rememberReceived(
  tx: Transaction,
  kind: ReceivedKind,
  keys: Iterable<ReceivedKey>,
  received_time: number,
): Promise<ReceivedKey[]> {
  const rows = await tx.list(inserts[kind], { keys: listKeys(keys), received_time })
  return rows.map(toKey)
}

/** Takes back that something was received, because it was refused: when it comes again, it is new. */
export async function forgetReceived(tx: Transaction, kind: ReceivedKind, keys: readonly ReceivedKey[]): Promise<void> {
  const [table, owner, id] = tables[kind]
  for (const [value, identity] of keys) {
    await sql`DELETE FROM ${sql.table(table)} WHERE ${sql.ref(owner)} = ${value} AND ${sql.ref(id)} = ${identity}`.execute(
      tx.query,
    )
  }
}

function listKeys(keys: Iterable<ReceivedKey>): Record<string, ReceivedKey> {
  return Object.fromEntries([...keys].map((key) => [key.join(' '), key]))
}

function toKey({ owner, id }: { readonly owner: string; readonly id: string }): ReceivedKey {
  return [owner, id]
}
