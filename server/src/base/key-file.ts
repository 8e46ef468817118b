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
 * The file of keys that stands in for SECRETS_KEY: one key a line, the newest first. Everything here is synchronous: the file is
 * read when a value names a key that nobody has seen yet, in the middle of opening the value.
 */

/** A file of keys that cannot be used, said in one line that repeats nothing of it. */
export class BadKeyFile extends Error {}

const heading =
  '# The keys that seal the secrets of a Switchboard store, the newest first. Keep them apart from its backups.'
const ownerOnly = 0o600

export interface KeyFile {
  readonly keys: readonly SecretKey[]
  /** The permissions that it had, where others than its owner could read it. */
  readonly looseMode: string | undefined
  /** Whether these were taken away from it. */
  readonly isTightened: boolean
}

/** Undefined when there is no such file. What others than its owner could read is made the owner's alone, if that can be done. */
export function readKeyFile(path: string): KeyFile | undefined {
  const handle = openIfThere(path)
  if (handle === undefined) return undefined
  try {
    const keys = readKeys(path, readFileSync(handle, 'utf8'))
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

/** Nothing of the file is repeated in the message. */
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
    // Of another user, or on a file system that is mounted for reading alone, as secrets of containers are.
    return false
  }
}

/** Makes the file with a new key in it, and returns the keys that it holds then: another process may have been quicker. */
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

/** Puts other keys into the file: all of them, or none. */
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

/** What root writes must stay readable for the user of the service: whose the file was, or is its folder. */
function keepOwner(handle: number, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(existsSync(path) ? path : dirname(path))
  fchownSync(handle, uid, gid)
}

/** A name for the file unless something has it already. */
function placeOnce(whole: string, path: string): void {
  try {
    linkSync(whole, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    // A file system without links.
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
