// Several test files in one process: each is a suite named by its path. Loading what they have in common costs more than the tests of
// most of them.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { describe } from 'node:test'

const require = createRequire(import.meta.url)

export function declareFiles(files: readonly string[]): void {
  // Loaded at once and not by `import()`, so that what stands at the top of the file belongs to its suite.
  for (const file of files) describe(file, () => require(resolve(file)))
}
