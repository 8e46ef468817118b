/** How far background work may rely on the clock of its process. */
export interface ClockTrust {
  /** Whether the clock agrees with the database's: otherwise leases, retries and timers would go by a wrong time. */
  readonly mayWork: () => boolean
  /** Whether the passing of time may delete something or give it up. */
  readonly mayDelete: () => boolean
}

export const fullTrust: ClockTrust = { mayWork: () => true, mayDelete: () => true }
