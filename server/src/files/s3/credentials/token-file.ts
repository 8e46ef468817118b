import { readFile } from 'node:fs/promises'
import { FilesUnavailable } from '../../unavailable.ts'
import { isToken } from './credentials.ts'

/** Reads a token that its issuer replaces in the file from time to time. */
export async function readTokenFile(setting: string, path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new FilesUnavailable('refused', `the file of ${setting} cannot be read: ${error.code}`, error)
  })
  const token = text.trim()
  if (!isToken(token)) throw new FilesUnavailable('refused', `the file of ${setting} holds no token`)
  return token
}
