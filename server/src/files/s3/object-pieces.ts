import { createHash } from 'node:crypto'
import type { PieceStore } from '../piece-store.ts'
import type { ObjectClient } from './client.ts'
import { openObject } from './object-store.ts'

const root = 'uploads/'

/** Pieces of unfinished uploads as objects, one each: `uploads/FILE/PIECE`. Any process can go on with an upload. */
export function openObjectPieces(client: ObjectClient): PieceStore {
  const folderOf = (file: string) => `${root}${file}/`
  const keyOf = (file: string, name: string) => folderOf(file) + name
  return {
    put: (file, name, bytes) =>
      client.put(keyOf(file, name), {
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        open: () => bytes,
      }),

    async *read(file, pieces) {
      for (const { name, size } of pieces) {
        // A piece that was copied from a disk may have bytes behind it that were never recorded.
        const found = await openObject(client, keyOf(file, name), { start: 0, end: size - 1 })
        if (!found) throw new Error(`the piece ${name} of ${file} is gone`)
        yield* found.stream
      }
    },

    find: async (file, name) => (await client.head(keyOf(file, name)))?.size,
    remove: (file, name) => client.delete(keyOf(file, name)),

    async removeAll(file) {
      // First all names: some stores lose their place in a list when its objects go.
      const all: string[] = []
      for await (const { keys } of client.list(folderOf(file))) all.push(...keys)
      for (const key of all) await client.delete(key)
    },

    async list() {
      const files: string[] = []
      for await (const { prefixes } of client.list(root, '/')) {
        files.push(...prefixes.map((prefix) => prefix.slice(root.length, -1)))
      }
      return files
    },
  }
}
