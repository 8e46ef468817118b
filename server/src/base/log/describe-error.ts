import { pino } from 'pino'
import { nameSources } from './packed-stack.ts'

/**
 * The members of an error that the log has besides its type, message and stack: of the system, of SQLite and of PostgreSQL. All others
 * are left out, because nobody knows what is in them: PostgreSQL's `detail`, `where` and `internalQuery` hold rows and parameters, and
 * with them texts of messages, and errors of libraries hold whole requests.
 */
const loggedMembers = [
  ...['code', 'errno', 'syscall', 'address', 'port', 'hostname', 'path', 'dest', 'signal'],
  ...['status', 'statusCode', 'reason', 'errcode', 'errstr'],
  ...['severity', 'schema', 'table', 'column', 'dataType', 'constraint', 'position', 'file', 'line', 'routine'],
] as const

/** What takes the place of a message that quotes a value. The code and the routine beside it say what was wrong. */
const redacted = 'PostgreSQL refused a value; its message is left out, because it quotes the value'

type Described = ReturnType<typeof pino.stdSerializers.err>

/** An error as it is logged. Causes are part of its message and stack. */
export function describeError(error: Error): unknown {
  const described = pino.stdSerializers.err(error)
  // What was thrown need not be an error.
  return typeof described?.message === 'string' ? pick(described, listQuoting(error)) : described
}

function pick(described: Described, quoting: readonly string[]): Record<string, unknown> {
  const clean = (text: string) => quoting.reduce((cleaner, message) => cleaner.replaceAll(message, redacted), text)
  const picked: Record<string, unknown> = { type: described.type, message: clean(described.message) }
  if (typeof described.stack === 'string') picked['stack'] = nameSources(clean(described.stack))
  for (const name of loggedMembers) {
    const value: unknown = described[name]
    if (['string', 'number', 'boolean'].includes(typeof value)) picked[name] = value
  }
  const { aggregateErrors } = described as { aggregateErrors?: readonly Described[] }
  if (aggregateErrors) {
    // Their parts need not be errors either, and then may be anything.
    picked['aggregateErrors'] = aggregateErrors.map((one) =>
      typeof one?.message === 'string' ? pick(one, quoting) : typeof one,
    )
  }
  return picked
}

/**
 * The messages of an error, its causes and its parts that quote a value: those of PostgreSQL's class 22, such as `invalid input syntax for
 * type integer: "…"`. They are left out whole, because their wording depends on the language of the database. Other messages of
 * PostgreSQL name tables, columns and constraints, which are ours.
 */
function listQuoting(error: unknown): string[] {
  const found = new Set<string>()
  const seen = new Set<unknown>()
  const waiting = [error]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (!(one instanceof Error) || seen.has(one)) continue
    seen.add(one)
    const { code, severity, errors } = one as { code?: unknown; severity?: unknown; errors?: unknown }
    if (typeof severity === 'string' && /^22/.test(String(code)) && one.message !== '') found.add(one.message)
    waiting.push(one.cause, ...(Array.isArray(errors) ? errors : []))
  }
  return [...found]
}
