import { promises as dns } from 'node:dns'
import { shareWhileRunning } from '../base/work/share-while-running.ts'
import { TooLate, within } from '../base/work/within.ts'

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

/** Whether a name has no addresses; otherwise nobody who knows it responded. */
export function isUnknownName(error: unknown): boolean {
  return nothingThere.includes(String((error as NodeJS.ErrnoException | undefined)?.code))
}

/** Whether the name servers were silent. */
export function isLateAnswer(error: unknown): boolean {
  return error instanceof TooLate || (error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEOUT'
}

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
    if (addresses.length === 0) throw failures.find((failure) => !isUnknownName(failure)) ?? failures[0]
    return addresses
  }
}

interface LastAddressesOptions {
  /** Milliseconds for a look-up. */
  readonly timeout: number
  /** Milliseconds for a look-up of a name whose last addresses are known. */
  readonly patience?: number
  /** How long the last addresses of a name may be used, in milliseconds of `now`. */
  readonly keep: number
  readonly now: () => number
}

interface LastAddresses {
  addresses: readonly ResolvedAddress[]
  foundTime: number
  /** Until when nobody waits for a look-up, because one failed or was slow. */
  unawaitedUntil: number
  readonly lookUp: () => Promise<readonly ResolvedAddress[]>
}

const defaultPatience = 1000
const maxNames = 10_000
/** For how much longer than a look-up is waited for nobody waits for the next one. */
const pauseInPatiences = 10

/**
 * Goes on with the last addresses of a name while no name server responds for it. A name server that says that there is no such name
 * is believed at once. One look-up of a known name runs at a time, and it ends before the connection for which it is made times out,
 * so that the failure says what was missing.
 */
export function useLastAddresses(
  resolve: Resolve,
  { timeout, patience = defaultPatience, keep, now }: LastAddressesOptions,
): Resolve {
  /** The one that was found longest ago is first. */
  const names = new Map<string, LastAddresses>()

  function noteLate(known: LastAddresses): void {
    known.unawaitedUntil = now() + pauseInPatiences * patience
  }

  async function lookUp(hostname: string): Promise<readonly ResolvedAddress[]> {
    const known = names.get(hostname)
    try {
      const addresses = await within(timeout, resolve(hostname))
      names.delete(hostname)
      if (addresses.length === 0) return addresses
      names.set(hostname, {
        addresses,
        foundTime: now(),
        unawaitedUntil: 0,
        lookUp: known?.lookUp ?? shareWhileRunning(() => lookUp(hostname)),
      })
      if (names.size > maxNames) names.delete(names.keys().next().value ?? '')
      return addresses
    } catch (error) {
      if (isUnknownName(error)) names.delete(hostname)
      else if (known) noteLate(known)
      throw error
    }
  }

  return async (hostname) => {
    const known = names.get(hostname)
    if (!known || now() - known.foundTime > keep) return lookUp(hostname)
    const looking = known.lookUp()
    if (now() < known.unawaitedUntil) {
      // The next connection hears of what it finds.
      looking.catch(() => undefined)
      return known.addresses
    }
    try {
      return await within(Math.min(patience, timeout), looking)
    } catch (error) {
      if (isUnknownName(error)) throw error
      looking.catch(() => undefined)
      noteLate(known)
      return known.addresses
    }
  }
}
