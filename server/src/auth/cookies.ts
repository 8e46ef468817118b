import type { IncomingHttpHeaders } from 'node:http'

/** A browser sends cookies to every port of a host, so each has its own; over https the browser itself guards the name. */
export function nameCookie(host: string | undefined, isSecure: boolean, what = ''): string {
  const dashed = what === '' ? '' : `-${what}`
  const port = /:(\d+)$/.exec(host ?? '')?.[1] ?? '80'
  return isSecure ? `__Host-switchboard${dashed}` : `switchboard${dashed}_${port}`
}

export function readCookie({ cookie }: IncomingHttpHeaders, wanted: string): string | undefined {
  const pairs = cookie?.split(';').map((pair) => pair.trim().split('=', 2))
  return pairs?.find(([name]) => name === wanted)?.[1]
}

export interface CookieOptions {
  readonly isSecure: boolean
  /** In milliseconds; 0 removes it. */
  readonly lifetime: number
  readonly sameSite: 'Strict' | 'Lax'
}

/** No script can read it. */
export function writeCookie(name: string, value: string, { isSecure, lifetime, sameSite }: CookieOptions): string {
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${Math.floor(lifetime / 1000)}`, 'HttpOnly']
  return [...parts, `SameSite=${sameSite}`, ...(isSecure ? ['Secure'] : [])].join('; ')
}
