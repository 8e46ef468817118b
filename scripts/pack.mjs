// Packs the server and its packages into a few files under node_modules/.packed: loading some 1,700 modules one by one is half of
// what a start costs. server/src/main.js runs them as long as no source has changed; without a pack, or with a stale one, it runs
// the sources.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { findPack, listFile, packsFolder } from '../server/src/packed.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packs = join(root, packsFolder)
/** A process that started before may still load from the pack before. */
const kept = 2

/** Migrations, pages and the version are read from beside the sources, so these keep their addresses. */
function keepAddresses(folder) {
  return {
    name: 'keep-addresses',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]server[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const address = `new URL(${JSON.stringify(relative(folder, path).replaceAll('\\', '/'))}, import.meta.url).href`
        const text = readFileSync(path, 'utf8')
        return { loader: 'ts', contents: text.replaceAll(/\bimport\.meta\.url\b/g, address) }
      })
    },
  }
}

/**
 * Has node:http and node:https required where they are imported: an import reads every export of them, among which is `WebSocket`,
 * for which Node.js then loads all of fetch. That is a twentieth of a start.
 */
const requireHttp = {
  name: 'require-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?https?$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

/**
 * Gives every assertion of a package a message. For one without, Node.js reads the source to quote it: here all megabytes of a pack,
 * whose lines it cannot parse, so that a `SyntaxError` takes the place of the `AssertionError`.
 */
const nameAssertions = {
  name: 'name-assertions',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?assert$/ }, ({ path }) => ({ path, namespace: 'assertions' }))
    onLoad({ filter: /./, namespace: 'assertions' }, () => ({
      contents: `const assert = process.getBuiltinModule('node:assert')
const ok = (value, message = 'an assertion of a package failed') => assert.ok(value, message)
module.exports = Object.assign((value, message) => ok(value, message), assert, { ok })`,
    }))
  },
}

/**
 * Leaves out what the index of undici loads and nobody here uses, because Node.js has a fetch of its own: mocks, caches, fetch,
 * web sockets. A class of it is made at once, so there has to be one. That is another twentieth of a start.
 */
const leaveOutFetch = {
  name: 'leave-out-fetch',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/lib\/(mock|web|interceptor|cache)\// }, ({ path, importer }) =>
      /[\\/]undici[\\/]index\.js$/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'module.exports = { CacheStorage: class {} }' }))
  },
}

/**
 * esbuild gives every function its name by defining a property, also each closure that a request makes: that was a twentieth of what a
 * request costs. Nearly all have the right name by themselves.
 */
const slowNaming = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});'
const quickNaming = slowNaming.replace('=>__defProp', '=>target.name===value?target:__defProp')

function nameQuickly(text) {
  if (text.includes('var __name=') && !text.includes(slowNaming)) throw new Error('esbuild names functions another way')
  return text.replace(slowNaming, quickNaming)
}

/**
 * Bundles entry points and all that they import into files of a folder, and returns esbuild's description of them. The files may be
 * written to another folder, which takes the place of the first one later: their addresses are those of the first.
 */
export async function bundle({ entryPoints, folder, plugins = [], into = folder, external = [] }) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints,
    entryNames: '[name]',
    outdir: folder,
    bundle: true,
    // A start reads 4 MB of it: without blanks it takes a tenth less of the processor. Names stay, for stacks.
    minifyWhitespace: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external,
    target: 'node24',
    // For the stacks of errors in the log (server/src/base/log/packed-stack.ts).
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'error',
    // Packages that are CommonJS load Node's own modules by it.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
    plugins: [...plugins, keepAddresses(folder), requireHttp, nameAssertions, leaveOutFetch],
  })
  mkdirSync(into, { recursive: true })
  for (const { path, contents, text } of outputFiles) {
    writeFileSync(join(into, basename(path)), path.endsWith('.js') ? nameQuickly(text) : contents)
  }
  return metafile
}

/** Packages that read files beside their own. */
const readsOwnFiles = ['@evan/opus/*']

/** Returns the folder of the pack, which is made anew where it is not fresh. */
export async function pack() {
  const fresh = findPack(root)
  if (fresh) return fresh
  const name = `${Date.now()}-${process.pid}`
  const folder = join(packs, name)
  const metafile = await bundle({ entryPoints: ['server/src/cli/run.ts'], folder, external: readsOwnFiles })
  const own = Object.keys(metafile.inputs).filter((path) =>
    /^(?:(?:server|sdk|voice)\/src|console\/shared)\//.test(path),
  )
  const sources = ['package-lock.json', ...own].map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    return [path, size, mtimeMs]
  })
  // Without it Node.js would parse each file to find out that it is a module.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  const unfinished = join(packs, `${listFile}-${process.pid}`)
  mkdirSync(packs, { recursive: true })
  writeFileSync(unfinished, JSON.stringify({ folder: name, sources }))
  renameSync(unfinished, join(packs, listFile))
  for (const old of readdirSync(packs, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .slice(0, -kept)) {
    rmSync(join(packs, old), { recursive: true, force: true })
  }
  return folder
}
