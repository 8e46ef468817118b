// The packages that are published, and what npm makes of them.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly license?: string
  readonly description?: string
  readonly repository?: unknown
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: unknown
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Folders of the workspaces that are published. The console is published in the server. */
export const publishedFolders = ['sdk', 'voice', 'testing', 'server'] as const
export const ownFolders = [...publishedFolders, 'console'] as const

export interface Packed {
  readonly folder: string
  /** The name of the tarball. */
  readonly file: string
  readonly manifest: Manifest
  readonly files: readonly string[]
  readonly unpackedSize: number
}

export function readManifest(root: string, folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** `npm pack` of a workspace. The manifest is the one in the tarball, which is not the one of the sources. */
export function packWorkspace(root: string, folder: string, destination: string): Packed {
  const cwd = join(root, folder)
  try {
    const output = execFileSync(
      'npm',
      ['pack', '--json', '--loglevel=error', '--foreground-scripts=false', '--pack-destination', destination],
      {
        cwd,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    // What scripts of the package print comes first. npm 11 gives a list, npm 12 an object by name.
    const printed: unknown = JSON.parse(output.slice(output.search(/^[[{]/m)))
    const [entry] = Object.values(printed as object) as {
      filename: string
      unpackedSize: number
      files: { path: string }[]
    }[]
    if (!entry) throw new Error(`npm pack made nothing of ${folder}/`)
    const file = entry.filename.replace('@', '').replace('/', '-')
    const text = execFileSync('tar', ['-xzOf', join(destination, file), 'package/package.json'], { encoding: 'utf8' })
    const files = entry.files.map(({ path }) => path)
    return { folder, file, manifest: JSON.parse(text), files, unpackedSize: entry.unpackedSize }
  } finally {
    // Without a postpack the sources would keep the manifest that was packed.
    if (existsSync(join(cwd, 'package.sources.json'))) {
      execFileSync('node', ['../scripts/build-package.mjs', '--restore'], { cwd })
    }
  }
}

/** What a registry would refuse, or a user could not install. */
export function checkPacked({ folder, manifest, files }: Packed, version: string): string[] {
  const problems: string[] = []
  const complain = (text: string) => problems.push(`${folder}/: ${text}`)
  if (manifest.private) complain('the packed package.json is private, so npm would refuse to publish it')
  if (manifest.version !== version) complain(`the packed version is ${manifest.version}, not ${version}`)
  if (!manifest.license) complain('the packed package.json has no licence field')
  if (!files.includes('README.md')) complain('README.md is not in the package')
  if (manifest.scripts?.['postinstall'] || manifest.scripts?.['install'])
    complain('the package runs a script when it is installed')
  for (const [name, wanted] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    if (/^(file|link|workspace|git|https?):/.test(wanted)) complain(`${name} comes from ${wanted}, not from a registry`)
  }
  for (const path of [...Object.values(manifest.bin ?? {}), ...pathsOf(manifest.exports)]) {
    const plain = path.replace(/^\.\//, '')
    if (!plain.includes('*') && !files.includes(plain)) complain(`${path} is named, and not in the package`)
  }
  return problems
}

function pathsOf(exports: unknown): string[] {
  if (typeof exports === 'string') return [exports]
  return exports && typeof exports === 'object' ? Object.values(exports).flatMap(pathsOf) : []
}
