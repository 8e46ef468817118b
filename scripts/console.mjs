// Packs the console (console/src) into node_modules/.console: one script, one style and the worker that pages share, with hashed
// names, compressed once. It runs
// when the server is installed, and by the server itself when a source has changed since.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const builds = join(root, 'node_modules', '.console')
/** A page that was opened before may still ask for the files of the build before. */
const kept = 2

/** Builds the console; throws with what stands in the way. */
export async function buildConsole() {
  const name = `${Date.now()}-${process.pid}`
  const folder = join(builds, name)
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['console/src/main.tsx', 'console/src/streams/worker.ts'],
    outbase: 'console/src',
    outdir: folder,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2023'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    logLevel: 'silent',
  })
  const files = Object.keys(metafile.outputs).map((path) => basename(path))
  for (const file of files) {
    const content = readFileSync(join(folder, file))
    writeFileSync(
      join(folder, `${file}.br`),
      brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    )
    writeFileSync(join(folder, `${file}.gz`), gzipSync(content, { level: 9 }))
  }
  const own = Object.keys(metafile.inputs).filter((path) => /^(?:console\/(?:src|shared)|sdk\/src)\//.test(path))
  const sources = ['package-lock.json', ...own].map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    return [path, size, mtimeMs]
  })
  const pick = (name, ending) => files.find((file) => file.startsWith(`${name}-`) && file.endsWith(ending))
  const built = { script: pick('main', '.js'), style: pick('main', '.css'), worker: pick('worker', '.js') }
  const unfinished = join(builds, `current.json-${process.pid}`)
  mkdirSync(builds, { recursive: true })
  writeFileSync(unfinished, JSON.stringify({ folder: name, ...built, sources }))
  renameSync(unfinished, join(builds, 'current.json'))
  for (const old of readdirSync(builds, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .slice(0, -kept)) {
    rmSync(join(builds, old), { recursive: true, force: true })
  }
}
