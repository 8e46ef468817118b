// Makes `server/dist`, what the package of the server runs: the packed server with all its packages in it, the console as browsers
// get it, and the files that the server reads. Nothing is built or downloaded where the package is installed.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from '../console.mjs'
import { bundle } from '../pack.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** How texts of the console call the command. In a package this is right wherever it is installed, and never asks for a stranger's. */
const commandOfPackage = 'npx @switchboard/server'

/** Builds the folder `dist` of the package from the sources, here or elsewhere. */
export async function buildServerPackage(dist) {
  rmSync(dist, { recursive: true, force: true })
  const server = await bundle({
    entryPoints: ['server/src/cli/run.ts', 'server/src/world/read-worker.ts'],
    folder: join(root, 'server', 'dist'),
    into: dist,
    plugins: [usePackagePlaces],
    // Whoever wants sound in calls installs it beside the server.
    external: ['@switchboard/voice'],
  })
  const builds = join(dist, 'console', 'builds')
  const console = await buildConsole({ builds, name: 'build', plugins: [nameCommand] })
  forgetSources(join(builds, 'current.json'))
  cpSync(join(root, 'console', 'shared'), join(dist, 'console', 'shared'), {
    recursive: true,
    filter: (path) => !/\.(?:d\.ts|test\.ts)$/.test(path),
  })
  mkdirSync(join(dist, 'worlds'))
  cpSync(join(root, 'worlds', 'demo.yaml'), join(dist, 'worlds', 'demo.yaml'))
  writeFileSync(join(dist, 'licenses.txt'), quoteLicences([...Object.keys(server.inputs), ...console.inputs]))
}

/** Its own addresses stay: all packed files are in one folder. */
const usePackagePlaces = {
  name: 'package-places',
  setup({ onResolve, onLoad }) {
    const file = join(root, 'server', 'src', 'package-places.ts')
    onResolve({ filter: /\/places\.ts$/ }, () => ({ path: file }))
    onLoad({ filter: /[\\/]package-places\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8'),
    }))
  },
}

const nameCommand = {
  name: 'name-command',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]console[\\/]src[\\/].*\.tsx?$/ }, ({ path }) => ({
      loader: path.endsWith('x') ? 'tsx' : 'ts',
      contents: readFileSync(path, 'utf8').replaceAll('./switchboard ', `${commandOfPackage} `),
    }))
  },
}

/** Times of the builder's files: nobody compares them there, and the same sources should give the same package. */
function forgetSources(file) {
  const { sources: _, ...build } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...build, sources: [] }))
}

/** The licences of the packages in it: most are to be shown with every copy. */
function quoteLicences(inputs) {
  const folders = new Set(inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const file = readdirSync(join(root, folder)).find((one) => /^(?:licen[cs]e|copying)/i.test(one))
    const text = file
      ? readFileSync(join(root, folder, file), 'utf8').trim()
      : `Its package.json names the licence ${license}.`
    return `${name} ${version}\n\n${text}\n`
  })
  return `The server and its console have these packages in them.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
