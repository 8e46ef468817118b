import type { AnyClient as Client, Row } from './client.ts'
import { SwitchboardError } from './errors.ts'

/**
 * Where a row is whose argument is a signed link that a response held. The server of this client is asked for it, whatever host the
 * link names: so the token goes nowhere else.
 */
export function locateLink({ baseUrl }: Client, { name, path }: Row, [link = '']: readonly string[]): string {
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined
  const start = url?.pathname.lastIndexOf(path) ?? -1
  if (!url || start < 0) throw new SwitchboardError(`${name} needs the URL of a response, with ${path} in it`)
  return `${baseUrl}${url.pathname.slice(start)}${url.search}`
}
