import type { Tables } from '../tables.ts'

/** A column with sealed values, and the key columns of its table. */
export interface SealedColumn {
  readonly table: keyof Tables
  readonly column: string
  readonly key: readonly string[]
}

/** Every column that holds a secret. Old stores and rotations seal the columns listed here. */
export const sealedColumns = {
  'apps.secret': { table: 'apps', column: 'secret', key: ['id'] },
  'apps.previous_secret': { table: 'apps', column: 'previous_secret', key: ['id'] },
  'app_subscriptions.verify_token': { table: 'app_subscriptions', column: 'verify_token', key: ['app_id', 'object'] },
  'subscribed_apps.verify_token': { table: 'subscribed_apps', column: 'verify_token', key: ['account_id', 'app_id'] },
  'service_secrets.value': { table: 'service_secrets', column: 'value', key: ['name'] },
  'listeners.record': { table: 'listeners', column: 'record', key: ['app_id'] },
  'signing_keys.private_key': { table: 'signing_keys', column: 'private_key', key: ['id'] },
  'two_step_pins.pin_hash': { table: 'two_step_pins', column: 'pin_hash', key: ['phone_number_id'] },
  'carrier_messages.code': { table: 'carrier_messages', column: 'code', key: ['id'] },
  'timers.secret': { table: 'timers', column: 'secret', key: ['id'] },
} as const satisfies Record<string, SealedColumn>

export type SealedPlace = keyof typeof sealedColumns

/** The context that a sealed value is bound to. `row` is the key of the row, its parts joined by spaces. */
export function writePlace(column: SealedPlace, row: string): string {
  return `${column} of ${row}`
}
