// The tarball of the server, without and with the package of voice beside it. It takes npm's registry, or its cache.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { readSoundFile, type VoiceEvent } from '@switchboard/voice'
import { makeProject, type Project, packWorkspaces, runFile } from '../../sdk/test/harness-pack.ts'
import { writeTone } from '../../testing/test/tones.ts'
import { findFrequency } from '../../voice/src/sound/frequency.ts'
import { number } from './harness/console-page.ts'
import { loopback } from './harness/voice-commands.ts'

describe('the installed server and calls with sound', () => {
  let packed: { folder: string; tarballs: string[] }
  let home: string

  before(async () => {
    packed = await packWorkspaces(['sdk', 'server', 'voice'])
    home = await mkdtemp(join(tmpdir(), 'switchboard-home-'))
  })
  after(async () => {
    for (const folder of [packed.folder, home]) await rm(folder, { recursive: true, force: true })
  })

  const tarballOf = (name: string) => packed.tarballs.find((path) => path.includes(name)) ?? assert.fail(name)

  async function install(t: TestContext, tarballs: readonly string[]): Promise<Project> {
    const project = await makeProject(tarballs)
    t.after(() => project.remove())
    return project
  }

  const environment = () => ({ PATH: process.env['PATH'] ?? '', HOME: home, XDG_RUNTIME_DIR: home })
  const launcher = 'node_modules/@switchboard/server/bin/switchboard.mjs'

  /** Runs a command of the package until the test ends; resolves when it has printed what is awaited. */
  async function start(t: TestContext, project: Project, args: readonly string[], ready: RegExp) {
    const child: ChildProcess = spawn(process.execPath, [launcher, ...args], {
      cwd: project.folder,
      env: environment(),
    })
    const closed = once(child, 'close')
    t.after(async () => {
      child.kill('SIGTERM')
      await closed
    })
    let text = ''
    const found = await new Promise<string>((resolve, reject) => {
      const note = (chunk: unknown) => {
        text += chunk
        const match = ready.exec(text)
        if (match) resolve(match[1] ?? '')
      }
      child.stdout?.on('data', note)
      child.stderr?.on('data', note)
      child.once('close', () => reject(new Error(`${args[0]} ended: ${text}`)))
    })
    const stop = async () => {
      child.kill('SIGTERM')
      return closed
    }
    return { found, stop, said: () => text }
  }

  const startServer = (t: TestContext, project: Project) =>
    start(t, project, ['serve', '--port', '0'], /^switchboard listening on (\S+)$/m)

  test('the tarball of the server has no part of voice in it', async () => {
    const bytes = gunzipSync(await readFile(tarballOf('server')))
    assert.ok(bytes.includes('fastify'), 'the test reads what is in it')
    for (const name of ['werift', 'opus_decode', '@evan/opus']) assert.ok(!bytes.includes(name), name)
  })

  test('the installed server says what to install for calls with sound where it is missing', async (t) => {
    const project = await install(t, [tarballOf('server')])
    const { found: url } = await startServer(t, project)
    const commands = [
      ['agent', 'echo', '--number', number],
      ['simulate', 'call', '--to', number, '--from', '16505551234', '--for', '1s', '--record', 'heard.ogg'],
      ['serve', '--role', 'media', '--port', '0', '--token', 'demo-gateway-token'],
    ]
    for (const command of commands) {
      const args = [launcher, ...command, '--url', url]
      await assert.rejects(
        runFile(process.execPath, args, { cwd: project.folder, env: environment() }),
        ({ code, stderr }) => {
          assert.equal(
            stderr,
            'switchboard: calls with sound need the package @switchboard/voice, which is not installed: npm install @switchboard/voice beside @switchboard/server\n',
          )
          return code === 1
        },
      )
    }
  })

  test('the installed server has agents and phones with sound where voice is installed beside it', async (t) => {
    const project = await install(t, packed.tarballs)
    await writeFile(join(project.folder, 'hello.wav'), writeTone(440, 2))
    const { found: url } = await startServer(t, project)
    const at = ['--url', url, '--json', ...loopback]
    const record = ['agent', 'record', '--record', 'heard.ogg', '--number', number]
    const agent = await start(t, project, [...record, ...at], /"event":"(ready)"/)
    const call = ['simulate', 'call', '--to', number, '--from', '16505551234', '--audio', 'hello.wav']
    const { stdout } = await runFile(process.execPath, [launcher, ...call, ...at], {
      cwd: project.folder,
      env: environment(),
    })
    assert.match(stdout, /"event":"connected"/)
    assert.deepEqual((await agent.stop())[0], 0, agent.said())
    const events: VoiceEvent[] = agent
      .said()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const ended = events.find((event) => event.event === 'ended')
    assert.ok(ended?.event === 'ended', agent.said())
    assert.ok(Math.abs((ended.heard.hz ?? 0) - 440) <= 5, agent.said())
    const sound = await readSoundFile(join(project.folder, 'heard.ogg'))
    assert.ok(Math.abs(findFrequency(sound) - 440) <= 5)
  })
})
