import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { test } from 'node:test'

const project = resolve(import.meta.dirname, '../..')
const root = resolve(project, 'server/src')

/** Imports point one way: a part may use those before it in this list, and parts of one line never each other. */
const layers: readonly (readonly string[])[] = [
  ['base'],
  ['db'],
  ['telemetry'],
  ['stream'],
  ['timers'],
  ['files', 'processes'],
  ['sandbox'],
  ['graph'],
  ['world-part'],
  ['auth', 'limits'],
  ['egress'],
  ['carrier', 'delivery', 'replies'],
  ['places.ts'],
  ['package-places.ts'],
  ['chapter.ts'],
  ['resources'],
  ['operations.ts', 'settings', 'version.ts'],
  ['config.ts'],
  ['http'],
  ['doors', 'site', 'world'],
  ['errors.ts'],
  ['app'],
  ['app.ts'],
  ['cli'],
  ['packed.js'],
  ['main.js'],
]

interface Import {
  readonly from: string
  readonly to: string
}

function readImports(folder = root): Import[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.[jt]sx?$/.test(file) && !file.endsWith('.test.ts'),
  )
  return files.flatMap((file) => {
    const text = readFileSync(resolve(folder, file), 'utf8')
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target]) => ({
      from: file,
      to: relative(folder, resolve(folder, dirname(file), target as string)),
    }))
  })
}

function layerOf(file: string): number {
  const part = file.split('/')[0] as string
  const layer = layers.findIndex((parts) => parts.includes(part))
  assert.notEqual(layer, -1, `${file} is in no layer: give ${part} its place in this test`)
  return layer
}

/** What the pages of the server and the console have in common: data, and scripts that know neither. */
const sharedWithConsole = '../../console/shared/'

/** `settings/` takes types and constants of the parts that it configures, and is itself taken by those above it. */
function breaksTheRule({ from, to }: Import): boolean {
  if (to.startsWith('../')) return !(from.startsWith('site/') && to.startsWith(sharedWithConsole))
  const [fromLayer, toLayer] = [layerOf(from), layerOf(to)]
  if (from.split('/')[0] === to.split('/')[0]) return false
  return toLayer >= fromLayer
}

test('imports point one way', () => {
  const imports = readImports()
  assert.ok(imports.length > 50, 'the test reads the imports')
  assert.deepEqual(imports.filter(breaksTheRule), [])
})

test('nothing in console/ imports another workspace but by its package', () => {
  const leavesConsole = ({ to }: Import) => to.startsWith('../')
  const imports = readImports(resolve(project, 'console'))
  assert.ok(imports.length > 50, 'the test reads the imports')
  assert.deepEqual(imports.filter(leavesConsole), [])
  const outside = relative(resolve(project, 'console'), resolve(root, 'replies/theme.ts'))
  assert.ok(leavesConsole({ from: 'src/main.tsx', to: outside }))
})

/** The first way from a file back to itself, types included; undefined where no file imports itself in the end. */
function findCircle(imports: readonly Import[]): string[] | undefined {
  const byFile = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const { to } of byFile.get(file) ?? []) {
      const circle = visit(to, [...way, file])
      if (circle) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of byFile.keys()) {
    const circle = visit(file, [])
    if (circle) return circle
  }
  return undefined
}

const workspaces = ['server', 'sdk', 'testing', 'voice', 'console']

for (const workspace of workspaces) {
  test(`no file of ${workspace}/ imports itself in the end, not even for a type`, () => {
    const imports = readImports(resolve(project, workspace, 'src'))
    assert.equal(findCircle(imports), undefined)
    const [first] = imports
    assert.ok(first)
    const closed = [...imports, { from: first.to, to: first.from }]
    assert.notEqual(findCircle(closed), undefined, 'the test finds a circle where there is one')
  })
}

/** What each workspace may import of the others, by their packages; what is loaded only when it is needed, and may not be there. */
const knows: Readonly<Record<string, { readonly always: readonly string[]; readonly onDemand: readonly string[] }>> = {
  sdk: { always: [], onDemand: [] },
  voice: { always: ['client'], onDemand: [] },
  testing: { always: ['client'], onDemand: ['voice'] },
  server: { always: ['client'], onDemand: ['voice'] },
  console: { always: ['client'], onDemand: [] },
}

interface PackageImport {
  readonly file: string
  /** Of ours, without its scope. */
  readonly name: string
  readonly form: 'import' | 'import()'
}

