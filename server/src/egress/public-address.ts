import ipaddr from 'ipaddr.js'

/** The only block from which IANA has assigned internet addresses; ipaddr.js also calls the unassigned rest unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Only hosts in Azure can reach it, and the platform itself responds there, although it lies in a public range. */
const platformAddresses = ['168.63.129.16']

/**
 * Whether an address belongs to the public internet. An IPv6 address that carries an IPv4 address is judged by the IPv4 address,
 * because a gateway or a tunnel would lead there. Translation prefixes chosen by a network (RFC 6052) and tunnels (6rd) look like
 * any other address and cannot be recognized.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address)
  // A zone names an interface of this machine.
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

/** The IPv4 addresses that an IPv6 address carries by its prefix; none when it carries none. */
function unwrap(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const range = address.range()
  if (range === 'ipv4Mapped' || address.match(nat64)) return [readIpv4(address, 12)]
  if (range === '6to4') return [readIpv4(address, 2)]
  // Teredo: the tunnel's server, and the client with inverted bits.
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
