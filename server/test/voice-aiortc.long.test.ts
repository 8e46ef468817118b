import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { installPackage, takePort } from './harness/cluster/programs.ts'
import { ada, number } from './harness/console-page.ts'
import { until } from './harness/until.ts'
import { loopback } from './harness/voice-commands.ts'
import { VoiceWorld } from './harness/voice-world.ts'

const script = new URL('harness/aiortc-agent.py', import.meta.url).pathname
/** Debian's own: its packages are for no other one. */
const python = '/usr/bin/python3'
const library = '/usr/lib/python3/dist-packages/aiortc'

async function startAiortc(t: TestContext, url: string, user?: string) {
  const args = [script, url, 'demo-token', number, String(await takePort()), ...(user === undefined ? [] : [user])]
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { text: '', isOver: false }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.text += String(chunk)
    })
  }
  child.once('close', () => {
    output.isOver = true
  })
  t.after(() => child.kill('SIGKILL'))
  const whenReported = async (event: string) => {
    const find = () =>
      output.text
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line))
        .find((one) => one.event === event)
    await until(
      () => find() !== undefined || output.isOver,
      () => `${event} is reported: ${output.text}`,
    )
    const found = find()
    assert.ok(found, output.text)
    return found
  }
  await whenReported('ready')
  return { whenReported, text: () => output.text }
}

const endingOf = (stdout: string) => {
  const line = stdout.split('\n').find((one) => one.includes('"event":"ended"'))
  assert.ok(line !== undefined, stdout)
  return JSON.parse(line)
}

test('an agent on another stack and a phone without a browser hear each other', async (t) => {
  if (!existsSync(library)) await installPackage('python3-aiortc python3-aiohttp')
  if (!existsSync(library)) {
    t.diagnostic("aiortc was not tried: only root can install Debian's python3-aiortc and python3-aiohttp")
    assert.equal(process.env['CI'], undefined)
    return
  }
  const world = await VoiceWorld.start(t, { SDP_STRICT: 'on' })
  await world.permitCalls()
  const tone = await world.makeTone(660, 3)

  await t.test('it takes the call of a user', async (t) => {
    const agent = await startAiortc(t, world.server.url)
    const { code, stdout, stderr } = await world.callNumber('--audio', tone, '--expect-sound')
    assert.equal(code, 0, stderr + stdout + agent.text())
    const { heard, call_id } = endingOf(stdout)
    assert.ok(Math.abs(heard.hz - 523) <= 5, stdout)
    const { hz } = await agent.whenReported('ended')
    assert.ok(Math.abs(hz - 660) <= 5, agent.text())
    const { findings } = await world.doors.read(call_id)
    // This version has no keys.
    assert.deepEqual(
      findings.map((finding) => finding.code).filter((finding) => finding !== 'no_dtmf'),
      [],
    )
  })

  await t.test('it calls a user', async (t) => {
    const agent = await startAiortc(t, world.server.url, ada)
    const { call_id } = await agent.whenReported('call')
    const answer = ['simulate', 'call', '--answer', call_id, '--audio', tone, '--expect-sound', '--json', ...loopback]
    const { code, stdout, stderr } = await world.run(answer)
    assert.equal(code, 0, stderr + stdout + agent.text())
    assert.ok(Math.abs(endingOf(stdout).heard.hz - 523) <= 5, stdout)
    const { hz } = await agent.whenReported('ended')
    assert.ok(Math.abs(hz - 660) <= 5, agent.text())
  })
})
