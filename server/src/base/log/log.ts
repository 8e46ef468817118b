import { type Logger, pino } from 'pino'
import { describeError } from './describe-error.ts'
import { makeLineFormatter } from './log-format.ts'

export interface Log extends Logger {
  /** One info line from members as JSON text: the same format as any other line, at a fraction of the cost. */
  line(members: string): void
  /** Whether people read the log: then lines may include what costs a little more. */
  readonly isPretty?: boolean
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export const logFormats = ['auto', 'json', 'pretty'] as const
export type LogFormat = (typeof logFormats)[number]

/** Standard output is for the output of commands (a ready line, a token, a list). */
const standardError = 2
/** How long a line may wait to be written together with others. */
const batchMilliseconds = 50
/** How many bytes may wait before they are written earlier. */
const blockBytes = 256 << 10
/** A character of a text takes at most so many bytes of UTF-8. */
const maxBytesOfCharacter = 3
/** How many bytes are buffered for a slow reader; further lines are dropped, and the log says so. */
const maxWaitingBytes = 16 << 20
/** How long the process waits for that reader at its end. */
const closeMilliseconds = 5000

/** Which process a line is of: the logs of many are read as one. */
export interface LoggingProcess {
  /** Its id in /operator/state. */
  readonly process: string
  readonly role: string
}

/** pino's destination with `contentMode: 'buffer'`, which its types do not cover. */
type BlockDestination = Omit<ReturnType<typeof pino.destination>, 'write'> & { write(block: Buffer): boolean }

/**
 * Passes lines to pino's destination in blocks, slightly delayed, so that neither writing nor a slow terminal delays requests. Line by
 * line that destination takes six times the processor time (docs/decisions/0029-machinery.md).
 */
class BlockWriter {
  readonly #destination = pino.destination({
    dest: standardError,
    sync: false,
    minLength: 1,
    maxLength: maxWaitingBytes,
    maxWrite: 1 << 20,
    contentMode: 'buffer',
  }) as unknown as BlockDestination
  /** Lines are written here at once: as one long text, each of its pieces would outlive several garbage collections. */
  readonly #block = Buffer.allocUnsafeSlow(blockBytes)
  #waiting = 0
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #isUsed = false
  #isClosed = false
  readonly #pass = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = 0
    if (waiting > 0 && !this.#isClosed) this.#destination.write(Buffer.from(this.#block.subarray(0, waiting)))
  }

  constructor() {
    this.#destination.on('drop', (block: unknown) => {
      for (const byte of block as Buffer) if (byte === 0x0a) this.#dropped += 1
    })
    this.#destination.on('drain', () => this.#reportDropped())
    // A closed terminal or a full disk must not end the server; the destination retries with the next block.
    this.#destination.on('error', ignore)
    // Before the destination's own listener, which flushes at a sudden exit.
    process.prependListener('exit', this.#pass)
  }

  write(line: string): void {
    this.#isUsed = true
    const space = line.length * maxBytesOfCharacter
    if (this.#waiting + space > blockBytes) this.#pass()
    if (space > blockBytes) {
      if (!this.#isClosed) this.#destination.write(Buffer.from(line))
      return
    }
    this.#waiting += this.#block.write(line, this.#waiting)
    this.#timer ??= setTimeout(this.#pass, batchMilliseconds)
  }

  /** Resolves when everything is written, or nobody has read it for a while. */
  async close(): Promise<void> {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), closeMilliseconds)
    while (this.#isUsed && !deadline.signal.aborted) {
      this.#pass()
      await new Promise<void>((resolve) => {
        deadline.signal.addEventListener('abort', () => resolve())
        this.#destination.flush(() => resolve())
      })
      // Otherwise it still has to report how much was dropped.
      if (this.#waiting === 0) break
    }
    clearTimeout(timer)
    // It cannot be destroyed while it writes; then it ends with the process.
    if (deadline.signal.aborted) return
    this.#isClosed = true
    process.off('exit', this.#pass)
    this.#destination.destroy()
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return
    const time = new Date().toISOString()
    const message = `${this.#dropped} lines of the log were dropped: nobody read it fast enough`
    this.#dropped = 0
    this.write(`{"level":40,"time":"${time}","msg":"${message}"}\n`)
  }
}

/**
 * The log goes to standard error. Its opener must close it, so that the last lines are written. Lines for people name no process: a
 * terminal shows one.
 */
export function openLog(
  level: LogLevel,
  format: LogFormat,
  from?: LoggingProcess,
): { log: Log; close(): Promise<void> } {
  const writer = new BlockWriter()
  const isPretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY)
  const formatLine = isPretty ? makeLineFormatter(process.stderr) : undefined
  const write = formatLine ? (line: string) => writer.write(formatLine(line)) : (line: string) => writer.write(line)
  const base = from === undefined || isPretty ? null : { ...from }
  const logger = pino(
    { level, base, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    { write },
  )
  const timestamp = makeTimestamp()
  const named = base ? `${JSON.stringify(base).slice(1, -1)},` : ''
  const line = (members: string) => write(`{"level":30,"time":"${timestamp()}",${named}${members}}\n`)
  const log = Object.assign(logger, { line: logger.isLevelEnabled('info') ? line : ignore, isPretty })
  return { log, close: () => writer.close() }
}

/** The time in ISO 8601. Formatting a date costs far more than three digits, so it is done once a second. */
function makeTimestamp(): () => string {
  let second = Number.NaN
  let upToSecond = ''
  return () => {
    const now = Date.now()
    const milliseconds = now % 1000
    if (now - milliseconds !== second) {
      second = now - milliseconds
      upToSecond = new Date(second).toISOString().slice(0, -4)
    }
    return `${upToSecond}${milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : ''}${milliseconds}Z`
  }
}

function ignore(): void {}

export const silentLog: Log = Object.assign(pino({ level: 'silent' }), { line: ignore })
