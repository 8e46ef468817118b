import { write, writeSync } from 'node:fs'
import { type Logger, pino } from 'pino'

export interface Log extends Logger {
  /** One line of level info from its members as JSON: the same form as any other, at a fraction of the cost. */
  line(members: string): void
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** How long a line may wait to be written together with others. */
const lingerMilliseconds = 50
/** How much is kept for a reader that does not keep up; what comes then is dropped, and said. */
const maxWaitingCharacters = 16 << 20

/**
 * Writes lines in blocks, a moment late: neither the writing itself nor a slow terminal must hold up requests. A write a
 * line would cost more than everything else that a read does.
 */
export class LineWriter {
  readonly #fd: number
  #waiting = ''
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #isWriting = false

  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#waiting.length > maxWaitingCharacters) {
      this.#dropped += 1
      return
    }
    this.#waiting += line
    this.#timer ??= setTimeout(() => this.#writeBlock(), lingerMilliseconds)
  }

  /** Writes what waits at once; for the end of the process. */
  flush(): void {
    let rest = Buffer.from(this.#take())
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest))
      } catch (error) {
        // A pipe that is full for the moment is tried again; one that nobody reads any more has no use for the rest.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      }
    }
  }

  #writeBlock(): void {
    this.#timer = undefined
    if (this.#isWriting) return
    const block = Buffer.from(this.#take())
    if (block.length > 0) this.#continue(block)
  }

  #continue(block: Buffer): void {
    this.#isWriting = true
    write(this.#fd, block, (error, written) => {
      this.#isWriting = false
      const rest = error ? block : block.subarray(written)
      if (rest.length > 0 && (!error || error.code === 'EAGAIN')) setTimeout(() => this.#continue(rest), error ? 10 : 0)
      else if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.#writeBlock(), lingerMilliseconds)
    })
  }

  #take(): string {
    const lines = this.#waiting
    const dropped = this.#dropped
    this.#waiting = ''
    this.#dropped = 0
    return dropped === 0
      ? lines
      : `${lines}{"level":40,"msg":"${dropped} lines of the log were dropped: nobody read it fast enough"}\n`
  }
}

/** The log goes to standard error, because standard output belongs to what a command prints (a ready line, a token, a list). */
export function openLog(level: LogLevel): { log: Log; flush(): void } {
  const writer = new LineWriter(2)
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, writer)
  const timestamp = makeTimestamp()
  const line = (members: string) => writer.write(`{"level":30,"time":"${timestamp()}",${members}}\n`)
  const log = Object.assign(logger, { line: logger.isLevelEnabled('info') ? line : ignore })
  return { log, flush: () => writer.flush() }
}

/** The time in ISO 8601. Writing a date costs far more than three digits, so that is done once a second. */
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
