import assert from 'node:assert/strict'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkTypes, makeProject, type Project, packWorkspaces, root, runFile } from '../../sdk/test/harness-pack.ts'

/** Both packages from their tarballs, in a project that has nothing else, on every Node that they are for. */
describe('the packed client and testing library', () => {
  let packed: { folder: string; tarballs: string[] }
  let project: Project
  const env = { ...process.env, SWITCHBOARD_COMMAND: join(root, 'switchboard') }

  before(async () => {
    packed = await packWorkspaces(['sdk', 'testing'])
    project = await makeProject(packed.tarballs, ['--offline'])
  })
  after(async () => {
    await project.remove()
    await rm(packed.folder, { recursive: true, force: true })
  })

  const program = `
    import { createSwitchboard } from '@switchboard/testing'
    const sb = await createSwitchboard()
    const phone = sb.user('16505551234')
    await phone.write(sb.number, 'Hi')
    await sb.waitForEvent({ field: 'messages', kind: 'text' })
    await sb.client.messages.send(sb.number, { to: phone.wa_id, text: { body: 'Hello' } })
    const { type } = await phone.waitForMessage({ text: 'Hello' })
    await sb.close()
    console.log(type, process.versions.node)
  `

  for (const major of ['20', '22', '24']) {
    test(`the packed client and testing library run on Node ${major}`, async () => {
      const place = join(project.folder, `node-${major}`)
      await mkdir(place)
      await writeFile(join(place, 'package.json'), '{ "private": true }')
      await runFile('npm', ['install', '--loglevel=error', '--no-audit', '--no-fund', `node@${major}`], { cwd: place })
      await project.write('program.js', program)
      const { stdout } = await runFile(join(place, 'node_modules/.bin/node'), ['program.js'], {
        cwd: project.folder,
        env,
      })
      assert.match(stdout, new RegExp(`^text ${major}\\.`))
    })
  }

  test('the packed client and testing library prepare the demo world anew when the clone has another one', async () => {
    const clone = join(project.folder, 'clone')
    await mkdir(join(clone, 'worlds'), { recursive: true })
    const command = join(clone, 'switchboard')
    const log = join(clone, 'log')
    await writeFile(command, `#!/bin/sh\necho "$1" >> '${log}'\nexec '${root}/switchboard' "$@"\n`, { mode: 0o755 })
    await project.write('program.js', program)
    const starts: number[] = []
    for (const demo of ['# one', '# one', '# another']) {
      await writeFile(join(clone, 'worlds/demo.yaml'), demo)
      await writeFile(log, '')
      await runFile(process.execPath, ['program.js'], {
        cwd: project.folder,
        env: { ...env, SWITCHBOARD_COMMAND: command },
      })
      starts.push((await readFile(log, 'utf8')).trim().split('\n').length)
    }
    assert.deepEqual(starts, [2, 1, 2])
  })

  test('the packed client and testing library have types that fit, and nothing skipped', async () => {
    for (const name of ['@types/node', 'undici-types']) {
      await cp(join(root, 'node_modules', name), join(project.folder, 'node_modules', name), { recursive: true })
    }
    await project.write('program.ts', program)
    await checkTypes(project.folder, { lib: ['es2022'], types: ['node'] })
  })
})
