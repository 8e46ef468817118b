import { BlockList, isIP, SocketAddress } from 'node:net'

const mappedPrefix = '::ffff:'
/** The smallest network that a provider assigns to a customer, so its addresses are one source. */
const ipv6GroupsPerSource = 4
const ipv6Groups = 8

/** An address in canonical form: IPv4 over an IPv6 socket as IPv4, no zone, lower case. Undefined when it is not an address. */
export function readAddress(text: string): string | undefined {
  const [bare = ''] = text.split('%', 1)
  const family = isIP(bare)
  if (family === 0) return undefined
  if (family === 4) return bare
  return unmap(new SocketAddress({ address: bare, family: 'ipv6' }).address)
}

/** The peer address of a socket, which the system already writes in one form. */
export function unmap(address: string): string {
  const carried = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : ''
  return carried.includes('.') ? carried : address
}

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}

/** Whether a URL of this server is reachable only from this machine. */
export function isLoopbackUrl(url: string): boolean {
  const { hostname } = new URL(url)
  return isLoopback(unmap(hostname.replace(/^\[|\]$/g, '')))
}

/**
 * The key that an address is counted under: the address, or for IPv6 its /64 network, because a client with one of its addresses has
 * all of them.
 */
export function sourceOf(address: string): string {
  if (!address.includes(':')) return address
  const [before = '', after] = address.split('::', 2)
  const groups = before === '' ? [] : before.split(':')
  if (after !== undefined) {
    const last = after === '' ? [] : after.split(':')
    while (groups.length + last.length < ipv6Groups) groups.push('0')
    groups.push(...last)
  }
  return `${groups.slice(0, ipv6GroupsPerSource).join(':')}::/64`
}

/** Addresses and networks (`10.0.0.0/8`) from a setting. */
export class AddressList {
  readonly #list = new BlockList()
  readonly isEmpty: boolean

  /** Throws for an entry that is neither. */
  constructor(entries: readonly string[]) {
    this.isEmpty = entries.length === 0
    for (const entry of entries) this.#add(entry)
  }

  has(address: string): boolean {
    if (this.isEmpty) return false
    const family = isIP(address)
    return family !== 0 && this.#list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }

  #add(entry: string): void {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    const bits = family === 4 ? 32 : 128
    if (
      family === 0 ||
      rest.length > 0 ||
      (prefix !== undefined && !(/^\d+$/.test(prefix) && Number(prefix) <= bits))
    ) {
      throw new RangeError(`${JSON.stringify(entry)} is no address and no network`)
    }
    this.#list.addSubnet(address, prefix === undefined ? bits : Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  }
}
