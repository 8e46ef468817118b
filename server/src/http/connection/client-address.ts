import type { IncomingMessage } from 'node:http'
import { type AddressList, isLoopback, readAddress, unmap } from '../../base/text/addresses.ts'
import { readHostName } from './host-guard.ts'

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`: some proxies write the port as well. */
const withPort = /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/

/**
 * Finds the client address of a request: the peer of its connection, or the address reported by trusted proxies. A proxy appends
 * to `X-Forwarded-For`, to the right of whatever the caller wrote, so it is read from the right, and only as far as each address
 * was added by a trusted proxy.
 */
export class ClientAddresses {
  readonly #trusted: AddressList
  readonly #onUntrusted: () => void
  #wasUntrusted = false

  /** `onUntrusted` is called once, for the first request with forwarded addresses from an untrusted proxy. */
  constructor(trusted: AddressList, onUntrusted: () => void) {
    this.#trusted = trusted
    this.#onUntrusted = onUntrusted
  }

  of(request: IncomingMessage): string {
    const peer = peerOf(request)
    const forwarded = request.headers['x-forwarded-for']
    if (forwarded === undefined) return peer
    if (this.#trusted.has(peer)) return this.#follow(peer, listForwarded(forwarded))
    if (!this.#wasUntrusted) {
      this.#wasUntrusted = true
      this.#onUntrusted()
    }
    return peer
  }

  /**
   * Whether a request comes from this machine, asked for it by a name of this machine, and was not forwarded: a proxy on this machine
   * would make everybody local. Only addresses can show that it forwarded for this machine itself.
   */
  isLocal(request: IncomingMessage): boolean {
    const { headers } = request
    if (!isLoopback(peerOf(request)) || !isNameOfThisMachine(headers.host)) return false
    if (headers['forwarded'] !== undefined || headers['via'] !== undefined) return false
    return ['x-forwarded-for', 'x-real-ip'].every((name) =>
      listForwarded(headers[name] ?? '127.0.0.1').every((one) => isLoopback(readForwarded(one) ?? '')),
    )
  }

  /** Whether the peer of a connection is a trusted proxy, which carries many clients. */
  isProxy(peer: string): boolean {
    return this.#trusted.has(peer)
  }

  #follow(peer: string, forwarded: readonly string[]): string {
    let address = peer
    for (const entry of forwarded.toReversed()) {
      if (!this.#trusted.has(address)) return address
      const next = readForwarded(entry)
      // Text that is no address cannot be recorded as one; the nearest proxy's address can.
      if (next === undefined) return address
      address = next
    }
    return address
  }
}

function peerOf({ socket }: IncomingMessage): string {
  return unmap(socket.remoteAddress ?? '')
}

/** Not one of the network, which this machine may have besides: a browser elsewhere may have been led to it by that. */
function isNameOfThisMachine(host: string | undefined): boolean {
  if (host === undefined) return true
  const name = readHostName(host)
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}

function listForwarded(header: string | readonly string[]): string[] {
  return String(header).split(',')
}

function readForwarded(entry: string): string | undefined {
  const text = entry.trim()
  const [, ipv6, ipv4] = withPort.exec(text) ?? []
  return readAddress(ipv6 ?? ipv4 ?? text)
}
