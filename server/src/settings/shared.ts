import { createHash } from 'node:crypto'
import type { SharedSettings } from '../processes/agreement.ts'
import type { AnyRateClassName, Config } from './config.ts'
import { consoleSettings } from './console.ts'
import { rateSettingName, settings } from './index.ts'

/** Enough: two values have the same by a chance of one in 2^96. */
const hashCharacters = 16

/**
 * What a process publishes of the settings on which all processes have to agree. `hash` is keyed with a secret of the store, because some
 * values are secrets and others are easily guessed.
 */
export function hashSharedSettings(config: Config, hash: (text: string) => string): SharedSettings {
  const hashes = Object.fromEntries(
    listSharedValues(config)
      .map(([name, value]) => [name, hash(writeValue(name, value)).slice(-hashCharacters)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
  return { digest: createHash('sha256').update(JSON.stringify(hashes)).digest('hex'), hashes }
}

/**
 * A process where nobody signs in does not need the keys to the issuer, so it has nothing to say about them. Whether people sign in there
 * it has to say all the same: the dialog is at every door.
 */
function listSharedValues(config: Config): [name: string, value: unknown][] {
  const isSignedInTo = config.role !== 'worker' && (config.consoleOn || config.oidcPeople)
  const isShared = (key: string) =>
    isSignedInTo || !(key in consoleSettings) || (key === 'oidcPeople' && config.role !== 'worker')
  const values = Object.entries(settings)
    .filter(([key, { group }]) => group !== 'process' && isShared(key))
    .map(([key, { name }]): [string, unknown] => [name, config[key as keyof Config]])
  const rates = Object.entries(config.rates).map(([rateClass, value]): [string, unknown] => [
    rateSettingName(rateClass as AnyRateClassName),
    value,
  ])
  return [...values, ...rates]
}

/** The same text for the same value, in whatever order its members were set. */
function writeValue(name: string, value: unknown): string {
  return JSON.stringify([name, value ?? null], sortMembers)
}

function sortMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
