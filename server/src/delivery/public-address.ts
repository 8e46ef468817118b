import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** IANA has given out addresses for the internet from this block alone; ipaddr.js calls the unassigned rest unicast too. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Reached by hosts in Azure alone, where it answers for the platform, although it lies in a public range. */
const platformAddresses = ['168.63.129.16']

/**
 * Whether an address belongs to the public internet. An IPv6 address that carries an IPv4 address is as public as what it
 * carries, because a gateway or a tunnel would lead there.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  // A zone means an interface of this machine.
  if (address instanceof ipaddr.IPv6 && address.zoneId !== undefined) return false
  const carried = unwrap(address)
  return carried.length > 0 ? carried.every(isPublicIpv4) : isPublicIpv6(address as ipaddr.IPv6)
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !platformAddresses.includes(address.toString())
}

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && address.match(globalUnicast)
}

/** The IPv4 addresses that an address stands for; none when it is an IPv6 address in its own right. */
function unwrap(address: Address): ipaddr.IPv4[] {
  if (address instanceof ipaddr.IPv4) return [address]
  const bytes = address.toByteArray()
  const ipv4At = (start: number, mask = 0) => new ipaddr.IPv4(bytes.slice(start, start + 4).map((byte) => byte ^ mask))
  const range = address.range()
  if (range === 'ipv4Mapped' || address.match(nat64)) return [ipv4At(12)]
  if (range === '6to4') return [ipv4At(2)]
  // Teredo: the tunnel's server, and the client with its bits turned.
  if (range === 'teredo') return [ipv4At(4), ipv4At(12, 0xff)]
  // The unspecified address and loopback are in the same block, and have ranges of their own.
  if (range === 'unicast' && address.match(ipv4Compatible)) return [ipv4At(12)]
  return []
}
