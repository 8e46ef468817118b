import { styleText } from 'node:util'

type Color = 'gray' | 'cyan' | 'yellow' | 'red' | 'green'

/** A line of the log as JSON. */
interface Entry {
  readonly level: number
  readonly time: string
  readonly msg?: string
  readonly err?: string | { readonly message?: string; readonly stack?: string }
  readonly [name: string]: unknown
}

const levels: Readonly<Record<number, readonly [name: string, color: Color]>> = {
  10: ['TRACE', 'gray'],
  20: ['DEBUG', 'gray'],
  30: ['INFO', 'cyan'],
  40: ['WARN', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
}

/** Formats a JSON line for people: one line for a request, and the stack of an error below it. */
export function makeLineFormatter(stream: NodeJS.WritableStream): (line: string) => string {
  // Checks whether the stream is a terminal, NO_COLOR and FORCE_COLOR.
  const paint = (color: Color, text: string) => styleText(color, text, { stream })
  return (line) => {
    const entry = JSON.parse(line) as Entry
    const time = paint('gray', new Date(entry.time).toTimeString().slice(0, 8) + entry.time.slice(19, 23))
    return `${time} ${entry['status'] === undefined ? writeNews(entry, paint) : writeRequest(entry, paint)}\n`
  }
}

type Paint = (color: Color, text: string) => string

/** Status, method, operation, path, duration, then caller and trace. */
function writeRequest(
  { operation, method, path, status, ms, business, app, node, trace, err }: Entry,
  paint: Paint,
): string {
  const who = Object.entries({ business, app, node }).filter(([, value]) => value !== undefined)
  const vocabulary = [
    paint(colorOf(Number(status)), String(status)),
    show(method ?? '-').padEnd(6),
    show(operation),
    paint('gray', show(path ?? '-')),
    `${show(ms)} ms`,
    ...who.map(([name, value]) => `${name} ${show(value)}`),
    paint('gray', `trace ${show(trace)}`),
    ...(typeof err === 'string' ? [paint('red', show(err))] : []),
  ]
  return `${vocabulary.join('  ')}${typeof err === 'string' ? '' : describeError(err)}`
}

function colorOf(status: number): Color {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

function writeNews({ level, time: _, msg = '', err, ...facts }: Entry, paint: Paint): string {
  const [name, color] = levels[level] ?? ['LOG', 'cyan']
  const shown = Object.entries(facts).map(([fact, value]) => paint('gray', `${fact}=${show(value)}`))
  const vocabulary = [paint(color, name.padEnd(5)), show(msg), ...shown]
  return `${vocabulary.join(' ')}${describeError(err)}`
}

function describeError(err: Entry['err']): string {
  if (err === undefined) return ''
  const text = typeof err === 'string' ? err : (err.stack ?? err.message ?? '')
  return text
    .split('\n')
    .map((line) => `\n    ${show(line)}`)
    .join('')
}

/** The text may come from a stranger, so terminal control characters are removed. */
function show(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return String(text).replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}
