// The names that a package exports, read from its sources: what others write behind `import`.

import type { Release } from './changelog.ts'

type Read = (path: string) => string | undefined

/** Undefined where the package has no such entry, as before its first release. */
function listExports(read: Read, entry: string): Set<string> | undefined {
  return read(entry) === undefined ? undefined : collect(read, entry, new Set())
}

function collect(read: Read, path: string, visited: Set<string>): Set<string> {
  const names = new Set<string>()
  if (visited.has(path)) return names
  visited.add(path)
  const text = read(path)
  if (text === undefined) throw new Error(`${path} is exported from, and not there`)
  for (const [, list = ''] of text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)) {
    for (const item of list.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      if (item !== '') names.add(item.split(' as ').at(-1) as string)
    }
  }
  const declared = /^export (?:declare |abstract |async )*(?:class|function\*?|const|let|interface|type|enum) (\w+)/gm
  for (const [, name] of text.matchAll(declared)) names.add(name as string)
  for (const [, from] of text.matchAll(/^export (?:type )?\* from '(\.[^']+)'/gm)) {
    for (const name of collect(read, join(path, from as string), visited)) names.add(name)
  }
  return names
}

/** Paths of git have slashes on every system. */
function join(path: string, relative: string): string {
  return new URL(relative, `file:///${path}`).pathname.slice(1)
}

const packages = [
  {
    part: 'Client',
    entries: ['sdk/src/index.ts', 'sdk/src/methods.ts', 'sdk/src/node.ts', 'sdk/src/webhooks/index.ts'],
  },
  { part: 'Voice', entries: ['voice/src/index.ts'] },
  { part: 'Testing', entries: ['testing/src/index.ts'] },
] as const

/** Names that are gone, and that no entry under Breaking of their package names. */
export function checkNames(before: Read, after: Read, release: Release | undefined): string[] {
  return packages.flatMap(({ part, entries }) => {
    const named = (release?.entries ?? [])
      .filter((entry) => entry.part === part && entry.kind === 'Breaking')
      .map(({ text }) => text)
      .join('\n')
    return entries.flatMap((entry) => {
      const has = listExports(after, entry) ?? new Set()
      const gone = [...(listExports(before, entry) ?? [])].filter((name) => !has.has(name))
      return gone
        .filter((name) => !named.includes(`\`${name}\``))
        .map((name) => `CHANGELOG.md: ${part}, Breaking does not name \`${name}\`, which ${entry} no longer exports`)
    })
  })
}
