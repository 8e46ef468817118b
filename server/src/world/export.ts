import { CORE_SCHEMA, dump } from 'js-yaml'
import type { Db } from '../db/database.ts'
import { openSecret } from '../db/sealing.ts'
import { accountObject } from '../delivery/webhook-fields.ts'
import { openVerifyToken } from '../resources/webhooks/store.ts'
import {
  toAccountEntry,
  toAppEntry,
  toBotEntry,
  toBusinessEntry,
  toIntentEntry,
  toNumberEntry,
  toPermissionEntry,
  toScheduleEntry,
} from './export-entries.ts'
import {
  type Feed,
  feedByAccount,
  groupBy,
  readByIds,
  readNumbersOf,
  readPages,
  readPermissionPages,
} from './export-rows.ts'

/**
 * Writes what a store holds as a world file, piece by piece, so that a large one never stands in memory whole. The same store
 * gives the same text: everything is in the order of its ids. Tokens are not in it, because only their hashes are stored.
 */
export async function* exportWorld(db: Db): AsyncGenerator<string> {
  yield* writeList('businesses', listBusinesses(db))
  yield* writeList('apps', listApps(db))
  yield* writeAccounts(db)
  yield* writeList('call_permissions', listPermissions(db))
}

async function* listBusinesses(db: Db): AsyncGenerator<object> {
  for await (const businesses of readPages(db, 'businesses')) {
    const ids = businesses.map(({ id }) => id)
    const credits = groupBy(await readByIds(db, 'extended_credits', 'business_id', ids, ['id']), 'business_id')
    for (const business of businesses) yield toBusinessEntry(business, credits.get(business.id) ?? [])
  }
}

async function* listApps(db: Db): AsyncGenerator<object> {
  for await (const apps of readPages(db, 'apps')) {
    const ids = apps.map(({ id }) => id)
    const subscriptions = groupBy(await readByIds(db, 'app_subscriptions', 'app_id', ids, ['object']), 'app_id')
    for (const app of apps) {
      const subscription = subscriptions.get(app.id)?.find(({ object }) => object === accountObject)
      yield toAppEntry(app, subscription, {
        secret: openSecret(db, 'apps.secret', app.id, app.secret),
        verify_token: subscription && openVerifyToken(db, subscription),
      })
    }
  }
}

async function* writeAccounts(db: Db): AsyncGenerator<string> {
  let isFirst = true
  for await (const accounts of readPages(db, 'accounts')) {
    const ids = accounts.map(({ id }) => id)
    const access = groupBy(await readByIds(db, 'account_access', 'account_id', ids, ['business_id']), 'account_id')
    const links = groupBy(await readByIds(db, 'subscribed_apps', 'account_id', ids, ['app_id']), 'account_id')
    const bots = await feedByAccount(db, 'bots', ids)
    const schedules = await feedByAccount(db, 'schedules', ids)
    const intents = await feedByAccount(db, 'migration_intents', ids)
    const numbers = await readNumbersOf(db, ids)
    for (const account of accounts) {
      if (isFirst) yield 'accounts:\n'
      isFirst = false
      const apps = (links.get(account.id) ?? []).map(({ app_id }) => app_id)
      yield writeItem(toAccountEntry(account, access.get(account.id) ?? [], apps), '  ')
      yield* writeList('bots', mapFeed(bots, account.id, toBotEntry), '    ')
      yield* writeList('schedules', mapFeed(schedules, account.id, toScheduleEntry), '    ')
      yield* writeList('migration_intents', mapFeed(intents, account.id, toIntentEntry), '    ')
      yield* writeList(
        'phone_numbers',
        mapFeed(numbers, account.id, ({ number, parts }) => toNumberEntry(number, parts)),
        '    ',
      )
    }
  }
}

async function* mapFeed<Row>(feed: Feed<Row>, account_id: string, toEntry: (row: Row) => object) {
  for await (const row of feed.takeOf(account_id)) yield toEntry(row)
}

async function* listPermissions(db: Db): AsyncGenerator<object> {
  for await (const permissions of readPermissionPages(db)) yield* permissions.map(toPermissionEntry)
}

/** A key with a list; nothing at all when the list is empty. */
async function* writeList(key: string, items: AsyncIterable<object>, indent = ''): AsyncGenerator<string> {
  let isFirst = true
  for await (const item of items) {
    if (isFirst) yield `${indent}${key}:\n`
    isFirst = false
    yield writeItem(item, `${indent}  `)
  }
}

/** One item of a list, by the same schema by which files are read. */
export function writeItem(item: object, indent: string): string {
  const text = dump([item], { schema: CORE_SCHEMA, lineWidth: -1, noRefs: true })
  return text.replaceAll(/^(?=.)/gm, indent)
}
