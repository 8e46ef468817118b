import type { Log } from '../base/log/log.ts'
import { minute } from '../base/time/duration.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'

/** A process counts as running so long after it was last heard of. */
export const livingMilliseconds = minute

/** What a process says of the settings on which all processes have to agree, without their values. */
export interface SharedSettings {
  /** Of all hashes. */
  readonly digest: string
  /** A keyed hash of the value, by the name of the setting. */
  readonly hashes: Readonly<Record<string, string>>
}

/** Another process, and the settings in which it differs from this one. */
export interface Disagreement {
  readonly id: string
  readonly role: string
  readonly version: string
  readonly settings: readonly string[]
}

const publish = defineStatement<{ id: string; digest: string; hashes: Record<string, string> }>()(
  (db, { id, digest, hashes }) =>
    db
      .insertInto('process_settings')
      .values({ process_id: id, digest, hashes })
      .onConflict((conflict) => conflict.column('process_id').doNothing())
      .returning('process_id'),
)

const findOthers = defineStatement<{ digest: string; since: number }>()((db, { digest, since }) =>
  db
    .selectFrom('process_settings')
    .innerJoin('processes', 'processes.id', 'process_settings.process_id')
    .select(['processes.id', 'processes.role', 'processes.version', 'process_settings.hashes'])
    .where('processes.heard_time', '>', since)
    .where('process_settings.digest', '<>', digest)
    .orderBy('processes.started_time')
    .orderBy('processes.id'),
)

const findPublished = defineStatement<{ since: number }>()((db, { since }) =>
  db
    .selectFrom('process_settings')
    .innerJoin('processes', 'processes.id', 'process_settings.process_id')
    .select('process_settings.process_id')
    .where('processes.heard_time', '>', since),
)

/** The running processes that differ from this one. */
async function listDisagreements(db: Db, own: SharedSettings, now: number): Promise<Disagreement[]> {
  const others = await db.list(findOthers, { digest: own.digest, since: now - livingMilliseconds })
  return others
    .map(({ hashes, ...other }) => ({ ...other, settings: listDifferences(own.hashes, hashes) }))
    .filter(({ settings }) => settings.length > 0)
}

/** By process, the settings in which it differs from this one; a process of an earlier release is not there. For operators: not bound to a tenant. */
export async function findDifferencesForOperators(
  db: Db,
  own: SharedSettings,
  now: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const published = await db.list(findPublished, { since: now - livingMilliseconds })
  const disagreements = await listDisagreements(db, own, now)
  const differing = new Map(disagreements.map(({ id, settings }) => [id, settings]))
  return new Map(published.map(({ process_id: id }) => [id, differing.get(id) ?? []]))
}

/** A setting that only one of the two has is of another release or another role, and no difference. */
function listDifferences(own: SharedSettings['hashes'], other: SharedSettings['hashes']): string[] {
  return Object.keys(own).filter((name) => name in other && other[name] !== own[name])
}

/** Publishes the shared settings of this process, and reports processes that have others. */
export class Agreement {
  readonly #database: Database
  readonly #log: Log
  readonly #id: string
  readonly #own: SharedSettings
  #disagreements: readonly Disagreement[] = []

  constructor(database: Database, log: Log, id: string, own: SharedSettings) {
    this.#database = database
    this.#log = log
    this.#id = id
    this.#own = own
  }

  /** The running processes that differ from this one, by the last comparison. */
  get disagreements(): readonly Disagreement[] {
    return this.#disagreements
  }

  /** Again with each heartbeat: others may have swept the rows of a process that was paused. */
  publish(tx: Transaction): void {
    tx.run(publish, { id: this.#id, digest: this.#own.digest, hashes: { ...this.#own.hashes } })
  }

  async compare(now: number): Promise<void> {
    const found = await listDisagreements(this.#database.read, this.#own, now)
    const before = this.#disagreements
    this.#disagreements = found
    if (JSON.stringify(found) !== JSON.stringify(before)) this.#report(found)
  }

  #report(processes: readonly Disagreement[]): void {
    if (processes.length === 0) {
      this.#log.info('all processes have the same shared settings again')
      return
    }
    const settings = [...new Set(processes.flatMap((one) => one.settings))].toSorted()
    this.#log.warn(
      { settings, processes },
      'processes of this database have different shared settings: give all of them the same values, and restart those that differ',
    )
  }
}
