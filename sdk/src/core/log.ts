import type { AnyClient as Client } from './client.ts'
import { type APIConnectionError, type APIError, traceOf } from './errors.ts'
import { isNodeId, type PreparedRequest } from './request.ts'

/** Logs what came of a try. `wait` is how long it is until the next one. */
export function logTry(
  { logger, logLevel, baseUrl, version }: Client,
  { row, args, headers, given }: PreparedRequest,
  begun: number,
  outcome: Response | unknown,
  wait?: number,
): void {
  if (logLevel === 'off') return
  const took = `in ${Math.round(performance.now() - begun)} ms`
  const again = wait === undefined ? '' : `; again in ${Math.round(wait)} ms`
  logger.info(`switchboard: ${row.name} ${describe(outcome)} ${took}${again}`)
  if (logLevel !== 'debug') return
  const left = [...args]
  const path = row.path.replaceAll('{}', () => showArgument(left.shift()))
  const root = row.door === 'business' && !row.locate ? `/${version}` : ''
  logger.debug(`switchboard: ${row.method} ${baseUrl}${root}${path} ${show(headers)} ${show(given)}`)
}

/** The id of a user is a phone number, and some ids let in whoever knows them. */
function showArgument(text = ''): string {
  return isNodeId(text) ? text : '…'
}

/**
 * The only values of headers, parameters and bodies that are logged: names of kinds, and what a request is found by. Of all others the
 * log has the name and the kind: whatever a later operation calls a secret, a message or the number of a user, it is not in this list.
 */
const shown = /^(?:type|status|fields|limit|content-type|idempotency-key|user-agent)$/

/** `{"to":"<string>","type":"text","text":{"body":"<string>"}}` */
function show(value: unknown): string {
  return JSON.stringify(hide(value, ''))
}

function hide(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => hide(item, name))
  if (Object.getPrototypeOf(value ?? '')?.constructor?.name === 'Object') {
    return Object.fromEntries(Object.entries(value as object).map(([key, member]) => [key, hide(member, key)]))
  }
  const kind = Object.prototype.toString.call(value).slice(8, -1).toLowerCase()
  return shown.test(name) || /null|undefined|boolean/.test(kind) ? value : `<${kind}>`
}

/** `200 (trace abc)`, or the error without its words: those of a server may repeat what it was sent. */
function describe(outcome: unknown): string {
  const { status, name, code, subcode, reason = '', headers } = outcome as Partial<APIError & APIConnectionError>
  const trace = headers && traceOf(headers)
  return [status, name, code, subcode, /^\w+$/.test(reason) && reason, trace && `(trace ${trace})`]
    .filter(Boolean)
    .join(' ')
}
