import ipaddr from 'ipaddr.js'

/** IANA has given out addresses for the internet from this block alone; ipaddr.js calls the unassigned rest unicast too. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Reached by hosts in Azure alone, where it answers for the platform, although it lies in a public range. */
const platformAddresses = ['168.63.129.16']

/**
 * Whether an address belongs to the public internet. An IPv6 address that carries an IPv4 address is as public as what it
 * carries, because a gateway or a tunnel would lead there. Prefixes that a network chose by itself for translation (RFC 6052)
 * or tunnels (6rd) look like any other address, so they are not recognized.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address)
  // A zone means an interface of this machine.
  if (address.zoneId !== undefined) return false
  const carried = unwrap(address)
  const isRoutable = carried.length > 0 || isPublicIpv6(address)
  return isRoutable && [...carried, ...unwrapInterface(address)].every(isPublicIpv4)
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !platformAddresses.includes(address.toString())
}

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && address.match(globalUnicast)
}

/** The IPv4 addresses that an address stands for by its prefix; none when it is an IPv6 address in its own right. */
function unwrap(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const range = address.range()
  if (range === 'ipv4Mapped' || address.match(nat64)) return [readIpv4(address, 12)]
  if (range === '6to4') return [readIpv4(address, 2)]
  // Teredo: the tunnel's server, and the client with its bits turned.
  if (range === 'teredo') return [readIpv4(address, 4), readIpv4(address, 12, 0xff)]
  // The unspecified address and loopback are in the same block, and have ranges of their own.
  if (range === 'unicast' && address.match(ipv4Compatible)) return [readIpv4(address, 12)]
  return []
}

/** ISATAP (RFC 5214): below any prefix, the interface 0:5efe tunnels to the IPv4 address behind it. Its two lowest bits may be set. */
function unwrapInterface(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const [first = 0, ...others] = address.toByteArray().slice(8, 12)
  const isIsatap = (first & 0b1111_1100) === 0 && others.join() === '0,94,254'
  return isIsatap ? [readIpv4(address, 12)] : []
}

function readIpv4(address: ipaddr.IPv6, start: number, mask = 0): ipaddr.IPv4 {
  const bytes = address.toByteArray().slice(start, start + 4)
  return new ipaddr.IPv4(bytes.map((byte) => byte ^ mask))
}
