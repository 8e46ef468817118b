/**
 * Converts values so that both databases return the same ones: booleans are booleans, JSON is parsed, and 64-bit numbers (times in
 * milliseconds, counts) are JavaScript numbers.
 */

/** A column that holds JSON: an object or an array in both directions. */
export type Json<T extends object> = T

export type SqliteValue = null | number | string | bigint | Uint8Array

/** The bound form of a value: both drivers take text for JSON; SQLite has no boolean type. */
export function encodeForSqlite(value: unknown): SqliteValue {
  switch (typeof value) {
    case 'boolean':
      return value ? 1 : 0
    case 'undefined':
      return null
    case 'object':
      return value === null || value instanceof Uint8Array ? value : JSON.stringify(value)
    case 'string':
    case 'number':
    case 'bigint':
      return value
    default:
      throw new TypeError(`a ${typeof value} cannot be stored`)
  }
}

/** The driver would turn an array into a PostgreSQL array; our arrays are JSON. */
export function encodeForPostgres(value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) ? JSON.stringify(value) : value
}

/** Converts a value of SQLite by the declared type of its column; undefined when it is already right. */
export function sqliteDecoder(declaredType: string | null): ((stored: unknown) => unknown) | undefined {
  switch (declaredType) {
    case 'BOOLEAN':
      return (stored) => (stored === null ? null : stored === 1)
    case 'JSONB':
      return (stored) => (typeof stored === 'string' ? JSON.parse(stored) : stored)
    default:
      return undefined
  }
}

/** PostgreSQL's OIDs of int8 and numeric: read as numbers, as SQLite does; all our counts stay below 2^53. */
export const postgresNumberTypes = [20, 1700]
