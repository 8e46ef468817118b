import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import type { CursorKey } from '../../../graph/lists/cursors.ts'
import { findRowBehind, scanInSteps } from '../../../graph/lists/scan.ts'
import type { DialogApp } from './request.ts'
import type { DialogQuery } from './schemas.ts'
import type { DialogState } from './ticket.ts'

/*
 * What a person of the dialog may choose from. Nobody's token is behind it: what is found is bound by what the dialog knows already, the
 * person's e-mail address, then the business, then the account. People alone are found without that, which the caller allows in a
 * sandbox only.
 */

/** How many choices one page of a list has. */
const choicesOnPage = 10

export interface Choice {
  readonly id: string
  readonly name: string
  readonly detail: string
  readonly note: string | null
}

export interface Choices {
  readonly items: readonly Choice[]
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: string | undefined
  /** Whether more is there than one page without a search: then a search helps. */
  readonly isLong: boolean
}

/** What is searched for, and where the page before ended. */
export interface ListPart {
  readonly search: string
  readonly after: string | undefined
}

export async function findDialogApp(db: Db, id: string): Promise<DialogApp | undefined> {
  return db.query
    .selectFrom('apps')
    .innerJoin('businesses', 'businesses.id', 'apps.business_id')
    .select(['apps.id', 'apps.name', 'apps.business_id', 'businesses.name as business_name', 'apps.redirect_uris'])
    .where('apps.id', '=', id)
    .executeTakeFirst()
}

export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly business_id: string
}

const personColumns = ['id', 'name', 'email', 'business_id'] as const

export async function findPerson(db: Db, id: string): Promise<Person | undefined> {
  return db.query.selectFrom('business_users').select(personColumns).where('id', '=', id).executeTakeFirst()
}

/** Who has this e-mail address, of whatever business: the first, where there are several. */
export async function findPersonByEmail(db: Db, email: string): Promise<Person | undefined> {
  return db.query
    .selectFrom('business_users')
    .select(personColumns)
    .where(isEmail(email))
    .orderBy('created_time')
    .orderBy('id')
    .executeTakeFirst()
}

/** The person of this e-mail address in a business; the first, where it has several. */
export async function findPersonOfBusiness(db: Db, email: string, business_id: string): Promise<Person | undefined> {
  return db.query
    .selectFrom('business_users')
    .select(personColumns)
    .where('business_id', '=', business_id)
    .where(isEmail(email))
    .orderBy('created_time')
    .orderBy('id')
    .executeTakeFirst()
}

export async function isPersonOfAny(db: Db, email: string): Promise<boolean> {
  const found = await db.query.selectFrom('business_users').select('id').where(isEmail(email)).limit(1).execute()
  return found.length > 0
}

/** The store has addresses in lower case, and so has the dialog. */
function isEmail(email: string): RawBuilder<boolean> {
  return sql<boolean>`business_users.email = ${email}`
}

/** Everybody. Only where whoever asks may be anybody: in a sandbox. */
export async function listPeople(db: Db, part: ListPart): Promise<Choices> {
  const people = orderByName(
    db.query
      .selectFrom('business_users')
      .innerJoin('businesses', 'businesses.id', 'business_users.business_id')
      .select([
        'business_users.id',
        'business_users.name',
        'business_users.email as detail',
        'businesses.name as note',
      ]),
    'business_users',
    ['business_users.name', 'business_users.email', 'businesses.name', 'business_users.id'],
  )
  // All of them, however many there are: whoever is searched for is looked for in steps, in the order of the names.
  const last = readPlace(part.after)
  const { rows, reached } = await scanInSteps<Found, CursorKey>({
    from: last && [last.name, last.id],
    limit: choicesOnPage + 1,
    findEdge: (from, distance) =>
      findRowBehind({ db, table: 'business_users' }, ['name', 'id'], people.isBehind(from), people.order, distance),
    look: ({ from, to }, limit) => people.look(part.search, from, to, limit),
  })
  return toChoices(rows, part, reached)
}

/** The businesses that somebody with this e-mail address is a person of. */
export async function listBusinesses(db: Db, email: string, part: ListPart): Promise<Choices> {
  // Found by the address: with EXISTS the embedded store would ask it of every business.
  const isTheirs = sql<boolean>`businesses.id IN (SELECT business_users.business_id FROM business_users WHERE ${isEmail(email)})`
  const rows = await pageOf(
    db.query
      .selectFrom('businesses')
      .select(['businesses.id', 'businesses.name', 'businesses.id as detail'])
      .where(isTheirs),
    'businesses',
    ['businesses.name', 'businesses.id'],
    part,
  )
  return toChoices(rows, part)
}

