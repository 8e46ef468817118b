// The few ways that everybody takes; install.long.test.ts has the others.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, afterEach, before, beforeEach, it } from 'node:test'
import { pickCall, root, runCommand, SampleProject, saidOfInstall } from './sample-project.ts'

let template: SampleProject
let project: SampleProject

before(async () => {
  template = await SampleProject.make()
})
after(() => template.remove())
beforeEach(async () => {
  project = await template.copy()
})
afterEach(() => project.remove())

it('installs what is missing, says so once, and runs the command in the folder of the caller', async () => {
  const elsewhere = dirname(project.folder)
  const first = await runCommand(project.path('switchboard'), ['a', 'b c', ''], elsewhere)
  assert.match(first.stderr, saidOfInstall('first start'))
  assert.deepEqual(pickCall(first), { arguments: ['a', 'b c', ''], folder: elsewhere })
  assert.ok(project.has('node'))
  assert.ok(!project.has('tool'))
  assert.ok(!existsSync(project.path('.installing')))
  const second = await runCommand(project.path('switchboard'), ['a'], elsewhere)
  assert.equal(second.stderr, '')
})

it('runs through the links that a plain npm ci made, and installs nothing again', async () => {
  await project.npm('ci')
  const calls = ['node_modules/.bin/switchboard', 'node_modules/@switchboard/server/bin/switchboard', './switchboard']
  for (const command of calls) {
    const { code, stdout, stderr } = await runCommand(command, ['x'], project.folder)
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, command)
    assert.deepEqual(pickCall({ code, stdout, stderr }), { arguments: ['x'], folder: project.folder })
  }
  assert.deepEqual(await project.install(['--all']), { code: 0, stdout: '', stderr: '' })
})

it('compiles the server under the flags that ./switchboard runs it with: under others it would be of no use', async () => {
  const launcher = await readFile(join(root, 'switchboard'), 'utf8')
  const used = /^exec "\$modules\/\.bin\/node" (.+) "\$root\/server/m.exec(launcher)?.[1]
  const source = await readFile(join(root, 'scripts/install.mjs'), 'utf8')
  const compiledUnder = /^const launcherFlags = \[(.+)\]/m.exec(source)?.[1]
  assert.ok(used)
  assert.equal(compiledUnder?.replaceAll(/[',]/g, ''), used)
})
