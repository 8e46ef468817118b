import type { Clock } from '../base/clock.ts'
import type { AccountAccessTable } from '../db/tables.ts'
import { endWaiting } from '../delivery/end-waiting.ts'
import { withdrawAccess } from '../resources/account/withdraw.ts'
import { unlinkApp } from '../resources/webhooks/store.ts'
import { inBatches } from './batches.ts'
import { bringRows, readRows, type WriteParts } from './rows.ts'
import type { WorldAccount } from './schema.ts'
import type { Thing } from './things.ts'

const accessColumns = ['account_id', 'business_id', 'relation'] as const

/** Takes access from the businesses that a list of the file no longer names; a key that is left out says nothing. */
export async function withdrawFormerAccess(parts: WriteParts, accounts: readonly Thing<WorldAccount>[]): Promise<void> {
  const { tx, tally, knownNodes } = parts
  const speaking = accounts.filter(({ given }) => given.shared_with !== undefined || given.on_behalf_of !== undefined)
  const byId = new Map(speaking.map(({ given }) => [given.id, given]))
  const former: AccountAccessTable[] = []
  const known = [...byId.keys()].filter((id) => knownNodes.has(id))
  for await (const access of readRows(tx, 'account_access', 'account_id', accessColumns, known)) {
    const given = byId.get(access.account_id)
    if (given && isFormer(access, given)) former.push(access)
  }
  for await (const batch of inBatches(former)) {
    for (const access of batch) await withdrawAccess(tx, toolsOf(parts), access)
  }
  tally.updated += former.length
}

function isFormer({ business_id, relation }: AccountAccessTable, { shared_with, on_behalf_of }: WorldAccount): boolean {
  switch (relation) {
    case 'shared':
      return shared_with !== undefined && !shared_with?.includes(business_id)
    case 'on_behalf_of':
      return on_behalf_of !== undefined && on_behalf_of !== business_id
    case 'owner':
      return false
  }
}

/** Links the apps that a list names and unlinks the others. An app is linked where its business has access, and only there. */
export async function writeLinks(parts: WriteParts, accounts: readonly Thing<WorldAccount>[]): Promise<void> {
  const listed = accounts.filter(({ given }) => given.subscribed_apps !== undefined)
  await unlinkOthers(parts, listed)
  await bringRows(
    parts,
    {
      table: 'subscribed_apps',
      key: ['account_id', 'app_id'],
      keyOf: ({ account_id, app_id }) => [account_id, app_id],
      nodeOf: ({ account_id }) => account_id,
      create: (link) => ({ ...link, override_callback_uri: null, verify_token: null, created_time: parts.now }),
      change: () => ({}),
    },
    await listAllowedLinks(parts, listed),
  )
}

async function unlinkOthers(parts: WriteParts, listed: readonly Thing<WorldAccount>[]): Promise<void> {
  const { tx, tally, knownNodes } = parts
  const wanted = new Map(listed.map(({ given }) => [given.id, new Set(given.subscribed_apps)]))
  const known = [...wanted.keys()].filter((id) => knownNodes.has(id))
  const former: { account_id: string; app_id: string }[] = []
  for await (const link of readRows(tx, 'subscribed_apps', 'account_id', ['account_id', 'app_id'], known)) {
    if (!wanted.get(link.account_id)?.has(link.app_id)) former.push(link)
  }
  for await (const batch of inBatches(former)) {
    for (const { account_id, app_id } of batch) {
      await unlinkApp(tx, account_id, app_id)
      await endWaiting(tx, toolsOf(parts), { account_id, app_id })
    }
  }
  tally.updated += former.length
}

async function listAllowedLinks(
  { tx, warn }: WriteParts,
  listed: readonly Thing<WorldAccount>[],
): Promise<{ account_id: string; app_id: string }[]> {
  const apps = new Map<string, string>()
  const appIds = new Set(listed.flatMap(({ given }) => given.subscribed_apps ?? []))
  for await (const app of readRows(tx, 'apps', 'id', ['id', 'business_id'], [...appIds])) {
    apps.set(app.id, app.business_id)
  }
  const access = new Set<string>()
  const accountIds = listed.map(({ given }) => given.id)
  for await (const { account_id, business_id } of readRows(
    tx,
    'account_access',
    'account_id',
    accessColumns,
    accountIds,
  )) {
    access.add(`${account_id} ${business_id}`)
  }
  const links = new Map<string, { account_id: string; app_id: string }>()
  for (const { given, place } of listed) {
    for (const [index, app_id] of (given.subscribed_apps ?? []).entries()) {
      const business_id = apps.get(app_id)
      if (access.has(`${given.id} ${business_id}`)) links.set(`${given.id} ${app_id}`, { account_id: given.id, app_id })
      else {
        warn(
          `${place}.subscribed_apps[${index}]`,
          `the app was not linked, because its business ${business_id} has no access to the account; name that in shared_with or on_behalf_of, or leave the app out.`,
        )
      }
    }
  }
  return [...links.values()]
}

/** One hour for everything that a file does. */
function toolsOf({ now, random }: WriteParts): { clock: Clock; random: WriteParts['random'] } {
  return { clock: { now: () => now }, random }
}