/** The accounts that a business owns. */
export async function listAccounts(db: Db, business_id: string, part: ListPart): Promise<Choices> {
  const rows = await pageOf(
    db.query
      .selectFrom('accounts')
      .select(['accounts.id', 'accounts.name', 'accounts.id as detail'])
      .where('accounts.business_id', '=', business_id),
    'accounts',
    ['accounts.name', 'accounts.id'],
    part,
  )
  return toChoices(rows, part)
}

export async function listNumbers(db: Db, account_id: string, part: ListPart): Promise<Choices> {
  const verified = sql<
    string | null
  >`CASE code_verification_status WHEN 'VERIFIED' THEN NULL ELSE 'not verified yet' END`
  const rows = await pageOf(
    db.query
      .selectFrom('phone_numbers')
      .select(['phone_numbers.id', 'phone_numbers.verified_name as name', 'display_phone_number as detail'])
      .select(verified.as('note'))
      .where('phone_numbers.account_id', '=', account_id),
    'phone_numbers',
    ['phone_numbers.verified_name', 'display_phone_number', 'phone_number', 'phone_numbers.id'],
    part,
    'verified_name',
  )
  return toChoices(rows, part)
}

type Found = Pick<Choice, 'id' | 'name' | 'detail'> & { readonly note?: string | null }

// biome-ignore lint/suspicious/noExplicitAny: a query over any of the tables; the columns are named by the callers above.
type AnyQuery = SelectQueryBuilder<any, any, Found>

/** By name, and by id where names are the same; one more than a page has, to know whether another one follows. */
function pageOf(
  query: unknown,
  table: string,
  searched: readonly string[],
  { search, after }: ListPart,
  nameColumn = 'name',
): Promise<Found[]> {
  const last = readPlace(after)
  const list = orderByName(query, table, searched, nameColumn)
  return list.look(search, last && [last.name, last.id], undefined, choicesOnPage + 1)
}

