import type { Client } from './client.ts'
import { APIError, traceOf } from './errors.ts'
import type { PreparedRequest } from './request.ts'

/** Logs what came of a try. `wait` is how long it is until the next one. */
export function logTry(
  { logger, logLevel }: Client,
  { row, url, headers, body }: PreparedRequest,
  begun: number,
  outcome: Response | unknown,
  wait?: number,
): void {
  if (logLevel === 'off') return
  const took = `in ${Math.round(performance.now() - begun)} ms`
  const again = wait === undefined ? '' : `; again in ${Math.round(wait)} ms`
  logger.info(`switchboard: ${row.name} ${describe(outcome)} ${took}${again}`)
  if (logLevel !== 'debug') return
  const isJson = body.contentType === 'application/json'
  const text = isJson ? ` ${JSON.stringify(JSON.parse(body.body as string), hide)}` : ''
  logger.debug(`switchboard: ${row.method} ${hideQuery(url)} ${JSON.stringify(headers, hide)}${text}`)
}

/** Members, parameters and headers whose values nobody but their owner may see. */
const secret = /token|secret|^pin$|^code$|passw|certificate|cookie|authorization|(api|private).?key|signature|proof/i

function hide(name: string, value: unknown): unknown {
  return secret.test(name) ? '…' : value
}

function hideQuery(url: string): string {
  return url.replaceAll(/([?&]([^=&]*)=)[^&]*/g, (all, start, name) => (secret.test(name) ? `${start}…` : all))
}

/** `200 (trace abc)`, or the error. */
function describe(outcome: unknown): string {
  if (outcome instanceof Response) return writeStatus(String(outcome.status), outcome.headers)
  if (outcome instanceof APIError) return writeStatus(outcome.message, outcome.headers)
  return outcome instanceof Error ? `${outcome.name}: ${outcome.message}` : String(outcome)
}

function writeStatus(text: string, headers: Headers): string {
  const trace = traceOf(headers)
  return trace === undefined ? text : `${text} (trace ${trace})`
}
