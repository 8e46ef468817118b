import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { parseChangelog } from './changelog.ts'
import { checkPacked, type Manifest, ownFolders, readManifest } from './packages.ts'
import { findInstalled } from './sbom.ts'
import { checkNames } from './type-names.ts'
import {
  bumpVersions,
  checkVersions,
  type LockedPackages,
  namedVersion,
  pageWithVersions,
  readLock,
} from './versions.ts'

const root = dirname(dirname(import.meta.dirname))
const readManifests = (folder: string) =>
  Object.fromEntries(ownFolders.map((name) => [name, readManifest(folder, name)])) as Record<string, Manifest>

/** The files with versions in them, where they may be changed. */
function copyVersions(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-versions-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of [...ownFolders, 'docs']) mkdirSync(join(folder, name))
  for (const name of [
    ...ownFolders.map((one) => `${one}/package.json`),
    'package-lock.json',
    'CHANGELOG.md',
    pageWithVersions,
  ]) {
    cpSync(join(root, name), join(folder, name))
  }
  return folder
}

describe('versions', () => {
  it('of this project agree', () => {
    assert.deepEqual(checkVersions(readManifests(root), readLock(root)), [])
  })

  it('that the recipes for CI pin are the one of the packages', () => {
    const named = [...readFileSync(join(root, pageWithVersions), 'utf8').matchAll(namedVersion)].map(([, , one]) => one)
    assert.ok(named.length > 4)
    assert.deepEqual([...new Set(named)], [readManifest(root, 'server').version])
  })

  const manifests = {
    server: { name: '@own/server', version: '1.0.0', dependencies: { '@own/client': '1.0.0', pg: '8.0.0' } },
    sdk: { name: '@own/client', version: '1.0.0' },
    testing: { name: '@own/testing', version: '1.0.0', peerDependencies: { '@own/server': '1.0.0' } },
  }
  const damages: [what: string, damage: (all: Record<string, Record<string, unknown>>) => void, problem: RegExp][] = [
    [
      'a package of another version',
      ({ sdk }) => Object.assign(sdk as object, { version: '1.0.1' }),
      /sdk.*version is 1\.0\.1, that of the server 1\.0\.0/,
    ],
    [
      'a version that is none',
      ({ server }) => Object.assign(server as object, { version: '1.0' }),
      /"1\.0" is not a version/,
    ],
    [
      'a range for a package of its own',
      ({ server }) => Object.assign(server as object, { dependencies: { '@own/client': '^1.0.0', pg: '8.0.0' } }),
      /dependencies has @own\/client \^1\.0\.0, not 1\.0\.0/,
    ],
    [
      'another version of a peer',
      ({ testing }) => Object.assign(testing as object, { peerDependencies: { '@own/server': '0.9.0' } }),
      /peerDependencies has @own\/server 0\.9\.0/,
    ],
  ]
  for (const [what, damage, problem] of damages) {
    it(`are refused with ${what}`, () => {
      const damaged = structuredClone(manifests) as unknown as Record<string, Record<string, unknown>>
      damage(damaged)
      assert.match(checkVersions(damaged as unknown as Record<string, Manifest>, damaged).join('\n'), problem)
    })
  }

  it('are refused with a lock file of another version, of another package, or without one', () => {
    assert.deepEqual(checkVersions(manifests, manifests), [])
    const check = (lock: LockedPackages) => checkVersions(manifests, lock).join('\n')
    assert.match(check({ ...manifests, sdk: { version: '0.9.0' } }), /sdk.*lock file has version 0\.9\.0, not 1\.0\.0/)
    const { server } = manifests
    const other = { ...server, dependencies: { ...server.dependencies, pg: '7.0.0' } }
    assert.match(check({ ...manifests, server: other }), /lock file has pg 7\.0\.0, not 8\.0\.0/)
    assert.match(check({}), /lock file has version nothing/)
  })

  it('are written everywhere by a bump, with the section of the changelog, once', (t) => {
    const folder = copyVersions(t)
    bumpVersions(folder, '9.8.7')
    const bumped = readManifests(folder)
    assert.deepEqual(
      Object.values(bumped).map(({ version }) => version),
      ownFolders.map(() => '9.8.7'),
    )
    assert.deepEqual(checkVersions(bumped, readLock(folder)), [])
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
    const [newest, before] = parseChangelog(changelog).releases
    assert.deepEqual(
      [newest?.version, newest?.date, before?.version],
      ['9.8.7', undefined, readManifest(root, 'server').version],
    )
    bumpVersions(folder, '9.8.7')
    assert.equal(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), changelog)
    // Back again, only the changelog differs: nothing else was touched.
    bumpVersions(folder, readManifest(root, 'server').version)
    for (const name of [...ownFolders.map((one) => `${one}/package.json`), 'package-lock.json', pageWithVersions]) {
      assert.equal(readFileSync(join(folder, name), 'utf8'), readFileSync(join(root, name), 'utf8'), name)
    }
  })
})

