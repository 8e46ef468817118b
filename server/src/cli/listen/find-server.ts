import { commandName } from '../../base/command-name.ts'
import type { Config } from '../../config.ts'
import { isStoreLocked } from '../../db/sqlite/store-lock.ts'
import { findLocalUrl } from '../place.ts'
import { isAlive } from '../running-servers.ts'

/** Undefined when a server runs on the store of a command; otherwise a sentence that says so. */
export async function findMissingServer(config: Config): Promise<string | undefined> {
  const url = findLocalUrl(config)
  if (await isAlive(url)) return undefined
  if (config.databaseUrl === undefined) {
    if (isStoreLocked(config.dataDir)) return undefined
    return `No server runs on the store in ${config.dataDir}: start one with ${commandName()} serve.`
  }
  return `No server answers at ${url}: where none runs on this database elsewhere, start one with ${commandName()} serve.`
}
