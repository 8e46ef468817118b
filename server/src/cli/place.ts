import { resolve } from 'node:path'
import { processEnvironment } from '../base/environment.ts'
import type { Config } from '../config.ts'
import { hasSqliteFile } from '../db/open.ts'
import { packageVersion } from '../version.ts'
import { writeLocalUrl } from './local-url.ts'
import { isAlive, listRunningServers, type RunningServer } from './running-servers.ts'

/**
 * Where a command works that may use a running server or a store. A name decides: `--url`, `SWITCHBOARD_URL` or `--token` for a
 * server, `--data`, `DATA_DIR` or `DATABASE_URL` for a store. Without one it is the store in this folder, or the server that serves it, otherwise the server at HOST and
 * PORT: by its store where that is on this machine, through its doors where it is not.
 */
export type Place =
  | { readonly kind: 'here'; readonly besides?: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'folder'; readonly dataDir: string; readonly url: string }
  | { readonly kind: 'server'; readonly url: string }

export function isStoreNamed(data: string | undefined): boolean {
  const environment = processEnvironment()
  return [data, environment['DATA_DIR'], environment['DATABASE_URL']].some(Boolean)
}

/** The server that a command asks which names none: the one that serves the store of this folder, otherwise the one at HOST and PORT. */
export function findLocalUrl(config: Config): string {
  const { HOST, PORT } = processEnvironment()
  const serving = listRunningServers().find(({ data_dir }) => data_dir === resolve(config.dataDir))
  return HOST || PORT || config.databaseUrl !== undefined || !serving ? writeLocalUrl(config) : serving.url
}

/** The place of a command that names neither a server nor a store. */
export async function findPlace(config: Config, data: string | undefined): Promise<Place> {
  if (isStoreNamed(data)) return { kind: 'here' }
  const url = findLocalUrl(config)
  const server = listRunningServers().find((one) => one.url === url)
  if (hasSqliteFile(config)) {
    return server && server.data_dir !== resolve(config.dataDir) ? { kind: 'here', besides: url } : { kind: 'here' }
  }
  // Another version would bring the schema up to date under a running server.
  if (server && server.data_dir !== null && server.version === packageVersion()) {
    return { kind: 'folder', dataDir: server.data_dir, url }
  }
  return (await isAlive(url)) ? { kind: 'server', url } : { kind: 'none' }
}

/** Says which place a command found by itself, on standard error. */
export function sayPlace(config: Config, place: Place): void {
  if (place.kind === 'here' && place.besides !== undefined) {
    note(`using the store in ${config.dataDir}; the server at ${place.besides} has another one: --url asks it`)
  } else if (place.kind === 'folder') note(`using the store in ${place.dataDir}, of the server at ${place.url}`)
  else if (place.kind === 'server') note(`there is no store in ${config.dataDir}: asking the server at ${place.url}`)
}

function note(text: string): void {
  process.stderr.write(`switchboard: ${text}\n`)
}

/** What to name instead, for a command that found no server at the address that it tried. */
export function hintAtServers(tried: string): string {
  const others = listRunningServers().filter(({ url }) => url !== tried)
  return others.length === 0 ? '' : `; running here: ${others.map(describe).join(', ')}`
}

function describe({ url, data_dir }: RunningServer): string {
  return `--url ${url}${data_dir === null ? '' : ` (--data ${data_dir})`}`
}
