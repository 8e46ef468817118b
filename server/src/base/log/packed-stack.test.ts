import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { nameSources } from './packed-stack.ts'

const packs = [
  { of: 'a clone', name: 'node_modules/.packed/1', source: '../../../server/src/a.ts', named: 'server/src/a.ts' },
  {
    of: 'the package',
    name: 'node_modules/@switchboard/server/dist',
    source: '../src/a.ts',
    named: 'node_modules/@switchboard/server/src/a.ts',
  },
]

for (const pack of packs)
  test(`stacks name the sources of packed files of ${pack.of}, and stay as they are where there is no map`, async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(root, { recursive: true }))
    const folder = join(root, pack.name)
    await mkdir(folder, { recursive: true })
    const map = { version: 3, sources: [pack.source], names: [], mappings: 'AAAA;AACA' }
    await writeFile(join(folder, 'run.js.map'), JSON.stringify(map))
    const place = (name: string) => `${pathToFileURL(join(folder, name)).href}:2:1`
    const stack = ['Error: no', `    at run (${place('run.js')})`, `    at ${place('other.js')}`, '    at node:net:1:1']
    const source = `${pathToFileURL(join(root, pack.named)).href}:2:1`
    const named = ['Error: no', `    at run (${source})`, `    at ${place('other.js')}`, '    at node:net:1:1']
    assert.equal(nameSources(stack.join('\n')), named.join('\n'))
    assert.equal(nameSources('Error: no\n    at node:net:1:1'), 'Error: no\n    at node:net:1:1')
  })
