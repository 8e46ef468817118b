import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes a folder that survives a power failure, readable only by its owner: it holds tenants' files. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(path); made !== dirname(resolve(first)); made = dirname(made)) await syncFolder(dirname(made))
}

/** Creating or removing a name is durable only after its folder is synced. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
