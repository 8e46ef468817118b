import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from './random.ts'
import { parseSecretKey, type SecretKey, writeSecretKey } from './secret-key.ts'

/*
 * The key file used instead of SECRETS_KEY: one key per line, the newest first. Everything here is synchronous: the file is read in
 * the middle of opening a value that names an unknown key.
 */

/** An unusable key file, described in one line that quotes nothing from it. */
export class BadKeyFile extends Error {}

const heading =
  '# The keys that seal the secrets of a Switchboard store, the newest first. Keep them apart from its backups.'
const ownerOnly = 0o600

export interface KeyFile {
  readonly keys: readonly SecretKey[]
  /** Its previous permissions, if others than its owner could read it. */
  readonly looseMode: string | undefined
  /** Whether those permissions were removed. */
  readonly isTightened: boolean
}

/** Undefined when there is no such file. A file that others could read is restricted to its owner, if possible. */
export function readKeyFile(path: string): KeyFile | undefined {
  const handle = openIfThere(path)
  if (handle === undefined) return undefined
  try {
    const keys = readKeys(path, readText(handle, path))
    const mode = fstatSync(handle).mode & 0o777
    if ((mode & 0o077) === 0) return { keys, looseMode: undefined, isTightened: false }
    return { keys, looseMode: mode.toString(8).padStart(4, '0'), isTightened: tighten(path) }
  } finally {
    closeSync(handle)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new BadKeyFile(`the key file ${path} cannot be read (${message}); let the user of the service read it`)
  }
}

/** Container platforms make a folder where the file that they should mount is missing. */
function readText(handle: number, path: string): string {
  if (!fstatSync(handle).isDirectory()) return readFileSync(handle, 'utf8')
  throw new BadKeyFile(`the key file ${path} is a folder; put the file back there, or name it in SECRETS_KEY_FILE`)
}

/** The message quotes nothing from the file. */
function readKeys(path: string, text: string): SecretKey[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const key = parseSecretKey(line)
      if (!key) throw new BadKeyFile(`the key file ${path} holds a line that is no key; put back the file as it was`)
      return key
    })
}

function tighten(path: string): boolean {
  try {
    chmodSync(path, ownerOnly)
    return true
  } catch {
    // Owned by another user, or on a read-only file system, like container secrets.
    return false
  }
}

/** Creates the file with a new key, and returns the keys in it: another process may have been quicker. */
export function makeKeyFile(path: string, random: Random, key: SecretKey): readonly SecretKey[] {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const whole = writeBeside(path, random, [key])
    try {
      placeOnce(whole, path)
    } finally {
      rmSync(whole, { force: true })
    }
    syncFolder(dirname(path))
  } catch (error) {
    throw unwritable(path, error)
  }
  return readKeyFile(path)?.keys ?? []
}

/** Replaces all keys in the file, atomically. */
export function replaceKeyFile(path: string, random: Random, keys: readonly SecretKey[]): void {
  try {
    renameSync(writeBeside(path, random, keys), path)
    syncFolder(dirname(path))
  } catch (error) {
    throw unwritable(path, error)
  }
}

function writeBeside(path: string, random: Random, keys: readonly SecretKey[]): string {
  const whole = `${path}.${random.bytes(6).toString('hex')}`
  const handle = openSync(whole, 'wx', ownerOnly)
  try {
    keepOwner(handle, path)
    writeSync(handle, `${[heading, ...keys.map(writeSecretKey)].join('\n')}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  return whole
}

/** A file written by root must stay readable for the user of the service: the previous owner of the file, or of its folder. */
function keepOwner(handle: number, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(existsSync(path) ? path : dirname(path))
  fchownSync(handle, uid, gid)
}

/** Names the file, unless the name is taken. */
function placeOnce(whole: string, path: string): void {
  try {
    linkSync(whole, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    // A file system without hard links.
    copyFileSync(whole, path, constants.COPYFILE_EXCL)
  }
}

function syncFolder(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function unwritable(path: string, error: unknown): BadKeyFile {
  return new BadKeyFile(
    `the key file ${path} cannot be written (${(error as Error).message}); set SECRETS_KEY, or SECRETS_KEY_FILE to a path that can be written`,
  )
}
