import type { Installation } from './installation.ts'
import type { Labels } from './prometheus.ts'

/** Something that really happens to an installation, and the alerts that it must lead to. */
export interface Cause {
  /** What happens, for the name of the test. */
  readonly what: string
  /** Every alert that fires because of it, with labels that it must have. */
  readonly alerts: (at: Installation) => Readonly<Record<string, readonly Labels[]>>
  /** Alerts that are right to fire as well, and need not. */
  readonly also?: readonly string[]
  /** Lets it happen; what it returns ends it. */
  readonly begin: (at: Installation) => Promise<() => Promise<void>>
}
