// Packs the console (console/src) into node_modules/.console: a script for the first page and one for each other, one style, and the
// worker that pages share, with hashed names, compressed once. It runs when the server is installed, and by the server itself when a
// source has changed since.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ownBuilds = join(root, 'node_modules', '.console')
/** A page that was opened before may still ask for the files of the build before. */
const kept = 2

/**
 * Builds the console into a folder of builds, under a name that sorts after the earlier ones, and returns the files
 * that it was made of; throws with what stands in the way.
 */
export async function buildConsole({ builds = ownBuilds, name = `${Date.now()}-${process.pid}`, plugins = [] } = {}) {
  const folder = join(builds, name)
  const common = {
    absWorkingDir: root,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2023'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    logLevel: 'silent',
    plugins,
  }
  const begun = Date.now()
  const main = 'console/src/main.tsx'
  const [scripts, worker, styles] = await Promise.all([
    build({ ...common, entryPoints: [main], splitting: true, loader: { '.css': 'empty' } }),
    build({ ...common, entryPoints: ['console/src/streams/worker.ts'] }),
    // Not split: one style for all pages, so that none is drawn without its own.
    build({ ...common, entryPoints: [main], write: false }),
  ])
  const style = styles.outputFiles.find(({ path }) => path.endsWith('.css'))
  writeFileSync(style.path, style.contents)
  const { outputs } = scripts.metafile
  const script = Object.keys(outputs).find((path) => outputs[path].entryPoint === main)
  const files = [...Object.keys(outputs), ...Object.keys(worker.metafile.outputs), style.path].map((path) =>
    basename(path),
  )
  for (const file of files) {
    const content = readFileSync(join(folder, file))
    writeFileSync(
      join(folder, `${file}.br`),
      brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    )
    writeFileSync(join(folder, `${file}.gz`), gzipSync(content, { level: 9 }))
  }
  const inputs = [styles, worker].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  const own = [...new Set(inputs)].filter((path) => /^(?:console\/(?:src|shared)|sdk\/src)\//.test(path))
  const sources = ['package-lock.json', ...own].map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    // One that was changed meanwhile may have been read before: it counts as changed again.
    const isChanged = mtimeMs >= begun && mtimeMs <= Date.now()
    return [path, size, isChanged ? 0 : mtimeMs]
  })
  const built = {
    script: basename(script),
    // What the script imports at once: named in the page, so that the browser does not learn of it only from the script.
    parts: outputs[script].imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
    style: basename(style.path),
    worker: files.find((file) => file.startsWith('worker-')),
  }
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
  return { inputs: [...new Set(inputs)] }
}
