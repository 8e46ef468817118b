import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { systemClock } from '../src/base/time/clock.ts'
import { openStore } from '../src/cli/store.ts'
import { type Environment, readConfig } from '../src/config.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorld } from '../src/world/read.ts'

export const bigAccount = '1500000000000001'

/** A store with one account of 100,000 numbers that `demo-token` sees. */
export async function makeBigStore(environment: Environment, numbers = 100_000): Promise<void> {
  const database = await openStore(readConfig(environment), silentLog)
  await applyWorld(database, systemClock, systemRandom, readWorld(JSON.stringify(bigWorld(numbers)), 'the big world'))
  await database.close()
}

function bigWorld(length: number): object {
  const business_id = '2000000000000001'
  const phone_numbers = Array.from({ length }, (_, index) => ({
    id: String(4_500_000_000_000_000 + index),
    account_number_id: String(4_600_000_000_000_000 + index),
    display_phone_number: `+44 7400 ${String(index).padStart(6, '0')}`,
    registered: true,
  }))
  return {
    businesses: [{ id: business_id, name: 'Big Shrub' }],
    apps: [{ id: '3000000000000001', business_id, name: 'Big App' }],
    tokens: [{ token: 'demo-token', app_id: '3000000000000001', scopes: ['msgapp_business_management'] }],
    accounts: [{ id: bigAccount, business_id, name: 'Many numbers', phone_numbers }],
  }
}
