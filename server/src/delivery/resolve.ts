import { promises as dns } from 'node:dns'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Finds the addresses of a name. Rejects, or finds none, when it has none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Asks as every program on this machine does, the hosts file included: names of the own network are found. */
export const resolveBySystem: Resolve = (hostname) => dns.lookup(hostname, { all: true })

const nothingThere = ['ENODATA', 'ENOTFOUND']

/**
 * Asks the DNS servers alone. The system's resolver has two threads for the whole process, so that two dead name servers
 * would hold up the deliveries to everyone else; these queries wait for each other never.
 */
export function makeDnsResolve({ timeout, servers }: { timeout: number; servers?: readonly string[] }): Resolve {
  return async (hostname) => {
    // A new one each time, because a resolver reads the machine's list of servers only when it is made.
    const resolver = new dns.Resolver({ timeout: Math.max(1, Math.ceil(timeout / 2)), tries: 2 })
    if (servers) resolver.setServers(servers)
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    )
    // A name with addresses of one kind alone is as good as any. A name with none is told by the answer that says more.
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    if (addresses.length === 0) throw failures.find(({ code }) => !nothingThere.includes(code)) ?? failures[0]
    return addresses
  }
}
