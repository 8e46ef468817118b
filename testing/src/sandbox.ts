import type { Client } from '@switchboard/client'
import { callRow } from '@switchboard/client/methods'

/** A rule by which requests or webhooks go wrong on purpose; the server's docs/interface.md says what each member means. */
export interface FaultRule {
  readonly match?: {
    readonly door?: string
    readonly operation?: string
    readonly phone_number_id?: string
    readonly app_id?: string
    readonly callback?: string
  }
  /** From 0 to 1: the share that is hit. */
  readonly rate?: number
  /** How often at most. */
  readonly times?: number
  readonly effect:
    | { readonly status: number; readonly code?: number }
    | { readonly delay: string }
    | { readonly drop: true }
    | { readonly duplicate: true }
    | { readonly reorder: number }
    | { readonly hold: true }
}

const operator = { door: 'operator' } as const

/** Moves the clock of the service, and does what falls due. */
export async function advanceClock(client: Client, advance: string): Promise<void> {
  const row = { ...operator, name: 'sandbox.move_clock', method: 'POST', path: '/operator/clock' } as const
  await callRow(client, row, [], { advance })
}

export async function replaceFaults(client: Client, rules: readonly FaultRule[]): Promise<void> {
  const row = { ...operator, name: 'sandbox.replace_faults', method: 'PUT', path: '/operator/faults' } as const
  await callRow(client, row, [], { rules })
}

/** Saves the whole store under a name. */
export async function saveSnapshot(client: Client, name: string): Promise<void> {
  const row = { ...operator, name: 'sandbox.save_snapshot', method: 'POST', path: '/operator/snapshots' } as const
  await callRow(client, row, [], { name })
}

/** Brings the store back to what it was when a snapshot was saved. */
export async function restoreSnapshot(client: Client, name: string): Promise<void> {
  const path = '/operator/snapshots/{}/restore'
  await callRow(client, { ...operator, name: 'sandbox.restore_snapshot', method: 'POST', path }, [name])
}
