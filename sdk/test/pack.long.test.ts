import assert from 'node:assert/strict'
import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { checkTypes, makeProject, type Project, packWorkspaces, root, runFile } from './harness-pack.ts'
import { signPost, writePages } from './places.ts'
import { expectSeen, type Given } from './scenario.ts'

/** The packages of programs as they are published, in a project that has nothing else. */
describe('the packed client', () => {
  let packed: { folder: string; tarballs: string[] }
  let project: Project
  const readTarball = async (name: string) => {
    const file = packed.tarballs.find((path) => path.includes(name)) ?? assert.fail(`${name} was not packed`)
    return new Uint8Array(await readFile(file))
  }

  before(async () => {
    packed = await packWorkspaces(['sdk', 'voice', 'testing'])
    project = await makeProject(packed.tarballs, ['--offline'])
  })
  after(async () => {
    await project.remove()
    await rm(packed.folder, { recursive: true, force: true })
  })

  for (const name of ['switchboard-client', 'switchboard-voice', 'switchboard-testing']) {
    test(`the packed client is accepted by publint: ${name}`, async () => {
      const { messages, pkg } = await publint({ pack: { tarball: (await readTarball(name)).buffer }, strict: true })
      assert.deepEqual(
        messages.map((message) => formatMessage(message, pkg)),
        [],
      )
    })

    test(`the packed client is accepted by attw, its types are those of its code: ${name}`, async () => {
      const checked = await checkPackage(createPackageFromTarballData(await readTarball(name)))
      assert.ok(checked.types)
      assert.deepEqual(checked.problems, [])
    })
  }

  test('the packed client has no sources and no tests, nor has voice, and its package.json names what is there', async () => {
    const { exports, scripts, devDependencies } = JSON.parse(
      await readFile(join(project.folder, 'node_modules/@switchboard/client/package.json'), 'utf8'),
    )
    const esm = { types: './dist/index.d.ts', default: './dist/index.js' }
    const commonJs = { types: './dist/cjs/index.d.ts', default: './dist/cjs/index.js' }
    assert.deepEqual(exports['.'], { 'module-sync': esm, require: commonJs, default: esm })
    assert.deepEqual([scripts, devDependencies], [undefined, undefined])
    for (const name of ['client', 'voice', 'testing']) {
      const files = await readdir(join(project.folder, 'node_modules/@switchboard', name), { recursive: true })
      assert.deepEqual(
        files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file)),
        [],
      )
    }
  })

  const program = `
    import { Switchboard, NotFoundError, type WebhookEvent } from '@switchboard/client'
    import { Client, messagesSend } from '@switchboard/client/methods'
    import { makeWebhookHandler } from '@switchboard/client/webhooks'
    const client = new Switchboard({ baseUrl: 'http://127.0.0.1:65009', token: 't', maxRetries: 0 })
    const seen: WebhookEvent[] = []
    makeWebhookHandler({ verifyToken: 'v', secret: 's', onEvent: (event) => seen.push(event) })
    const answer: Promise<{ messages: { id: string }[] }> = client.messages.send('1', { to: '2', text: { body: 'Hi' } })
    await answer.catch((error) => { if (error instanceof NotFoundError) throw error })
    void messagesSend; void Client
  `

  test('the packed client has types that fit a project with the libraries of browsers, and nothing skipped', async () => {
    await project.write('program.ts', program)
    await checkTypes(project.folder, { lib: ['es2022', 'dom', 'dom.iterable'], types: [] })
  })

  test('the packed client has types that fit a project of Node, and nothing skipped', async () => {
    for (const name of ['@types/node', 'undici-types']) {
      await cp(join(root, 'node_modules', name), join(project.folder, 'node_modules', name), { recursive: true })
    }
    const others = `
      import { openFile } from '@switchboard/client/node'
      import type { Phone, SoundCallResult } from '@switchboard/testing'
      import { Agent, type AgentOptions, callWithSound, type IceServers, makeTone } from '@switchboard/voice'
      const iceServers: IceServers = [{ urls: 'stun:127.0.0.1:3478' }]
      const call = (phone: Phone): [Promise<string>, Promise<SoundCallResult>] => [phone.call('1'), phone.call({ for: '5s' })]
      const open = (options: AgentOptions) => Agent.open({ ...options, makeSource: () => makeTone(440), iceServers })
      const result: Promise<SoundCallResult> = callWithSound(client, { with: { to: '1', from: '2' } })
      void [openFile, call, open, result]
    `
    await project.write('program.ts', `${program}${others}`)
    await checkTypes(project.folder, { lib: ['es2022'], types: ['node'] })
  })

  test('the packed client runs', async () => {
    await project.write(
      'run.js',
      `import { Switchboard, APIConnectionError } from '@switchboard/client'
       import { openFile } from '@switchboard/client/node'
       const client = new Switchboard({ baseUrl: 'http://127.0.0.1:65009', token: 't', maxRetries: 0 })
       const file = await openFile('run.js')
       await client.media.upload('1', { file }).catch((error) => {
         if (!(error instanceof APIConnectionError) || !error.isRefused) throw error
         console.log('refused', file.name)
       })`,
    )
    const { stdout, stderr } = await runFile(process.execPath, ['run.js'], { cwd: project.folder })
    assert.equal(stdout, 'refused run.js\n', stderr)
    await project.write(
      'run.cjs',
      `const { Switchboard } = require('@switchboard/client')
       const { makeTone } = require('@switchboard/voice')
       const tone = makeTone(440)
       console.log(typeof Switchboard, tone.next().length > 0)
       tone.close()`,
    )
    // The second as where `require` takes no ES modules.
    for (const flags of [[], ['--no-experimental-require-module']]) {
      const { stdout } = await runFile(process.execPath, [...flags, 'run.cjs'], { cwd: project.folder })
      assert.equal(stdout, 'function true\n', flags.join())
    }
  })

  test('the packed client has types that compilers before TypeScript 5.7 know too', async () => {
    const dist = join(project.folder, 'node_modules/@switchboard/client/dist')
    for (const file of await readdir(dist, { recursive: true })) {
      if (!file.endsWith('.d.ts')) continue
      assert.doesNotMatch(await readFile(join(dist, file), 'utf8'), /\b(?:Uint8Array|Buffer)</, file)
    }
  })

  describe('without Node', () => {
    let sb: TestSwitchboard
    let given: Given
    let expected: object
    before(async () => {
      ;[sb] = await Promise.all([createSwitchboard(), writePages(project)])
      const { url: baseUrl, token, gatewayToken, operatorToken, number } = sb
      const accountId = '1000000000000001'
      given = { baseUrl, token, gatewayToken, operatorToken, number, accountId, post: signPost('shrub-app-secret') }
      expected = expectSeen((await sb.client.phoneNumbers.list(accountId)).data.map(({ id }) => id))
    })
    after(() => sb.close())

    test('the packed client without Node runs in a thread', async () => {
      const thread = new Worker(join(project.folder, 'thread.js'), { workerData: given })
      const seen = await new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
      assert.deepEqual(seen, expected)
    })
  })
})
