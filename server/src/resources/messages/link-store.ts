import { hash } from 'node:crypto'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { LinkFetchesTable, MediaTable } from '../../db/tables.ts'

/** So many links whose files are not used again are forgotten with each new one: more than come. */
const sweepSize = 10

/** A link as it is fetched and compared: every way to write a URL becomes the same ASCII text. */
export function readLink(phone_number_id: string, text: string) {
  const { href: link, host } = new URL(text)
  return { link, host, link_key: hash('sha256', `${phone_number_id} ${link}`, 'base64url') }
}

const insertFetch = defineStatement<LinkFetchesTable>()((db, fetch) =>
  db.insertInto('link_fetches').values({
    message_id: fetch.message_id,
    phone_number_id: fetch.phone_number_id,
    link: fetch.link,
    link_key: fetch.link_key,
    host: fetch.host,
    kind: fetch.kind,
    takes: fetch.takes,
    earlier_template_time: fetch.earlier_template_time,
    created_time: fetch.created_time,
    claim: fetch.claim,
    leased_until: fetch.leased_until,
    account_id: fetch.account_id,
    tries: fetch.tries,
  }),
)

/** Lets a message wait for the file behind its link; workers are woken with the commit. */
export function addLinkFetch(tx: Transaction, fetch: Omit<LinkFetchesTable, 'claim' | 'leased_until' | 'tries'>): void {
  tx.run(insertFetch, { ...fetch, claim: null, leased_until: 0, tries: 0 })
  tx.makeDue({ links: true })
}

const selectFetched = defineStatement<{ link_key: string; since: number; now: number }>()(
  (db, { link_key, since, now }) =>
    db
      .selectFrom('fetched_links')
      .innerJoin('media', 'media.id', 'fetched_links.media_id')
      .selectAll('media')
      .where('fetched_links.link_key', '=', link_key)
      .where('fetched_links.fetched_time', '>', since)
      .where('fetched_links.fetched_time', '<=', now)
      .where('media.expires_time', '>', now),
)

/** The media file that a link became since a time, unless it is gone. */
export async function findFetched(
  db: Db,
  link_key: string,
  since: number,
  now: number,
): Promise<MediaTable | undefined> {
  return db.first(selectFetched, { link_key, since, now })
}

/** Keeps what a link became, and forgets some of those that are not used again. */
export async function noteFetched(
  tx: Transaction,
  { link_key, media_id, now, since }: { link_key: string; media_id: string; now: number; since: number },
): Promise<void> {
  await tx.query
    .insertInto('fetched_links')
    .values({ link_key, media_id, fetched_time: now })
    .onConflict((conflict) => conflict.column('link_key').doUpdateSet({ media_id, fetched_time: now }))
    .execute()
  const over = tx.query
    .selectFrom('fetched_links')
    .select('link_key')
    .where('fetched_time', '<=', since)
    .orderBy('fetched_time')
    .limit(sweepSize)
    .forUpdate()
    .skipLocked()
  await tx.query.deleteFrom('fetched_links').where('link_key', 'in', over).execute()
}

/** Links of the same number and kind of message, which are fetched once. */
export type Waiting = Pick<
  LinkFetchesTable,
  'phone_number_id' | 'account_id' | 'link' | 'link_key' | 'host' | 'kind' | 'tries'
>

interface Free {
  readonly now: number
  /** A lease that reaches beyond it is none. */
  readonly horizon: number
  readonly accounts: readonly string[]
  readonly hosts: readonly string[]
  readonly keys: readonly string[]
  readonly limit: number
}

/** Links that wait and nobody fetches, oldest first, but for some accounts, hosts and links. */
export async function listFreeLinks(db: Db, { now, horizon, accounts, hosts, keys, limit }: Free): Promise<Waiting[]> {
  return db.query
    .selectFrom('link_fetches')
    .select(['phone_number_id', 'account_id', 'link', 'link_key', 'host', 'kind', 'tries'])
    .where((eb) => eb.or([eb('leased_until', '<=', now), eb('leased_until', '>', horizon)]))
    .where('host', 'not in', [...hosts, ''])
    .$if(accounts.length > 0, (query) => query.where('account_id', 'not in', accounts))
    .where('link_key', 'not in', [...keys, ''])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('link_fetches as held')
            .select('held.message_id')
            .whereRef('held.link_key', '=', 'link_fetches.link_key')
            .whereRef('held.kind', '=', 'link_fetches.kind')
            .where('held.leased_until', '>', now)
            .where('held.leased_until', '<=', horizon),
        ),
      ),
    )
    .orderBy('created_time')
    .limit(limit)
    .execute()
}

