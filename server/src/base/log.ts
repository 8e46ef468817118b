import { type Logger, pino } from 'pino'

export type Log = Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * The log goes to standard error, because standard output belongs to what a command prints (the ready line, a token, a list).
 * Writing is asynchronous and in blocks, a tenth of a second late at the most: neither a slow terminal nor the writing itself
 * must hold up requests.
 */
export function openLog(level: LogLevel): { log: Log; flush(): void } {
  const destination = pino.destination({ fd: 2, sync: false, minLength: 4096, periodicFlush: 100 })
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  return { log, flush: () => destination.flushSync() }
}

export const silentLog: Log = pino({ level: 'silent' })
