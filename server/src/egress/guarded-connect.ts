import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { second } from '../base/time/duration.ts'
import { EgressError } from './egress-error.ts'
import { isLateAnswer, isUnknownName, type Resolve } from './resolve.ts'

export interface GuardDeps {
  readonly isAllowed: (address: string) => boolean
  readonly resolve: Resolve
  /** Milliseconds for resolving, connecting and the TLS handshake. */
  readonly timeout: number
  /** PEM of the certificate authorities to trust; undefined: those of the system. */
  readonly trustedCertificates: string | undefined
}

/** Tolerance, because a busy machine runs timers late. */
const tolerance = second

/**
 * Connects only to allowed addresses. A name is resolved once for each connection, and the connection uses the addresses that were
 * checked: there is no second look-up that could return another address.
 */
export function makeGuardedConnector(deps: GuardDeps): buildConnector.connector {
  const connect = buildConnector({
    timeout: deps.timeout,
    lookup: makeGuardedLookup(deps),
    // Without HTTP/2 each request has a connection of its own, and closing it affects no other request.
    allowH2: false,
    ...(deps.trustedCertificates !== undefined && { ca: deps.trustedCertificates }),
  })
  return (options, callback) => {
    const literal = options.hostname.replace(/^\[|\]$/g, '')
    // A literal address causes no look-up.
    if (isIP(literal) !== 0 && !deps.isAllowed(literal)) callback(refusedAddress(), null)
    else connect(options, refuseLate(callback, deps.timeout))
  }
}

/**
 * A process that was suspended may find its connection open before its timers run. By then another process may hold the lane, so
 * the connection is not used.
 */
function refuseLate(callback: buildConnector.Callback, timeout: number): buildConnector.Callback {
  const started = performance.now()
  return (...result) => {
    const [error, socket] = result
    if (error !== null || performance.now() - started <= timeout + tolerance) return callback(...result)
    socket.destroy()
    callback(new EgressError('timeout', 'no connection was made in time'), null)
  }
}

function makeGuardedLookup({ isAllowed, resolve }: GuardDeps): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0]
        if (first === undefined) return callback(nameNotFound(), '')
        // One internal address is enough to refuse: the system picks among the addresses by itself.
        if (!addresses.every(({ address }) => isAllowed(address))) return callback(refusedAddress(), '')
        if (options.all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(nameNotFound(error), ''),
    )
  }
}

/** The message omits the address, because it would reveal the internal network to a stranger. */
function refusedAddress(): EgressError {
  return new EgressError('address_not_allowed', 'its address is not one of the public internet')
}

/** Whether the name or the name server is at fault is for different people to fix. */
function nameNotFound(cause?: unknown): EgressError {
  if (cause === undefined || isUnknownName(cause))
    return new EgressError('name_not_found', 'its name could not be resolved', cause)
  if (isLateAnswer(cause)) return new EgressError('timeout', 'no name server responded for its name in time', cause)
  return new EgressError(
    'name_not_found',
    'its name could not be resolved, because no name server responds for it',
    cause,
  )
}
