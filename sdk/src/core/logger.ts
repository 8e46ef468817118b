/** `info` is a line for each try; `debug` adds the address, and the form of headers, parameters and body without their values. */
export type LogLevel = 'off' | 'info' | 'debug'

/** What is used of `console`, or of a logger such as pino. */
export interface Logger {
  info(line: string): void
  debug(line: string): void
}
