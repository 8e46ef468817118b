// What stands in the package.json of a package, made of the one of its workspace. Within this clone a workspace is used as it is
// written, in TypeScript, so its exports name sources. A package has JavaScript and types, so its exports name what is built; and it has
// what `publishConfig` says of it.

export function describePublished(text) {
  const { exports: sources, scripts: _scripts, devDependencies: _dev, publishConfig, ...same } = JSON.parse(text)
  const exports = Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, describeBuilt(file)]))
  const published = { ...same, ...publishConfig, exports }
  // An empty list says that the packages are in what was built.
  if (Object.keys(published.dependencies ?? {}).length === 0) delete published.dependencies
  return published
}

/** `./src/index.ts` → what was built of it; a file that is no source stays as it is. */
function describeBuilt(file) {
  if (!file.startsWith('./src/')) return file
  const built = file.replace('./src/', './dist/').replace(/\.ts$/, '')
  return { types: `${built}.d.ts`, default: `${built}.js` }
}
