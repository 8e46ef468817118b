import { sql } from 'kysely'
import { systemClock } from '../../base/time/clock.ts'
import type { Database } from '../../db/database.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { readTimestamp } from '../../graph/input/timestamps.ts'
import { CursorSealer } from '../../graph/lists/cursors.ts'
import { Page } from '../../graph/lists/paging.ts'
import { nodeKinds } from '../../operations.ts'
import { checkKind, checkWanted, findList } from '../../resources/operators/find/find.ts'
import { findForOperators } from '../../resources/operators/find/search.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, showText } from '../table.ts'

export interface FindFlags extends RemoteFlags {
  readonly kind?: string
  readonly since?: string
  readonly until?: string
  readonly limit: string
  readonly json?: boolean
  readonly data?: string
}

interface Listed {
  readonly kind: string
  readonly id: string
  readonly title: string
  readonly time: string | null
  readonly account_id?: string | undefined
  readonly link: string
}

const maxFound = 1000

const columns: readonly Column<Listed>[] = [
  { heading: 'TIME', cell: ({ time }) => time?.replace(/\.\d+Z$/, 'Z') ?? '-', isWhole: true },
  { heading: 'KIND', cell: ({ kind }) => kind, isWhole: true },
  { heading: 'TITLE', cell: ({ title }) => showText(title) },
  { heading: 'ID', cell: ({ id }) => showText(id) },
  { heading: 'LINK', cell: ({ link }) => link },
]

/** Finds things by an id, a phone number or words, newest first. */
export async function find(words: readonly string[], flags: FindFlags): Promise<void> {
  const q = words.join(' ')
  const { kind, since, until } = flags
  const limit = parseLimit(flags.limit)
  const remote = await findRemote(flags)
  if (remote) {
    const found = await ask(remote, ({ operator }) => operator.find({ q, kind, since, until, limit }).toArray(limit))
    return printList<Listed>(found, columns, flags)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    printList(await findInStore(database, q, limit, flags), columns, flags)
  })
}

/** Page by page, because one that takes too long ends early. */
async function findInStore({ read }: Database, q: string, limit: number, flags: FindFlags): Promise<Listed[]> {
  const now = systemClock.now()
  const search = refuse(() => ({
    wanted: checkWanted(q),
    kind: checkKind(flags.kind, nodeKinds),
    since: readTimestamp('since', flags.since, now),
    until: readTimestamp('until', flags.until, now),
    limits: undefined,
    isRecordSeen: sql<boolean>`TRUE`,
    nodeKinds,
    requests: [],
  }))
  const sealer = new CursorSealer(q)
  const found: Listed[] = []
  for (let after: string | undefined; found.length < limit; ) {
    const args = { limit: limit - found.length, ...(after !== undefined && { after }) }
    const page = new Page(findList, args, 'find', sealer, { url: '', query: '' }, now)
    const { data, paging } = await findForOperators(read, page, search)
    found.push(...(data as unknown as Listed[]))
    const { cursors, next } = paging as { cursors: { after?: string }; next?: string }
    if (next === undefined) break
    after = cursors.after
  }
  return found
}

function refuse<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw error instanceof GraphError ? new CommandFailed(error.message.replace(/^(?=kind|since|until)/, '--')) : error
  }
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxFound) throw new CommandFailed(`--limit ${text} is not a number from 1 to ${maxFound}`)
  return limit
}
