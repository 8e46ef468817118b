import { promises as dns } from 'node:dns'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Finds the addresses of a name. Rejects or returns none when it has none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Resolves like every program on this machine, with the hosts file: names of the local network are found. */
export const resolveBySystem: Resolve = (hostname) => dns.lookup(hostname, { all: true })

/** Milliseconds for the second family of addresses once the first is there. */
const secondFamily = 300
const nothingThere = ['ENODATA', 'ENOTFOUND']

/**
 * Asks only the DNS servers. The system's resolver has two threads for the whole process, so two dead name servers would delay the
 * deliveries to everyone else; these queries never wait for each other.
 */
export function makeDnsResolve({ timeout, servers }: { timeout: number; servers?: readonly string[] }): Resolve {
  return async (hostname) => {
    // A new resolver each time, because it reads the machine's list of servers only when it is made.
    const resolver = new dns.Resolver({ timeout: Math.max(1, Math.ceil(timeout / 2)), tries: 2 })
    if (servers) resolver.setServers(servers)
    const families = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
    // Addresses of one family are enough: a name server that is silent on the other is waited for a little, and given up.
    const lateFamily = Promise.any(families).then(
      () => new Promise((resolve) => setTimeout(resolve, secondFamily).unref()),
    )
    void lateFamily.then(() => resolver.cancel()).catch(() => undefined)
    const lookups = await Promise.allSettled(families)
    const addresses = lookups.flatMap((lookup, index) =>
      lookup.status === 'fulfilled' ? lookup.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    )
    // When there are none, the error that says more is thrown.
    const failures = lookups.flatMap((lookup) => (lookup.status === 'rejected' ? [lookup.reason] : []))
    if (addresses.length === 0) throw failures.find(({ code }) => !nothingThere.includes(code)) ?? failures[0]
    return addresses
  }
}
