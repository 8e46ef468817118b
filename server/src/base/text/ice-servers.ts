/** A server that says how this machine is reached, or passes on what it sends. */
export interface IceServer {
  readonly urls: string
  readonly username?: string
  readonly credential?: string
}

const form =
  /^(?<scheme>stun|turn):(?:(?<username>[^:@\s]{1,200}):(?<credential>[^:@\s]{1,200})@)?(?<host>\[[0-9a-fA-F:]{2,45}\]|[a-zA-Z0-9.-]{1,253})(?<port>:\d{1,5})?$/

/** Parses `stun:host:3478` or `turn:user:password@host:3478`, each part with percent escapes; undefined for anything else. */
export function readIceServer(text: string): IceServer | undefined {
  const { scheme, username, credential, host, port = '' } = form.exec(text)?.groups ?? {}
  if (scheme === undefined || Number(port.slice(1)) > 65_535) return undefined
  // A TURN server asks for a name and a password, a STUN server for neither.
  if ((scheme === 'turn') !== (username !== undefined)) return undefined
  const urls = `${scheme}:${host}${port === '' ? ':3478' : port}`
  if (username === undefined || credential === undefined) return { urls }
  try {
    return { urls, username: decodeURIComponent(username), credential: decodeURIComponent(credential) }
  } catch {
    return undefined
  }
}
