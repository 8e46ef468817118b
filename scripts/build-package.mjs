// Makes of a workspace what is published of it: `npm pack` runs this before it packs, and with --restore after it.
// Within this clone a workspace is used as it is written, in TypeScript, so its exports name sources. A package has JavaScript and
// types, so its exports name what is built. The package.json of sources is kept beside, and put back.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = process.cwd()
const manifest = join(folder, 'package.json')
const kept = join(folder, 'package.sources.json')

if (process.argv.includes('--restore')) restore()
else build()

function restore() {
  if (existsSync(kept)) renameSync(kept, manifest)
}

function build() {
  restore()
  const text = readFileSync(manifest, 'utf8')
  const { exports: sources, scripts: _scripts, devDependencies: _dev, ...published } = JSON.parse(text)
  compile()
  const exports = Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, describeBuilt(file)]))
  writeFileSync(kept, text)
  writeFileSync(manifest, `${JSON.stringify({ ...published, exports }, null, 2)}\n`)
}

/** `./src/index.ts` → what was built of it */
function describeBuilt(file) {
  const built = file.replace('./src/', './dist/').replace(/\.ts$/, '')
  return { types: `${built}.d.ts`, default: `${built}.js` }
}

function compile() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const tsc = resolve(folder, '../node_modules/.bin/tsc')
  execFileSync(tsc, ['--project', 'tsconfig.build.json'], { cwd: folder, stdio: ['ignore', 2, 2] })
  // In types the compiler leaves the names of sources, which are not there.
  for (const file of globSync('dist/**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(/(from |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2'))
  }
}
