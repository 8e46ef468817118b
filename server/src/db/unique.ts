/** The codes of the two databases for a violated unique constraint. */
const postgresUniqueViolation = '23505'
const sqliteUniqueViolation = 2067

/** Whether a write failed because another row already has the value: an earlier check cannot rule that out. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === postgresUniqueViolation || errcode === sqliteUniqueViolation
}
