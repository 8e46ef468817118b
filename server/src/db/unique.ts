/** The codes of the two databases for a value that must be unique and is there already. */
const postgresUniqueViolation = '23505'
const sqliteUniqueViolation = 2067

/** Whether a write failed because another row has the value already: what a check beforehand cannot rule out. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === postgresUniqueViolation || errcode === sqliteUniqueViolation
}
