import type { RequestData } from '../../data/feed-data.ts'
import { writeClientCall } from './client-call.ts'

/** The same request for a shell; the token is the reader's own. */
export function writeCurl({ method, target, exchange }: RequestData, origin: string): string {
  const body = exchange?.request_body
  const type = exchange?.request_headers['content-type'] ?? 'application/json'
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl -X ${method} -H "Authorization: Bearer $TOKEN"`,
    ...(body ? [`-H ${quote(`Content-Type: ${type}`)}`, `-d ${quote(body)}`] : []),
    quote(`${origin}${target ?? ''}`),
  ].join(' \\\n  ')
}

/** The same through the client of the service; undefined for what it has no method for. */
export function writeSdkCall(data: RequestData, origin: string): string | undefined {
  const { door, operation, target = '', exchange } = data
  if (door !== 'business' || !exchange) return undefined
  return writeClientCall({ operation, target, headers: exchange.request_headers, body: exchange.request_body }, origin)
}
