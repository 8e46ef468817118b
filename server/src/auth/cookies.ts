import type { IncomingHttpHeaders } from 'node:http'

/** A browser sends cookies to every port of a host, so each has its own; over https the browser itself guards the name. */
export function nameCookie(host: string | undefined, isSecure: boolean, what = '', guard = '__Host-'): string {
  const dashed = what === '' ? '' : `-${what}`
  const port = /:(\d+)$/.exec(host ?? '')?.[1] ?? '80'
  return isSecure ? `${guard}switchboard${dashed}` : `switchboard${dashed}_${port}`
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
  /** The only path that it is sent to, and those below; left out: every path. */
  readonly path?: string
}

/** No script can read it. */
export function writeCookie(
  name: string,
  value: string,
  { isSecure, lifetime, sameSite, path = '/' }: CookieOptions,
): string {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${Math.floor(lifetime / 1000)}`, 'HttpOnly']
  return [...parts, `SameSite=${sameSite}`, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/** A browser takes 4,096 bytes for a cookie with its name. */
const maxPiece = 3800
/** Together as much as the head of a request may have. */
const pieceCount = 4

export interface LongCookieOptions extends CookieOptions {
  /** The only path that it is sent to: everywhere it would leave too little of the head of a request to others. */
  readonly path: string
}

/** Writes a text that is too long for one cookie into several, and removes the others. An empty text removes all. */
export function writeLongCookie(
  host: string | undefined,
  what: string,
  text: string,
  options: LongCookieOptions,
): string[] {
  return Array.from({ length: pieceCount }, (_, index) => {
    const piece = text.slice(index * maxPiece, (index + 1) * maxPiece)
    const lifetime = piece === '' ? 0 : options.lifetime
    return writeCookie(namePiece(host, options.isSecure, what, index), piece, { ...options, lifetime })
  })
}

export function readLongCookie(headers: IncomingHttpHeaders, isSecure: boolean, what: string): string {
  const pieces = Array.from({ length: pieceCount }, (_, index) =>
    readCookie(headers, namePiece(headers.host, isSecure, what, index)),
  )
  return pieces.join('')
}

/** `__Host-` is for cookies of every path alone. */
function namePiece(host: string | undefined, isSecure: boolean, what: string, index: number): string {
  return nameCookie(host, isSecure, `${what}-${index}`, '__Secure-')
}
