import { test } from 'node:test'
import { storages } from './harness/file-stores.ts'
import { assertLittleMemory } from './harness/media-process.ts'

for (const where of storages) {
  test(`a document of 100 MiB raises the memory of the server by less than 40 MB, and so does its download: on ${where}`, (t) =>
    assertLittleMemory(t, where, 100 * 1_048_576))
}