/** A list by name, of which stretches can be read: behind one place, up to another. */
function orderByName(query: unknown, table: string, searched: readonly string[], nameColumn = 'name') {
  const name = sql.ref(`${table}.${nameColumn}`)
  const id = sql.ref(`${table}.id`)
  // Always a bound: the embedded store prefers to sort what it may only walk in its order.
  const isBehind = (from: CursorKey | undefined) =>
    from ? sql<boolean>`(${name}, ${id}) > (${from[0]}, ${from[1]})` : sql<boolean>`${name} >= ''`
  const order = sql`${name}, ${id}`
  return {
    isBehind,
    order,
    look(search: string, from: CursorKey | undefined, to: CursorKey | undefined, limit: number): Promise<Found[]> {
      let found = (query as AnyQuery).where(isBehind(from))
      if (to) found = found.where(sql<boolean>`(${name}, ${id}) <= (${to[0]}, ${to[1]})`)
      if (search !== '') {
        const pattern = `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
        const matches = searched.map((column) => sql`LOWER(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`)
        found = found.where(sql<boolean>`(${sql.join(matches, sql` OR `)})`)
      }
      return found.orderBy(order).limit(limit).execute()
    },
  }
}

/** `reached`: where a search ended because it took long enough. */
function toChoices(rows: readonly Found[], { search, after }: ListPart, reached?: CursorKey): Choices {
  const items = rows.slice(0, choicesOnPage).map((row) => ({ ...row, note: row.note ?? null }))
  const hasMore = rows.length > choicesOnPage
  const last = hasMore ? items.at(-1) : reached && { name: String(reached[0]), id: reached[1] }
  return {
    items,
    next: last && writePlace(last),
    isLong: hasMore || search !== '' || after !== undefined,
  }
}

function writePlace({ name, id }: Pick<Choice, 'name' | 'id'>): string {
  return Buffer.from(JSON.stringify([name, id])).toString('base64url')
}

/** Anybody can make one up: it leads to another page of the same list. */
function readPlace(text: string | undefined): { readonly name: string; readonly id: string } | undefined {
  if (text === undefined) return undefined
  try {
    const [name, id] = JSON.parse(Buffer.from(text, 'base64url').toString())
    return typeof name === 'string' && typeof id === 'string' && !name.includes('\0') && !id.includes('\0')
      ? { name: name.toWellFormed(), id: id.toWellFormed() }
      : undefined
  } catch {
    return undefined
  }
}

export interface ChosenNumber {
  readonly id: string
  readonly display_phone_number: string
  readonly verified_name: string
  readonly isVerified: boolean
}

/** What was chosen, as it is now; a part that is gone, or not of the part before it any more, is null. */
export interface Chosen {
  readonly user: Person | null
  readonly business: { readonly id: string; readonly name: string } | null
  readonly account: { readonly id: string; readonly name: string } | null
  readonly number: ChosenNumber | null
}

export async function findChosen(db: Db, chosen: DialogState): Promise<Chosen> {
  const { person, business_id, account_id, phone_number_id } = chosen
  if (!person || business_id === null) return { user: null, business: null, account: null, number: null }
  const user = (await findPersonOfBusiness(db, person.email, business_id)) ?? null
  const business = user && (await findBusiness(db, user.business_id))
  const account = business && account_id !== null ? await findAccountOfBusiness(db, business.id, account_id) : null
  const number = account && phone_number_id !== null ? await findNumberOfAccount(db, account.id, phone_number_id) : null
  return { user, business, account, number }
}

async function findBusiness(db: Db, id: string) {
  const found = await db.query.selectFrom('businesses').select(['id', 'name']).where('id', '=', id).executeTakeFirst()
  return found ?? null
}

export async function findAccountOfBusiness(db: Db, business_id: string, id: string) {
  const found = await db.query
    .selectFrom('accounts')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('business_id', '=', business_id)
    .executeTakeFirst()
  return found ?? null
}

export async function findNumberOfAccount(db: Db, account_id: string, id: string): Promise<ChosenNumber | null> {
  const found = await db.query
    .selectFrom('phone_numbers')
    .select(['id', 'display_phone_number', 'verified_name', 'code_verification_status'])
    .where('id', '=', id)
    .where('account_id', '=', account_id)
    .executeTakeFirst()
  return found ? { ...found, isVerified: found.code_verification_status === 'VERIFIED' } : null
}

/** The number with these digits in an account: one that was added a moment ago and is added again by going back. */
export async function findNumberByDigits(db: Db, account_id: string, phone_number: string) {
  const found = await db.query
    .selectFrom('phone_numbers')
    .select(['id'])
    .where('phone_number', '=', phone_number)
    .where('account_id', '=', account_id)
    .executeTakeFirst()
  return found ?? null
}

/** Who agrees for which account when nobody is asked. */
export interface AutoChoice {
  readonly user: Person
  readonly business_id: string
  readonly account_id: string
  readonly phone_number_id: string | null
}

/**
 * The account that is asked for, or the first whose owner is not the app's own business, or else the first; of those whose owner has a
 * person. Only in a sandbox: nobody agrees here.
 */
export async function findAutoChoice(
  db: Db,
  app: DialogApp,
  { account_id, user_id }: Pick<DialogQuery, 'account_id' | 'user_id'>,
): Promise<Omit<AutoChoice, 'phone_number_id'> | undefined> {
  const user = user_id === undefined ? undefined : await findPerson(db, user_id)
  if (user_id !== undefined && !user) return undefined
  let query = db.query
    .selectFrom('accounts')
    .select(['id', 'business_id'])
    // Always a bound: the embedded store prefers to sort what it may only walk in its order.
    .where('created_time', '>=', 0)
    .orderBy('created_time')
    .orderBy('id')
    .limit(1)
  if (user) query = query.where('business_id', '=', user.business_id)
  else {
    query = query.where(
      sql<boolean>`EXISTS (SELECT 1 FROM business_users u WHERE u.business_id = accounts.business_id)`,
    )
  }
  if (account_id !== undefined) query = query.where('id', '=', account_id)
  // The first of others ends a walk in the order of time; whose it is, as an order, would sort all of them.
  const account =
    (await query.where('business_id', '<>', app.business_id).executeTakeFirst()) ??
    (await query.where('business_id', '=', app.business_id).executeTakeFirst())
  if (!account) return undefined
  const { id, business_id } = account
  if (user) return { user, business_id, account_id: id }
  const first = await db.query
    .selectFrom('business_users')
    .select(personColumns)
    .where('business_id', '=', business_id)
    .orderBy('created_time')
    .orderBy('id')
    .executeTakeFirstOrThrow()
  return { user: first, business_id, account_id: id }
}

export async function findFirstNumber(db: Db, account_id: string): Promise<string | null> {
  const found = await db.query
    .selectFrom('phone_numbers')
    .select('id')
    .where('account_id', '=', account_id)
    .orderBy('creation_time')
    .orderBy('id')
    .executeTakeFirst()
  return found?.id ?? null
}
