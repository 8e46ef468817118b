import { sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
import { minute } from '../base/time/duration.ts'
import type { Transaction } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'

/** How exactly the last use of a token is known: a token that is used all the time costs one write in this time. */
const everyMilliseconds = 5 * minute
/** Beyond so many tokens nothing more is noted until the next write. */
const maxNoted = 10_000

// In the order of the ids, so that two processes never wait for each other. The condition tells SQLite where the conflict begins.
const writeUses = defineSql<{ uses: object }>()(
  ({ uses }) => sql`
    INSERT INTO token_notes (token_id, last_used_time)
    SELECT tokens.id, CAST(o.value ->> 'time' AS BIGINT) FROM json_each(${uses}) AS o JOIN tokens ON tokens.id = o.key
    WHERE TRUE ORDER BY tokens.id
    ON CONFLICT (token_id) DO UPDATE SET last_used_time = excluded.last_used_time
    WHERE token_notes.last_used_time IS NULL OR token_notes.last_used_time < excluded.last_used_time`,
)

/** When tokens were used last, kept in memory until the process writes it. What a process that is killed has not written is lost. */
export class TokenUses {
  readonly #clock: Clock
  /** Those that are written, or will be, in this period. */
  readonly #noted = new Set<string>()
  #unwritten = new Map<string, number>()
  #periodEnd = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called at every request, and so it does next to nothing. */
  note(token_id: string): void {
    if (this.#noted.has(token_id) || this.#noted.size >= maxNoted) return
    this.#noted.add(token_id)
    this.#unwritten.set(token_id, this.#clock.now())
  }

  /** Adds what is new to a transaction. */
  write(tx: Transaction): void {
    if (performance.now() >= this.#periodEnd) {
      this.#periodEnd = performance.now() + everyMilliseconds
      this.#noted.clear()
    }
    if (this.#unwritten.size === 0) return
    const uses = Object.fromEntries([...this.#unwritten].map(([id, time]) => [id, { time }]))
    this.#unwritten = new Map()
    tx.run(writeUses, { uses })
  }
}
