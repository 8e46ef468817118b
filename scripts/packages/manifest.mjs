// What stands in the package.json of a package, made of the one of its workspace. Within this clone a workspace is used as it is
// written, in TypeScript, so its exports name sources. A package has JavaScript and types, so its exports name what is built; and it has
// what `publishConfig` says of it.

export function describePublished(text) {
  const { exports: sources, scripts: _scripts, devDependencies: _dev, publishConfig, ...same } = JSON.parse(text)
  const exports = Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, describeBuilt(file)]))
  const published = { ...same, ...publishConfig, ...describeForOldCompilers(exports), exports }
  // An empty list says that the packages are in what was built.
  if (Object.keys(published.dependencies ?? {}).length === 0) delete published.dependencies
  return published
}

/**
 * `./src/index.ts` → what was built of it, in both forms; a file that is no source stays as it is. A Node that can `require` an ES module
 * is led to the ES module by `module-sync`, so that a process has one copy of each class, however it is imported.
 */
function describeBuilt(file) {
  if (!file.startsWith('./src/')) return file
  const name = file.replace('./src/', '').replace(/\.ts$/, '')
  const describe = (folder) => ({ types: `${folder}/${name}.d.ts`, default: `${folder}/${name}.js` })
  return { 'module-sync': describe('./dist'), require: describe('./dist/cjs'), default: describe('./dist') }
}

/** The same for compilers that do not know `exports`, as TypeScript with `moduleResolution: node10`, which ts-jest often has. */
function describeForOldCompilers({ '.': main, ...others }) {
  if (main === undefined) return {}
  const types = Object.entries(others).map(([name, { require }]) => [name.slice(2), [require.types]])
  return { main: main.require.default, types: main.require.types, typesVersions: { '*': Object.fromEntries(types) } }
}
