// Makes of a workspace what is published of it: `npm pack` runs this before it packs, and with --restore after it. The package.json of
// sources is kept beside, and put back.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeCommonJs } from './packages/commonjs.mjs'
import { describePublished } from './packages/manifest.mjs'

const folder = process.cwd()
const manifest = join(folder, 'package.json')
const kept = join(folder, 'package.sources.json')
const dist = join(folder, 'dist')

if (process.argv.includes('--restore')) restore()
else await build()

function restore() {
  if (existsSync(kept)) renameSync(kept, manifest)
}

async function build() {
  restore()
  const text = readFileSync(manifest, 'utf8')
  const published = describePublished(text)
  if (published.name === '@switchboard/server') {
    const { buildServerPackage } = await import('./packages/server.mjs')
    await buildServerPackage(dist)
  } else {
    compile()
    writeCommonJs(dist)
  }
  writeFileSync(kept, text)
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`)
}

function compile() {
  rmSync(dist, { recursive: true, force: true })
  const tsc = resolve(folder, '../node_modules/.bin/tsc')
  execFileSync(tsc, ['--project', 'tsconfig.build.json'], { cwd: folder, stdio: ['ignore', 2, 2] })
  // In types the compiler leaves the names of sources, which are not there.
  for (const file of globSync('dist/**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(/(from |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2'))
  }
}
