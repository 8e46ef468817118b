// Writes the built files of a package once more as CommonJS, file by file, in a folder whose package.json says what they are: for
// programs that can only `require`, such as tests of Jest without --experimental-vm-modules.
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformSync } from 'esbuild'

export function writeCommonJs(dist) {
  const target = join(dist, 'cjs')
  for (const file of globSync('**/*.{js,d.ts}', { cwd: dist })) {
    const path = join(target, file)
    mkdirSync(dirname(path), { recursive: true })
    if (file.endsWith('.d.ts')) cpSync(join(dist, file), path)
    else writeFileSync(path, toCommonJs(readFileSync(join(dist, file), 'utf8')))
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n')
}

function toCommonJs(text) {
  const knowsItsPlace = text.includes('import.meta.url')
  const { code } = transformSync(text, {
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    // Jest has no import() in CommonJS.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'importMetaUrl' },
  })
  return `${knowsItsPlace ? 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href\n' : ''}${code}`
}
