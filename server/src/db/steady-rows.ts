/**
 * The tables that sending, receiving and delivering write all the time. A steady statement reads none of them, and no foreign key or
 * trigger makes a write of them change another table.
 */
const busyTables = [
  'activities',
  'chats',
  'deliveries',
  'delivery_attempts',
  'events',
  'idempotency_keys',
  'lanes',
  'message_contents',
  'message_recipients',
  'messages',
  'received_messages',
  'stream_events',
  'template_rooms',
  'timers',
]
const busy = new Set(busyTables)
const anyBusy = new RegExp(String.raw`\b(?:${busyTables.join('|')})\b`)
const readings = /^\s*(?:select|savepoint|release|commit|pragma data_version)\b/i
const written = /^\s*(?:insert(?: or \w+)? into|update|delete from) "?(\w+)"?/i

const maxRows = 10_000
/** Ids are far shorter, and a longer text was made up by a caller. */
const maxKeyCharacters = 256

/** Whether a statement may change what a steady one reads; one that cannot be read here counts as if it did. */
export function changesSteadyRows(sql: string): boolean {
  if (readings.test(sql)) return false
  const table = written.exec(sql)?.[1]
  return table === undefined || !busy.has(table)
}

/** Throws where a statement that is called steady is not. */
export function checkSteady(sql: string): void {
  const found = anyBusy.exec(sql)?.[0]
  if (found !== undefined)
    throw new Error(`a statement is called steady and reads ${found}, which is written all the time`)
}

/**
 * The rows of steady statements, as transactions of the one writer see them. Whoever owns it forgets them when anything is written to
 * another table than the busy ones, when anything is rolled back, and when another process has committed.
 */
export class SteadyRows {
  readonly #rows = new Map<object, Map<string, readonly object[]>>()
  #size = 0

  find(statement: object, key: string): readonly object[] | undefined {
    return this.#rows.get(statement)?.get(key)
  }

  keep(statement: object, key: string, rows: readonly object[]): void {
    if (key.length > maxKeyCharacters) return
    if (this.#size >= maxRows) this.forget()
    let known = this.#rows.get(statement)
    if (!known) {
      known = new Map()
      this.#rows.set(statement, known)
    }
    known.set(key, rows)
    this.#size += 1
  }

  forget(): void {
    if (this.#size === 0) return
    this.#size = 0
    this.#rows.clear()
  }
}