/** How many messages wait for the file behind their link. */
export async function countWaitingLinksForOperators({ query }: Db): Promise<number> {
  const row = await query
    .selectFrom('link_fetches')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Takes a link for one process; false where another was faster. */
export async function claimLink(
  tx: Transaction,
  { link_key, kind }: Waiting,
  lease: { readonly claim: string; readonly now: number; readonly horizon: number; readonly until: number },
): Promise<boolean> {
  const free = tx.query
    .selectFrom('link_fetches')
    .select('message_id')
    .where('link_key', '=', link_key)
    .where('kind', '=', kind)
    .where((eb) => eb.or([eb('leased_until', '<=', lease.now), eb('leased_until', '>', lease.horizon)]))
    .forUpdate()
    .skipLocked()
  const { numUpdatedRows } = await tx.query
    .updateTable('link_fetches')
    .set((eb) => ({ claim: lease.claim, leased_until: lease.until, tries: eb('tries', '+', 1) }))
    .where('message_id', 'in', free)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Holds the links of claims for longer; what another process holds by now stays with it. */
export async function renewClaims(tx: Transaction, claims: readonly string[], until: number): Promise<void> {
  const held = tx.query.selectFrom('link_fetches').select('message_id').where('claim', 'in', claims)
  await tx.query
    .updateTable('link_fetches')
    .set({ leased_until: until })
    // One that is being finished needs no lease.
    .where('message_id', 'in', held.forUpdate().skipLocked())
    .execute()
}

/** Leaves the links of a claim to others; it does not count as a try. */
export async function releaseClaim(tx: Transaction, claim: string): Promise<void> {
  await tx.query
    .updateTable('link_fetches')
    .set((eb) => ({ claim: null, leased_until: 0, tries: eb('tries', '-', 1) }))
    .where('claim', '=', claim)
    .execute()
}

/** For a try that an outage of our own ended: the link is claimed again when its lease is over. */
export async function uncountTry(tx: Transaction, claim: string): Promise<void> {
  await tx.query
    .updateTable('link_fetches')
    .set((eb) => ({ tries: eb('tries', '-', 1) }))
    .where('claim', '=', claim)
    .execute()
}

/** Takes out messages that wait for a link: those of a claim, or all where the file is there. */
export async function takeWaiting(
  tx: Transaction,
  { link_key, kind }: Waiting,
  claim: string | undefined,
  limit: number,
): Promise<LinkFetchesTable[]> {
  let query = tx.query.selectFrom('link_fetches').selectAll().where('link_key', '=', link_key).where('kind', '=', kind)
  if (claim !== undefined) query = query.where('claim', '=', claim)
  // It waits for whoever renews a lease at this moment: what it passed over would be fetched again when its lease has expired.
  const rows = await query.orderBy('created_time').orderBy('message_id').limit(limit).forUpdate().execute()
  const ids = rows.map(({ message_id }) => message_id)
  if (ids.length > 0) await tx.query.deleteFrom('link_fetches').where('message_id', 'in', ids).execute()
  return rows
}

export async function updateContent(
  tx: Transaction,
  message_id: string,
  content: string,
  sha256: string,
): Promise<void> {
  await tx.query.updateTable('message_contents').set({ content, sha256 }).where('message_id', '=', message_id).execute()
}

/** Who was in the group when a message was accepted, but for whom it failed since. */
export async function listRecipientIds(db: Db, message_id: string): Promise<string[]> {
  const rows = await db.query
    .selectFrom('message_recipients')
    .select('user_wa_id')
    .where('message_id', '=', message_id)
    .where('state', '=', 'accepted')
    .orderBy('user_wa_id')
    .execute()
  return rows.map(({ user_wa_id }) => user_wa_id)
}

/** What fails for a whole group is reported once, without a participant. */
export async function deleteRecipients(tx: Transaction, message_id: string): Promise<void> {
  await tx.query.deleteFrom('message_recipients').where('message_id', '=', message_id).execute()
}