/** The imports of our packages in the sources of a workspace. A type of a module that is loaded on demand says so by `import(…)`. */
function readPackageImports(workspace: string): PackageImport[] {
  const folder = resolve(project, workspace, 'src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.[jt]sx?$/.test(file) && !/\.test\.tsx?$/.test(file),
  )
  return files.flatMap((file) => {
    // Examples in comments are programs of others.
    const text = readFileSync(resolve(folder, file), 'utf8').replaceAll(/^ *(?:\/?\*|\/\/).*$/gm, '')
    return [...text.matchAll(/(?:from |import (\()?|import(\())'@switchboard\/([\w-]+)/g)].map(
      ([, spaced, open, name = '']) => ({ file, name, form: (spaced ?? open) ? 'import()' : 'import' }),
    )
  })
}

for (const workspace of workspaces) {
  test(`${workspace}/ imports only the workspaces that it may know, and loads on demand what may not be there`, () => {
    const { always, onDemand } = knows[workspace] ?? { always: [], onDemand: [] }
    const isAllowed = ({ name, form }: PackageImport) =>
      (form === 'import' ? always : [...always, ...onDemand]).includes(name)
    const imports = readPackageImports(workspace)
    assert.deepEqual(
      imports.filter((one) => !isAllowed(one)),
      [],
    )
    assert.deepEqual([...new Set(imports.map(({ name }) => name))].sort(), [...always, ...onDemand].sort())
    const manifest = JSON.parse(readFileSync(resolve(project, workspace, 'package.json'), 'utf8'))
    for (const name of onDemand) {
      assert.deepEqual(manifest.peerDependenciesMeta[`@switchboard/${name}`], { optional: true }, name)
      assert.equal(manifest.dependencies[`@switchboard/${name}`], undefined, name)
    }
  })

  test(`no source of ${workspace}/ imports a file of another workspace`, () => {
    const outside = readImports(resolve(project, workspace, 'src')).filter(
      ({ to }) => to.startsWith('../') && !to.startsWith(sharedWithConsole) && !to.startsWith('../shared/'),
    )
    assert.deepEqual(outside, [])
  })
}

/** Every folder under a root, itself included, with what stands in it; the root is an empty path. */
function readFolders(folder: string): Map<string, string[]> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
  return Map.groupBy(
    files.map(({ parentPath, name }) => resolve(parentPath, name)),
    (file) => relative(folder, dirname(file)),
  )
}

/** The imports between what stands in one folder: a room of it counts as one, with all that is in it. */
function betweenRooms(imports: readonly Import[], folder: string): Import[] {
  const inside = folder === '' ? '' : `${folder}/`
  return imports.flatMap(({ from, to }) => {
    if (!from.startsWith(inside) || !to.startsWith(inside)) return []
    const [room, other] = [from, to].map((file) => file.slice(inside.length).split('/')[0] as string) as [
      string,
      string,
    ]
    return room === other ? [] : [{ from: room, to: other }]
  })
}

/** Chapters use the stores of each other, which is checked below. */
const withoutOrder = new Set(['resources'])

test('imports between the rooms of a folder point one way', () => {
  const imports = readImports()
  const folders = new Set(
    imports.flatMap(({ from }) => from.split('/').map((_, depth, all) => all.slice(0, depth).join('/'))),
  )
  assert.ok(folders.has('delivery') && folders.has('resources/messages'), 'the test finds the folders')
  for (const folder of folders) {
    if (withoutOrder.has(folder)) continue
    assert.equal(findCircle(betweenRooms(imports, folder)), undefined, `the rooms of ${folder || 'server/src'}/`)
  }
})

/** Migrations are a list that grows at its end, and generated files follow the table: nobody looks for a line in either. */
const lists = /(^|\/)(migrations|generated)$/
const widest = 20

for (const workspace of workspaces) {
  test(`no folder of ${workspace}/src has more than ${widest} files beside its tests`, () => {
    const folders = readFolders(resolve(project, workspace, 'src'))
    const wide = [...folders].filter(([folder, files]) => files.length > widest && !lists.test(folder))
    assert.deepEqual(
      wide.map(([folder, files]) => `${folder}: ${files.length}`),
      [],
    )
  })
}

test('doors know no chapter', () => {
  const offenders = readImports().filter(({ from, to }) => from.startsWith('doors/') && to.startsWith('resources/'))
  assert.deepEqual(offenders, [])
})

test("a chapter uses another chapter's store, schemas and public.ts, and its world file another's, never its rules", () => {
  const offenders = readImports().filter(({ from, to }) => {
    const [fromPart, fromChapter, fromFile] = from.split('/')
    const [toPart, toChapter, file] = to.split('/')
    return (
      fromPart === 'resources' &&
      toPart === 'resources' &&
      fromChapter !== toChapter &&
      !['store.ts', 'schemas.ts', 'public.ts'].includes(file ?? '') &&
      !(fromFile === 'world.ts' && file === 'world.ts')
    )
  })
  assert.deepEqual(offenders, [])
})

test('handlers know neither the HTTP server nor SQL', () => {
  const offenders = readdirSync(resolve(root, 'resources'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('rules.ts') || file.endsWith('operations.ts'))
    .filter((file) => /from 'fastify'|\.query\b/.test(readFileSync(resolve(root, 'resources', file), 'utf8')))
  assert.deepEqual(offenders, [])
})

test('only base/environment.ts reads the environment', () => {
  const offenders = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[jt]s$/.test(file) && !file.endsWith('.test.ts') && file !== 'base/environment.ts')
    .filter((file) => readFileSync(resolve(root, file), 'utf8').includes('process.env'))
  assert.deepEqual(offenders, [])
})

test('the tour lists every folder', () => {
  const tour = readFileSync(resolve(project, 'docs/tour.md'), 'utf8')
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const missing = folders.filter(({ name }) => !tour.includes(`\n| \`${name}/\` |`))
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  )
})

test('the tour has a sentence for every room of a folder', () => {
  const tour = readFileSync(resolve(project, 'docs/tour.md'), 'utf8')
  const chapters = readdirSync(resolve(root, 'resources'))
  const rooms = [...readFolders(root).keys()].filter((folder) => folder.includes('/'))
  const missing = rooms
    .map((room) => room.replace(/^resources\//, ''))
    .filter((room) => !chapters.includes(room) && !tour.includes(`\`${room}/\``))
  assert.deepEqual(missing, [])
})
