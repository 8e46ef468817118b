import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Environment, processEnvironment } from '../base/environment.ts'
import { isText, isTextOrNull, readObject } from '../base/text/json-shapes.ts'
import { second } from '../base/time/duration.ts'
import { isStoreLocked } from '../db/sqlite/store-lock.ts'
import { packageVersion } from '../version.ts'

/** A server of this user on this machine, as it has written down itself. */
export interface RunningServer {
  readonly url: string
  readonly pid: number
  readonly version: string
  /** The folder of its embedded store; null: it is on PostgreSQL. */
  readonly data_dir: string | null
}

/** Notes where a server listens and what it serves, so that commands in other folders find it. Returns what removes the note. */
export function announceServer(url: string, dataDir: string | null, environment = processEnvironment()): () => void {
  const folder = folderOf(environment)
  const server: RunningServer = {
    url,
    pid: process.pid,
    version: packageVersion(),
    data_dir: dataDir === null ? null : resolve(dataDir),
  }
  const file = join(folder, `${process.pid}.json`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isOurs(folder)) return () => undefined
    // Whole or not at all for whoever reads it meanwhile.
    writeFileSync(`${file}.new`, JSON.stringify(server), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {
    // A machine without a place for it has servers all the same; commands then name them by --url.
    return () => undefined
  }
  return () => rmSync(file, { force: true })
}

/** The servers that run; what a killed one left behind is removed. */
export function listRunningServers(environment: Environment = processEnvironment()): RunningServer[] {
  const folder = folderOf(environment)
  if (!isOurs(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const server = readNote(join(folder, name))
      if (server && isRunning(server)) return [server]
      rmSync(join(folder, name), { force: true })
      return []
    })
    .sort((one, other) => (one.url < other.url ? -1 : 1))
}

/** Whether a server responds at an address. */
export async function isAlive(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2 * second) })
    return response.ok && (await response.text()) === '{"status":"alive"}'
  } catch {
    // Nothing listens there, or something that does not speak HTTP.
    return false
  }
}

/** By the number of the user, who may have no name: in containers any number runs a server. */
function folderOf(environment: Environment): string {
  return join(environment['XDG_RUNTIME_DIR'] || tmpdir(), `switchboard-servers-${process.getuid?.() ?? 'user'}`)
}

/** In a folder that everybody can write to, anybody could have made it, and lead commands to a store of theirs. */
function isOurs(folder: string): boolean {
  try {
    const { uid, mode } = lstatSync(folder)
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    return isPrivate && lstatSync(folder).isDirectory()
  } catch {
    return false
  }
}

function readNote(file: string): RunningServer | undefined {
  try {
    const { url, pid, version, data_dir } = readObject(readFileSync(file, 'utf8')) ?? {}
    if (!isText(url) || typeof pid !== 'number' || !isText(version) || !isTextOrNull(data_dir)) return undefined
    return { url, pid, version, data_dir: data_dir ?? null }
  } catch {
    // Removed by its server at this moment.
    return undefined
  }
}

function isRunning({ pid, data_dir }: RunningServer): boolean {
  try {
    // An id may be given to another process; the lock of a store is released with its server.
    return data_dir === null ? process.kill(pid, 0) : isStoreLocked(data_dir)
  } catch {
    return false
  }
}