describe('a packed package', () => {
  const packed = {
    folder: 'sdk',
    file: 'own-client-1.0.0.tgz',
    files: ['package.json', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'bin/own.mjs'],
    unpackedSize: 1,
    manifest: {
      name: '@own/client',
      version: '1.0.0',
      license: 'UNLICENSED',
      bin: { own: 'bin/own.mjs' },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
      dependencies: { pg: '8.0.0' },
    } as Manifest,
  }
  const check = (manifest: Partial<Manifest>, files = packed.files) =>
    checkPacked({ ...packed, files, manifest: { ...packed.manifest, ...manifest } }, '1.0.0').join('\n')

  it('is accepted as it is, and refused where nobody could install it', () => {
    assert.equal(check({}), '')
    assert.match(check({ private: true }), /is private/)
    assert.match(check({ version: '0.9.0' }), /version is 0\.9\.0, not 1\.0\.0/)
    assert.match(check({ license: '' }), /no licence field/)
    assert.match(check({ dependencies: { pg: 'file:../pg' } }), /pg comes from file:/)
    assert.match(check({ scripts: { postinstall: 'node download.js' } }), /runs a script when it is installed/)
    assert.match(
      check({}, packed.files.slice(0, 3)),
      /index\.d\.ts is named, and not in the package\n.*own\.mjs|own\.mjs is named/,
    )
    assert.match(check({}, packed.files.slice(2)), /README\.md is not in the package/)
  })
})

describe('exported names', () => {
  const before: Record<string, string> = {
    'sdk/src/index.ts':
      "export * from './core/index.ts'\nexport { A, type B as C } from './a.ts'\nexport const D = 1\n",
    'sdk/src/core/index.ts': "export class E {}\nexport type { F } from './f.ts'\nexport interface G {}\nclass H {}\n",
  }
  const after = {
    'sdk/src/index.ts': "export type * from './core/index.ts'\nexport { A } from './a.ts'\n",
    'sdk/src/core/index.ts': 'export function F() {}\n',
  }
  const from = (files: Record<string, string>) => (path: string) => files[path]
  const release = (text: string) =>
    parseChangelog(`## 1.0.0 (Unreleased)\n\n### Client\n\n#### Breaking\n\n- ${text}\n`).releases[0]

  it('that are gone have to be named', () => {
    const named = checkNames(from(before), from(after), release('`C`, `D` are gone.')).map(
      (one) => /`(\w+)`/.exec(one)?.[1],
    )
    assert.deepEqual(named, ['E', 'G'])
    assert.deepEqual(checkNames(from(before), from(after), release('`C`, `D`, `E`, `G` are gone.')), [])
    assert.deepEqual(checkNames(from({}), from(after), undefined), [], 'nothing was exported before')
  })
})

describe('a bill of materials', () => {
  it('holds what npm installs with a package, found as Node.js finds it', () => {
    const lock: LockedPackages = {
      server: {},
      'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { absent: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1', a: '1' } },
      'node_modules/b': {},
      'node_modules/c': {},
      'node_modules/dev': {},
      'node_modules/@own/client': { link: true, resolved: 'sdk' },
      sdk: {},
    }
    const manifest = { name: 's', version: '1.0.0', dependencies: { a: '1', '@own/client': '1' } }
    assert.deepEqual(findInstalled(lock, 'server', manifest), [
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'sdk',
    ])
  })
})
