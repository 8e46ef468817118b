import type { Db } from '../db/database.ts'
import { listActivitiesForOperators } from '../resources/audit/store.ts'
import { CommandFailed } from './fail.ts'
import { withLockedStore } from './store.ts'
import { writeTable, writeTime } from './table.ts'

export interface AuditFlags {
  readonly account?: string
  readonly limit: string
  readonly data?: string
}

const maxRecords = 10_000
const headings = ['TIME', 'OPERATION', 'NODE', 'KIND', 'ACCOUNT', 'APP', 'BUSINESS', 'TOKEN', 'FROM', 'TRACE']

/** The newest records first: who did what to which node, when, from where. */
export async function listAudit(flags: AuditFlags): Promise<void> {
  const limit = parseLimit(flags.limit)
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    if (flags.account !== undefined) await checkAccount(database.read, flags.account)
    const activities = await listActivitiesForOperators(database.read, flags.account, limit)
    const rows = activities.map((activity) => [
      writeTime(activity.time),
      activity.operation,
      activity.node_id,
      activity.node_kind,
      activity.account_id ?? '-',
      activity.actor_app_id,
      activity.actor_business_id,
      activity.actor_token_id,
      activity.remote_address,
      activity.trace,
    ])
    process.stdout.write(writeTable(headings, rows))
  })
}

function parseLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxRecords) {
    throw new CommandFailed(`--limit ${text} is not a number from 1 to ${maxRecords}`)
  }
  return limit
}

async function checkAccount(db: Db, id: string): Promise<void> {
  const account = await db.query.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()
  if (!account)
    throw new CommandFailed(`--account ${id} is not an account of this store; ./switchboard export lists them`)
}
