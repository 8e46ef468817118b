// All packages have one version, and need each other in that version.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, ownFolders, readManifest } from './packages.ts'

interface LockEntry {
  /** Where it is not the one of its folder. */
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export type LockedPackages = Readonly<Record<string, LockEntry>>

/** Its recipes pin packages and images. */
export const pageWithVersions = 'docs/ci.md'
export const namedVersion = /(@switchboard\/\w+@|\/switchboard:)(\d+\.\d+\.\d+)/g

const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const

export function readLock(root: string): LockedPackages {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}

export function checkVersions(manifests: Readonly<Record<string, Manifest>>, lock: LockedPackages): string[] {
  const problems: string[] = []
  const own = new Set(Object.values(manifests).map(({ name }) => name))
  const version = manifests['server']?.version ?? ''
  if (!/^\d+\.\d+\.\d+$/.test(version)) problems.push(`server/package.json: "${version}" is not a version like 1.2.3`)
  for (const [folder, manifest] of Object.entries(manifests)) {
    const complain = (text: string) => problems.push(`${folder}/package.json: ${text}`)
    if (manifest.version !== version) complain(`the version is ${manifest.version}, that of the server ${version}`)
    const locked = lock[folder]
    if (locked?.version !== manifest.version) {
      complain(`the lock file has version ${locked?.version ?? 'nothing'}, not ${manifest.version}: run npm run deps`)
    }
    for (const kind of kinds) {
      for (const [name, wanted] of Object.entries(manifest[kind] ?? {})) {
        if (own.has(name) && wanted !== version) complain(`${kind} has ${name} ${wanted}, not ${version}`)
        if (locked && locked[kind]?.[name] !== wanted) {
          complain(`the lock file has ${name} ${locked[kind]?.[name] ?? 'nowhere'}, not ${wanted}: run npm run deps`)
        }
      }
    }
  }
  return problems
}

/** Writes another version everywhere that is not generated, and begins its section of the changelog. */
export function bumpVersions(root: string, version: string): string[] {
  const names = new Set(ownFolders.map((folder) => readManifest(root, folder).name))
  const write = (path: string, value: unknown) => writeFileSync(join(root, path), `${JSON.stringify(value, null, 2)}\n`)
  const bump = <T extends LockEntry | Manifest>(entry: T): T => ({
    ...entry,
    version,
    ...Object.fromEntries(
      kinds.flatMap((kind) => (entry[kind] ? [[kind, pin(entry[kind] as Record<string, string>)]] : [])),
    ),
  })
  const pin = (list: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(list).map(([name, wanted]) => [name, names.has(name) ? version : wanted]))
  for (const folder of ownFolders) write(`${folder}/package.json`, bump(readManifest(root, folder)))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const folder of ownFolders) lock.packages[folder] = bump(lock.packages[folder])
  write('package-lock.json', lock)
  const path = join(root, 'CHANGELOG.md')
  const changelog = readFileSync(path, 'utf8')
  if (!changelog.includes(`\n## ${version} (`)) {
    writeFileSync(path, changelog.replace(/^## /m, `## ${version} (Unreleased)\n\n## `))
  }
  const page = join(root, pageWithVersions)
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(namedVersion, `$1${version}`))
  return [
    ...ownFolders.map((folder) => `${folder}/package.json`),
    'package-lock.json',
    'CHANGELOG.md',
    pageWithVersions,
  ]
}
