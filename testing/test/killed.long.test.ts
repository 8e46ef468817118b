import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, readdirSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'

/** A test that uses everything, and closes nothing; `settings` are those of `createSwitchboard`. */
const forgetful = (settings: object) => `
  import { test } from 'node:test'
  import { createSwitchboard } from '@switchboard/testing'
  test('forgets to close', async () => {
    const sb = await createSwitchboard(${JSON.stringify(settings)})
    const phone = sb.user('16505551234')
    await phone.write(sb.number, 'Hi')
    await sb.waitForEvent({ field: 'messages', kind: 'text' })
    await sb.client.messages.send(sb.number, { to: phone.wa_id, text: { body: 'Hello' } })
    await phone.waitForMessage({ text: 'Hello' })
    process.stdout.write(\`at \${sb.url}\\n\`)
    // Whoever started this has seen the server.
    await new Promise((resolve) => process.stdin.once('data', resolve))
    process.stdin.destroy()
  })
`

describe('a test that does not close its server', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-forgetful-'))
    await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** Runs a test file until its server was seen. */
  async function begin(text: string): Promise<{ child: ChildProcess; url: string; ended: Promise<unknown[]> }> {
    const file = join(folder, `${Math.random()}.mjs`)
    await writeFile(file, text)
    // It is a run of its own, not a part of this one.
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    let output = ''
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`it ended before:\n${output}`)))
      child.stdout.on('data', (chunk) => {
        output += chunk
        const found = /^at (\S+)$/m.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    return { child, url, ended }
  }

  const listFolders = ({ pid }: ChildProcess) =>
    readdirSync(join(tmpdir(), `switchboard-testing-${process.getuid?.()}`)).filter((name) =>
      name.startsWith(`run-${pid}-`),
    )

  /** The system closes the connection when the process of the server is gone. */
  async function watchServer(url: string): Promise<Promise<unknown>> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    return once(socket, 'close')
  }

  for (const [what, end] of [
    ['was killed', (child: ChildProcess) => child.kill('SIGKILL')],
    ['is done', (child: ChildProcess) => child.stdin?.write('go on\n')],
  ] as const) {
    test(`a test that does not close its server ends with its server when it ${what}, and leaves nothing behind`, async () => {
      const { child, url, ended } = await begin(forgetful({}))
      assert.equal(listFolders(child).length, 1)
      const gone = watchServer(url)
      end(child)
      assert.deepEqual(await ended, what === 'is done' ? [0, null] : [null, 'SIGKILL'])
      await gone
      assert.deepEqual(listFolders(child), [])
    })
  }

  test('a test that does not close its server leaves nothing behind when it was killed while the store of its world was prepared', async () => {
    // The pipe has an end when the process of the server is gone.
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const command = join(folder, 'switchboard')
    const real = join(import.meta.dirname, '../../switchboard')
    const lines = ['#!/bin/sh', `[ "$1" = serve ] && exec 3>'${pipe}' && echo begun >&3`, `exec '${real}' "$@"`]
    await writeFile(command, lines.join('\n'), { mode: 0o755 })
    const file = join(folder, 'prepares.mjs')
    const text = `import { createSwitchboard } from '@switchboard/testing'\nawait createSwitchboard({ command: '${command}' })`
    await writeFile(file, text)
    const child = spawn(process.execPath, [file], { cwd: folder, stdio: 'ignore' })
    const ended = once(child, 'exit')
    const server = createReadStream(pipe)
    await once(server, 'data')
    child.kill('SIGKILL')
    await Promise.all([ended, once(server, 'end')])
    const base = join(tmpdir(), `switchboard-testing-${process.getuid?.()}`)
    assert.deepEqual(
      readdirSync(base).filter((name) => name.startsWith(`new-${child.pid}-`)),
      [],
    )
  })

  test('a test that does not close its server leaves a server that was there before as it was', async () => {
    const host: TestSwitchboard = await createSwitchboard()
    try {
      const { url, operatorToken, gatewayToken } = host
      const before = await describeHost(host)
      const { child, ended } = await begin(forgetful({ url, operatorToken, gatewayToken }))
      child.stdin?.write('go on\n')
      assert.deepEqual(await ended, [0, null])
      assert.deepEqual(await describeHost(host), before)
    } finally {
      await host.close()
    }
  })
})

async function describeHost({ client }: TestSwitchboard): Promise<object> {
  const links = (await client.webhooks.linkedApps.list('1000000000000001')).data
  return { links: links.map((link) => JSON.stringify(link)).sort(), snapshots: await client.sandbox.snapshots.list() }
}
