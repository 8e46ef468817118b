import type { Db } from '../../db/database.ts'
import { listActivitiesForOperators } from '../../resources/audit/store.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, writeTime } from '../table.ts'

export interface AuditFlags extends RemoteFlags {
  readonly account?: string
  readonly limit: string
  readonly json?: boolean
  readonly data?: string
}

const maxRecords = 10_000

const columns: readonly Column<ListedActivity>[] = [
  { heading: 'TIME', cell: ({ time }) => time, isWhole: true },
  { heading: 'OPERATION', cell: ({ operation }) => operation },
  { heading: 'NODE', cell: ({ node_id }) => node_id },
  { heading: 'BY', cell: ({ actor_token_id, actor_name }) => actor_name ?? actor_token_id },
  { heading: 'FROM', cell: ({ remote_address }) => remote_address },
  { heading: 'TRACE', cell: ({ trace }) => trace },
  { heading: 'APP', cell: ({ actor_app_id }) => actor_app_id },
  { heading: 'ACCOUNT', cell: ({ account_id }) => account_id ?? '-' },
  { heading: 'BUSINESS', cell: ({ actor_business_id }) => actor_business_id },
  { heading: 'KIND', cell: ({ node_kind }) => node_kind },
]

/** The newest records first: who did what to which node, when, from where. */
export async function listAudit(flags: AuditFlags): Promise<void> {
  const limit = parseLimit(flags.limit)
  const remote = await findRemote(flags)
  if (remote) {
    const found = await ask(remote, ({ operator }) => {
      return operator.audit.list({ account_id: flags.account, limit: Math.min(limit, 1000) }).toArray(limit)
    })
    return printList(found, columns, flags)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    if (flags.account !== undefined) await checkAccount(database.read, flags.account)
    const activities = await listActivitiesForOperators(database.read, flags.account, limit)
    printList(activities.map(toListed), columns, flags)
  })
}

function toListed(activity: Awaited<ReturnType<typeof listActivitiesForOperators>>[number]) {
  const { time, operation, node_id, node_kind, account_id, remote_address, trace } = activity
  const { actor_app_id, actor_business_id, actor_token_id, actor_name } = activity
  const actor = { actor_app_id, actor_business_id, actor_token_id, ...(actor_name !== null && { actor_name }) }
  return { time: writeTime(time), operation, node_id, node_kind, account_id, ...actor, remote_address, trace }
}

type ListedActivity = ReturnType<typeof toListed>

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
