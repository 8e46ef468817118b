import { minute } from '../../../base/time/duration.ts'

/** How many links a process fetches at once. */
const slots = 32
/** How many of these everybody may take. The rest is for accounts with hardly any under way: others' slow hosts do not delay them. */
const common = 24
const mostOfAccount = 8
const mostOfAccountInReserve = 2
/** A slow host delays none of the others. */
const mostOfHost = 6
/** A host that did not respond in time gets one at a time for so long. */
const memory = minute
const maxRemembered = 1000

/** A fetch under way, or one that is to begin. */
export interface FetchSlot {
  readonly account_id: string
  readonly host: string
}

/** Shares the slots of a worker among accounts and hosts. */
export class FetchSlots {
  readonly #taken = new Set<FetchSlot>()
  /** Until when a host counts as one that does not respond, in milliseconds of the process; the oldest first. */
  readonly #silent = new Map<string, number>()

  get isFull(): boolean {
    return this.#taken.size >= slots
  }

  take(slot: FetchSlot): void {
    this.#taken.add(slot)
  }

  release(slot: FetchSlot): void {
    this.#taken.delete(slot)
  }

  /** Remembers a host that did not respond in time. */
  noteSilence(host: string): void {
    this.#silent.delete(host)
    const [oldest] = this.#silent.keys()
    if (oldest !== undefined && this.#silent.size >= maxRemembered) this.#silent.delete(oldest)
    this.#silent.set(host, performance.now() + memory)
  }

  /** Whether a host did not respond in time lately. */
  isSilent(host: string): boolean {
    return (this.#silent.get(host) ?? 0) > performance.now()
  }

  hasRoomFor({ account_id, host }: FetchSlot): boolean {
    return !this.isFull && !this.fullAccounts().includes(account_id) && !this.fullHosts().includes(host)
  }

  /** Accounts with as many fetches under way as they may have now. */
  fullAccounts(): string[] {
    const most = this.#taken.size < common ? mostOfAccount : mostOfAccountInReserve
    return listFull(
      this.#taken,
      ({ account_id }) => account_id,
      () => most,
    )
  }

  /** The same of hosts. */
  fullHosts(): string[] {
    return listFull(
      this.#taken,
      ({ host }) => host,
      (host) => (this.isSilent(host) ? 1 : mostOfHost),
    )
  }
}

function listFull(
  taken: Iterable<FetchSlot>,
  keyOf: (slot: FetchSlot) => string,
  mostOf: (key: string) => number,
): string[] {
  const counts = new Map<string, number>()
  for (const slot of taken) counts.set(keyOf(slot), (counts.get(keyOf(slot)) ?? 0) + 1)
  return [...counts].filter(([key, count]) => count >= mostOf(key)).map(([key]) => key)
}
