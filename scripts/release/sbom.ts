// The bill of materials of a package, in CycloneDX: what is bundled into it, and what npm installs with it. `npm sbom` knows only the second.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { build } from 'esbuild'
import type { Manifest } from './packages.ts'
import type { LockedPackages } from './versions.ts'

const specVersion = '1.6'
/** What becomes files of the server's package; other packages bundle nothing. */
const bundles: Readonly<Record<string, readonly string[]>> = {
  server: [
    'server/src/cli/run.ts',
    'server/src/world/read-worker.ts',
    'console/src/main.tsx',
    'console/src/streams/worker.ts',
  ],
}

interface Subject {
  readonly folder: string
  readonly manifest: Manifest
  /** SHA-256 of its tarball. */
  readonly checksum: string
  /** When it was committed. */
  readonly date: Date
}

/** Places in the lock file of the packages whose code is in the files of this one. */
async function findBundled(root: string, folder: string): Promise<string[]> {
  const entryPoints = bundles[folder]
  if (!entryPoints) return []
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    outdir: join(root, 'dist/unused'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Whoever wants sound in calls installs it beside the server.
    external: ['@switchboard/voice'],
    loader: { '.css': 'empty' },
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  // An input of which nothing is left in an output is not in the package.
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: used }) => Object.keys(used))
  // Where node_modules is a link, paths lead out of the folder.
  const places = inputs
    .map((path) => path.replace(/^\.\.\/.*?(?=node_modules\/)/, ''))
    .flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(places)].sort()
}

/** What npm puts beside the package, with what that needs. */
export function findInstalled(
  lock: LockedPackages,
  folder: string,
  { dependencies, optionalDependencies }: Manifest,
): string[] {
  const found = new Set<string>()
  const visit = (from: string, names: readonly string[]) => {
    for (const name of names) {
      const place = resolvePackage(lock, from, name)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      visit(place, dependenciesOf(lock, place))
    }
  }
  visit(folder, Object.keys({ ...dependencies, ...optionalDependencies }))
  return [...found].sort()
}

function dependenciesOf(lock: LockedPackages, place: string): string[] {
  const { dependencies, optionalDependencies } = lock[place] ?? {}
  return Object.keys({ ...dependencies, ...optionalDependencies })
}

/** As Node.js looks for packages; links lead to the folders of workspaces. */
function resolvePackage(lock: LockedPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder ? `${folder}/` : ''}node_modules/${name}`
    const entry = lock[place]
    if (entry) return entry.link ? entry.resolved : place
    if (folder === '') return undefined
    if (!folder.includes('node_modules/')) folder = ''
  }
}

export async function makeSbom(root: string, lock: LockedPackages, subject: Subject): Promise<object> {
  const { folder, manifest, checksum, date } = subject
  const bundled = await findBundled(root, folder)
  const installed = findInstalled(lock, folder, manifest)
  const places = [...new Set([...bundled, ...installed])]
  // The lock file may lack packages for other systems, and packages that only the published package.json names.
  const wanted = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })
  const unlocked = wanted.filter(([name]) => resolvePackage(lock, folder, name) === undefined)
  const components = [
    ...places.map((place) => ({ found: describeLocked(lock, place), isBundled: bundled.includes(place) })),
    ...unlocked.map(([name, version]) => ({ found: describe({ name, version }), isBundled: false })),
  ].map(({ found, isBundled }) => ({
    ...found,
    type: 'library',
    properties: [{ name: 'switchboard:how', value: isBundled ? 'bundled' : 'installed' }],
  }))
  const main = describe(manifest)
  const references = new Map(places.map((place, index) => [place, components[index]?.['bom-ref'] as string]))
  const dependsOn = (from: string, names: readonly string[]) => {
    const found = names.flatMap((name) => references.get(resolvePackage(lock, from, name) ?? '') ?? [])
    return found.length > 0 ? { dependsOn: [...new Set(found)].sort() } : {}
  }
  // Two places may hold the same version of a package.
  const unique = new Map(components.map((component) => [component['bom-ref'], component]))
  const graph = new Map(
    places.map((place) => [references.get(place), dependsOn(place, dependenciesOf(lock, place))] as const),
  )
  return {
    $schema: `http://cyclonedx.org/schema/bom-${specVersion}.schema.json`,
    bomFormat: 'CycloneDX',
    specVersion,
    serialNumber: `urn:uuid:${writeUuid(`${main['bom-ref']} ${checksum}`)}`,
    version: 1,
    metadata: {
      timestamp: date.toISOString(),
      component: {
        ...main,
        type: folder === 'server' ? 'application' : 'library',
        hashes: [{ alg: 'SHA-256', content: checksum }],
      },
    },
    components: [...unique.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: [
      // What is bundled was needed by the package itself, or by something that is bundled too.
      { ref: main['bom-ref'], dependsOn: [...unique.keys()].sort() },
      ...[...graph].map(([ref, needs]) => ({ ref, ...needs })),
    ].filter(({ ref }, index, all) => all.findIndex((one) => one.ref === ref) === index),
  }
}

function describeLocked(lock: LockedPackages, place: string) {
  const { name, version, license, integrity } = lock[place] ?? {}
  const named = name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  if (version === undefined) throw new Error(`the lock file has no version of ${place}`)
  return describe({ name: named, version, ...(license ? { license } : {}) }, integrity)
}

function describe({ name, version, license, description }: Manifest, integrity?: string) {
  const [, group, plain] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name) ?? []
  const purl = `pkg:npm/${group ? `${encodeURIComponent(group)}/` : ''}${plain}@${version}`
  return {
    'bom-ref': purl,
    ...(group ? { group } : {}),
    name: plain as string,
    version,
    ...(description ? { description } : {}),
    ...(integrity
      ? {
          hashes: [
            { alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') },
          ],
        }
      : {}),
    licenses: describeLicence(license),
    purl,
  }
}

function describeLicence(license: unknown) {
  if (typeof license !== 'string') return []
  if (license === 'UNLICENSED') return [{ license: { name: 'none granted' } }]
  return / (AND|OR|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }]
}

/** The same for the same package: a release that is made again is the same, byte by byte. */
function writeUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Returns what checks a bill of materials by the schema of CycloneDX, as its own library carries it. */
export function makeSbomCheck(): (sbom: unknown) => string[] {
  const library = dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json'))
  const read = (name: string) => JSON.parse(readFileSync(join(library, 'res/schema', name), 'utf8'))
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'iri-reference': true, 'idn-email': true } })
  // It is CommonJS, whose types promise another default than Node.js finds.
  ;(addFormats as unknown as (to: Ajv) => void)(ajv)
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}`)
  }
  const isValid = ajv.compile(read(`bom-${specVersion}.SNAPSHOT.schema.json`))
  return (sbom) =>
    isValid(sbom) ? [] : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}
