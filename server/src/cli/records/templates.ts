import { systemClock } from '../../base/time/clock.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { checkReviewForm, type Review, reviewTemplate } from '../../resources/templates/lifecycle/review.ts'
import { rejectionReasons, templateStatuses } from '../../resources/templates/schemas.ts'
import { listTemplatesForOperators, type Template } from '../../resources/templates/store.ts'
import { CommandFailed } from '../fail.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, writeTime } from '../table.ts'
import { wakeServers } from './deliveries.ts'

export interface TemplateListFlags {
  readonly status?: string
  readonly account?: string
  readonly limit: string
  readonly json?: boolean
  readonly data?: string
}

const maxTemplates = 10_000

const columns: readonly Column<ListedTemplate>[] = [
  { heading: 'ID', cell: ({ id }) => id, isWhole: true },
  { heading: 'STATUS', cell: ({ status }) => status, isWhole: true },
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'LANGUAGE', cell: ({ language }) => language },
  { heading: 'CATEGORY', cell: ({ category }) => category },
  { heading: 'REASON', cell: ({ rejected_reason }) => rejected_reason ?? '' },
  { heading: 'ACCOUNT', cell: ({ account_id }) => account_id },
  { heading: 'CREATED', cell: ({ created_time }) => created_time },
]

/** The newest templates of every account, or of one. */
export async function listTemplates(flags: TemplateListFlags): Promise<void> {
  const limit = /^\d{1,5}$/.test(flags.limit) ? Number(flags.limit) : 0
  if (limit < 1 || limit > maxTemplates) {
    throw new CommandFailed(`--limit ${flags.limit} is not a number from 1 to ${maxTemplates}`)
  }
  const status = templateStatuses.find((known) => known === flags.status?.toUpperCase())
  if (flags.status !== undefined && !status) {
    throw new CommandFailed(`--status ${flags.status} is not one of ${templateStatuses.join(', ')}`)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async ({ read }) => {
    const templates = await listTemplatesForOperators(read, { account: flags.account, status }, limit)
    printList(templates.map(toListed), columns, flags)
  })
}

function toListed(template: Template) {
  const { id, account_id, name, language, category, status, rejected_reason, components, created_time } = template
  const key = { id, account_id, name, language, category, status, rejected_reason }
  return { ...key, components, created_time: writeTime(created_time) }
}

type ListedTemplate = ReturnType<typeof toListed>

interface ReviewFlags {
  readonly reason?: string
  readonly data?: string
}

/** Decides about a template; may run while servers do. */
export async function review(id: string, status: Template['status'], { reason, data }: ReviewFlags): Promise<void> {
  const wish: Review = { status, reason: reason === undefined ? undefined : readReason(reason) }
  await withLockedStore({ DATA_DIR: data }, async (database) => {
    const lanes: string[] = []
    database.onDue((due) => lanes.push(...due.lanes.map((lane) => lane.id)))
    const isKnown = await database
      .transaction((tx) => {
        checkReviewForm(wish)
        return reviewTemplate(tx, systemClock, id, wish, () => true)
      })
      .catch(explainRefusal)
    if (!isKnown) throw new CommandFailed(`there is no template ${id}: see ./switchboard templates list`)
    await wakeServers(database, lanes)
    process.stdout.write(`Template ${id} is ${status}.\n`)
  })
}

function readReason(text: string): string {
  const reason = rejectionReasons.find((known) => known === text.toUpperCase())
  if (reason === undefined) throw new CommandFailed(`--reason ${text} is not one of ${rejectionReasons.join(', ')}`)
  return reason
}

function explainRefusal(error: unknown): never {
  throw error instanceof GraphError ? new CommandFailed(error.message) : error
}
