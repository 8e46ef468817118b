import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import type { Kinds, Manifest } from './kubernetes-kinds.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** The objects of a file of deploy/kubernetes/. */
export function readManifests(file: string): Manifest[] {
  return loadAll(readFileSync(join(root, 'deploy', 'kubernetes', file), 'utf8')) as Manifest[]
}

/** Those of one kind. */
export function ofKind<K extends keyof Kinds>(manifests: readonly Manifest[], kind: K): Kinds[K][] {
  return manifests.filter((one) => one.kind === kind) as Kinds[K][]
}

/**
 * What the compiler says of these objects, written as literals of their types: members that the API of Kubernetes does not have, or has
 * elsewhere, missing members, and values of another type. Empty: nothing.
 */
export async function checkManifests(manifests: readonly Manifest[]): Promise<string> {
  // Within the clone, where the types are found.
  const folder = await mkdtemp(join(root, 'node_modules', '.manifests-'))
  try {
    const kinds = JSON.stringify(join(import.meta.dirname, 'kubernetes-kinds.ts'))
    const lines = manifests.map(
      (one, index) => `export const m${index}: Kinds[${JSON.stringify(one.kind)}] = ${JSON.stringify(one, null, 1)}`,
    )
    const file = join(folder, 'manifests.ts')
    await writeFile(file, `import type { Kinds } from ${kinds}\n${lines.join('\n')}\n`)
    const options =
      '--ignoreConfig --noEmit --strict --skipLibCheck --allowImportingTsExtensions --module nodenext --target es2024'
    const run = promisify(execFile)(
      join(root, 'node_modules', '.bin', 'tsc'),
      [...options.split(' '), '--types', '', file],
      { cwd: folder },
    )
    return await run.then(
      () => '',
      (error) => String(error.stdout),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
