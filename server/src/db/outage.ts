import type { Log } from '../base/log/log.ts'
import { minute, second } from '../base/time/duration.ts'
import type { Database, Outage } from './database.ts'
import type { Sealed } from './tables.ts'

/** An outage that lasts until the store recovers, for everybody. */
type LastingOutage = Exclude<Outage, 'busy'>

/** Errors of the file system when it takes no writes: disk full, over quota, file too large, read-only. */
const unwritableFile = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'])

/** Primary codes of SQLite: locked by another process, read-only, disk full. */
const unwritableCodes = new Set([5, 8, 13])
/** I/O errors of SQLite: writing, syncing, truncating, and allocating shared memory. */
const unwritableIoCodes = new Set([778, 1034, 1290, 1546, 4618, 4874, 5386])

const reportAgainAfter = minute
const askAgainAfter = second

const beginnings: Readonly<Record<Outage, string>> = {
  unwritable: 'nothing can be stored: writes are refused, reads go on',
  unreachable: 'the database does not answer: requests are refused',
  busy: 'transactions waited too long for a lock or a connection, and were refused',
}
const ends: Readonly<Record<LastingOutage, string>> = {
  unwritable: 'writes are stored again',
  unreachable: 'the database answers again',
}

/** Whether a file could not be written for a reason unrelated to its content. */
export function isUnwritableFile(error: unknown): boolean {
  return unwritableFile.has((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}

/** Whether the embedded store refused a write for such a reason. */
export function isUnwritableSqlite(error: unknown): boolean {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && (unwritableCodes.has(errcode & 0xff) || unwritableIoCodes.has(errcode))
}

/**
 * Wraps a database to log an outage when it begins and ends: once, and then once a minute with the number of failures, however many
 * requests and workers run into it.
 */
export function watchOutages(database: Database, log: Log): Database {
  const unreported: Record<Outage, number> = { unwritable: 0, unreachable: 0, busy: 0 }
  const reportedTime: Record<Outage, number> = {
    unwritable: -Infinity,
    unreachable: -Infinity,
    busy: -Infinity,
  }
  let outage: LastingOutage | undefined
  let isReported = false
  let probing: NodeJS.Timeout | undefined
  let isClosed = false

  function report(kind: Outage, error: unknown): void {
    unreported[kind] += 1
    if (performance.now() - reportedTime[kind] < reportAgainAfter) return
    log.error({ failures: unreported[kind], err: describe(error) }, beginnings[kind])
    unreported[kind] = 0
    reportedTime[kind] = performance.now()
    if (kind !== 'busy') isReported = true
  }

  function begin(kind: LastingOutage): void {
    if (isClosed) return
    outage = kind
    probing ??= setTimeout(() => void probe(), askAgainAfter).unref()
  }

  async function probe(): Promise<void> {
    try {
      if (outage === 'unreachable') await database.ping()
      else await writeSomething(database)
      end()
    } catch (error) {
      probing = undefined
      // Any other fault is logged by the callers that run into it.
      const kind = database.outageOf(error)
      begin(kind === 'busy' || kind === undefined ? (outage ?? 'unreachable') : kind)
    }
  }

  function end(): void {
    if (isReported && outage) log.warn(ends[outage])
    isReported = false
    outage = undefined
    probing = undefined
  }

  return {
    ...database,
    outageOf(error) {
      const own = database.outageOf(error)
      const kind = own ?? (isUnwritableFile(error) ? 'unwritable' : undefined)
      if (kind) report(kind, error)
      // Files may be on another disk, so they say nothing about the state of the database.
      if (own && own !== 'busy') begin(own)
      return kind
    },
    outage: () => outage,
    async close() {
      isClosed = true
      clearTimeout(probing)
      await database.close()
    },
  }
}

/** Never opened: its row is deleted before anybody sees it. */
const nothing = '' as unknown as Sealed

/** Leaves nothing behind, but needs a durable write: a write that changes no row would not. */
function writeSomething(database: Database): Promise<void> {
  return database.transaction(async ({ query }) => {
    const name = 'probe'
    await query.insertInto('service_secrets').values({ name, value: nothing }).execute()
    await query.deleteFrom('service_secrets').where('name', '=', name).execute()
  })
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}
