import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = dirname(dirname(import.meta.dirname))

/** Bundles a program as for a browser. */
async function bundle(program: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: join(root, 'sdk'), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    absWorkingDir: root,
  })
  const text = outputFiles[0]?.text ?? ''
  const [output] = Object.values(metafile.outputs)
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return { text, inputs: inputs.map(([path]) => path).sort() }
}

describe('the size of the client', () => {
  test('the size of the client is at most 25 kB for all of it, minified and compressed', async () => {
    const { text } = await bundle("import * as all from '@switchboard/client'; console.log(all)")
    const size = gzipSync(text, { level: 9 }).length
    assert.ok(size <= 25_000, `${size} bytes`)
  })

  test('the size of the client is the core for one method alone', async () => {
    const program = `import { Client, messagesSend } from '@switchboard/client/methods'
      await messagesSend(new Client({ token: 't' }), '1', { to: '2', text: { body: 'Hi' } })`
    const { text, inputs } = await bundle(program)
    const others = inputs.filter((path) => path !== '<stdin>' && !path.startsWith('sdk/src/core/'))
    assert.deepEqual(others, ['sdk/src/generated/constants.ts', 'sdk/src/generated/messages.ts'])
    assert.ok(!text.includes('block_users'), 'not even the other methods of its group')
    assert.ok(!inputs.some((path) => /core\/(list|stream|events)/.test(path)), 'nor lists and streams')
    const size = gzipSync(text, { level: 9 }).length
    assert.ok(size <= 5_050, `${size} bytes`)
  })
})

describe('imports', () => {
  const list = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(root, folder, file))
  const importsOf = (file: string) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'\n]*?from '([^']+)'|^import '([^']+)'/gm)].map(
      ([, from, alone]) => from ?? alone ?? '',
    )

  test('the client imports nothing but itself; only its entry for Node knows Node', () => {
    for (const file of list('sdk/src')) {
      const foreign = importsOf(file).filter((name) => !name.startsWith('.'))
      const mayKnowNode = relative(root, file) === 'sdk/src/node.ts'
      assert.deepEqual(
        foreign.filter((name) => !(mayKnowNode && name.startsWith('node:'))),
        [],
        file,
      )
    }
  })

  test('nothing imports the server, and of the server only the command line imports the client', () => {
    for (const file of [...list('sdk/src'), ...list('sdk/test'), ...list('testing/src'), ...list('testing/test')]) {
      const names = importsOf(file).filter((name) => /@switchboard\/server|(^|\/)server\//.test(name))
      // What tests wait with, the browser and the forms are nothing of the server.
      assert.deepEqual(
        names.filter((name) => !/^\.\.\/\.\.\/server\/test\/harness\/(?:browser|form|until)\.ts$/.test(name)),
        [],
        file,
      )
    }
    for (const file of list('server/src')) {
      if (relative(root, file).startsWith('server/src/cli/')) continue
      assert.deepEqual(
        importsOf(file).filter((name) => name.startsWith('@switchboard/')),
        [],
        file,
      )
    }
  })
})
