import { networkInterfaces } from 'node:os'
import { VoiceError } from '../voice-error.ts'

/** The addresses of this machine that a call may use, that of the machine itself included. */
function listAddresses(): string[] {
  return (
    Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      // An address of one link alone needs the name of the link, which a description cannot hold.
      .filter(({ address }) => !address.startsWith('fe80:'))
      .map(({ address }) => address)
  )
}

/** The addresses that a call offers: the given ones, otherwise all of this machine. */
export function chooseAddresses(given: readonly string[] | undefined): readonly string[] {
  const all = listAddresses()
  if (!given || given.length === 0) return all
  for (const address of given) {
    if (!all.includes(address)) {
      throw new VoiceError(`--address ${address} is no address of this machine: give one of ${all.join(', ')}`)
    }
  }
  return [...new Set(given)]
}
