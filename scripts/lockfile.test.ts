import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'

interface Package {
  version?: string
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}

const root = dirname(import.meta.dirname)

it('names no address that packages would come from', async () => {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8')
  assert.deepEqual(text.match(/^.*:\/\/.*$/gm) ?? [], [], 'run `npm run deps`, which takes addresses out')
})

it('has a version and a checksum for every package that is downloaded', async () => {
  const lacking = Object.entries(await readPackages())
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .filter(([, { version, integrity }]) => !version || !integrity)
  assert.deepEqual(lacking, [])
})

it('has the packages of every platform, which npm ci insists on', async () => {
  const packages = await readPackages()
  const names = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)))
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
  assert.deepEqual(
    wanted.filter((name) => !names.has(name)),
    [],
  )
})

it('has no package with an install script that package.json does not allow to run', async () => {
  const { allowScripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const scripted = Object.entries(await readPackages())
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13))
  assert.deepEqual(
    scripted.filter((name) => allowScripts[name] !== true),
    [],
  )
})

it('loses addresses and nothing else to clean-lock', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-lock-'))
  try {
    await mkdir(join(folder, 'scripts'))
    await cp(join(root, 'scripts', 'clean-lock.mjs'), join(folder, 'scripts', 'clean-lock.mjs'))
    const file = join(folder, 'package-lock.json')
    const kept = { version: '1.0.0', integrity: 'sha512-x' }
    const packages = {
      'node_modules/@own/part': { resolved: 'part', link: true },
      'node_modules/a': { ...kept, resolved: 'https://registry.example/a.tgz', funding: { url: 'https://a.example' } },
    }
    await writeFile(file, JSON.stringify({ lockfileVersion: 3, packages }))
    await promisify(execFile)(process.execPath, [join(folder, 'scripts', 'clean-lock.mjs')])
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
      lockfileVersion: 3,
      packages: { 'node_modules/@own/part': { resolved: 'part', link: true }, 'node_modules/a': kept },
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function readPackages(): Promise<Record<string, Package>> {
  return JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages
}
