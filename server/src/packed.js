import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where packs are (scripts/pack.mjs), each in a folder of its own, and the list that names the newest and what it was made of. */
export const packsFolder = join('node_modules', '.packed')
export const listFile = 'current.json'

/** The folder of the packed server; undefined where there is none, or a source has changed since it was made. */
export function findPack(root) {
  let list
  try {
    list = JSON.parse(readFileSync(join(root, packsFolder, listFile), 'utf8'))
  } catch {
    return undefined
  }
  const isFresh = list.sources.every(([path, size, mtimeMs]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    // Images of containers keep whole seconds.
    return found?.size === size && (found.mtimeMs === mtimeMs || found.mtimeMs === Math.floor(mtimeMs / 1000) * 1000)
  })
  return isFresh ? join(root, packsFolder, list.folder) : undefined
}
