import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSoundFile } from '@switchboard/voice'
import { LoudestSecond } from '../../voice/src/sound/loudest-second.ts'
import type { Finished, RunningServer } from './harness/command.ts'
import { ada, number } from './harness/console-page.ts'
import { loopback, readEvents, whenHappened } from './harness/voice-commands.ts'
import { VoiceWorld } from './harness/voice-world.ts'

/** What a finished command with sound has reported. */
function eventsOf({ stdout }: Finished) {
  return readEvents({ stdout: () => stdout })
}

function endingOf(finished: Finished) {
  const ended = eventsOf(finished).find((event) => event.event === 'ended')
  assert.ok(ended?.event === 'ended', finished.stdout + finished.stderr)
  return ended
}

function isNear(hz: number | null, expected: number): boolean {
  return hz !== null && Math.abs(hz - expected) <= 5
}

async function measureFile(path: string) {
  const samples = await readSoundFile(path)
  const loudest = new LoudestSecond()
  loudest.add(samples, 0)
  return { ...loudest.measure(), seconds: samples.length / 48_000, samples }
}

/** The number of packets of 20 ms in which nothing sounds. */
function countSilence(samples: Int16Array): number {
  let silent = 0
  for (let at = 0; at + 960 <= samples.length; at += 960) {
    if (samples.subarray(at, at + 960).every((sample) => Math.abs(sample) < 300)) silent += 1
  }
  return silent
}

async function stopInTime(command: RunningServer, signal: NodeJS.Signals): Promise<Finished> {
  const began = performance.now()
  const finished = await command.stop(signal)
  const took = performance.now() - began
  assert.ok(took < 2000, `it ended after ${took} ms`)
  assert.equal(finished.code, 0, finished.stderr)
  return finished
}

test('a phone without a browser and an agent of every mode hear each other', async (t) => {
  const world = await VoiceWorld.start(t, { SDP_STRICT: 'on' })
  const tone = await world.makeTone(660)

  for (const { mode, expected } of [
    { mode: ['tone', '--hz', '523'], expected: 523 },
    { mode: ['beep', '--hz', '880'], expected: 880 },
    { mode: ['echo'], expected: 660 },
    { mode: ['record'], expected: null },
  ]) {
    await t.test(mode.join(' '), async () => {
      const agent = await world.startAgent(...mode, '--record', world.path('agent.ogg'))
      const said = ['--audio', tone, '--record', world.path('user.ogg'), '--dtmf', '42#', '--expect-sound']
      const finished = await world.callNumber(...said)
      const ended = endingOf(finished)
      assert.equal(ended.by, 'user')
      const own = await whenHappened(agent, 'ended')
      assert.equal(own.by, 'user')
      assert.ok(isNear(own.heard.hz, 660), JSON.stringify(own))
      assert.ok(isNear((await measureFile(world.path('agent.ogg'))).hz, 660))
      const keys = readEvents(agent).flatMap((event) => (event.event === 'dtmf' ? [event.key] : []))
      assert.deepEqual(keys, ['4', '2', '#'])
      const heard = await measureFile(world.path('user.ogg'))
      if (expected === null) {
        assert.equal(finished.code, 1)
        assert.match(finished.stderr, /^heard silence/)
        assert.equal(ended.heard.hz, null)
        assert.equal(heard.hz, null)
      } else {
        assert.equal(finished.code, 0, finished.stderr)
        assert.ok(isNear(ended.heard.hz, expected), JSON.stringify(ended))
        assert.ok(isNear(heard.hz, expected), JSON.stringify(heard.hz))
      }
      assert.deepEqual((await world.doors.read(ended.call_id)).findings, [])
      await stopInTime(agent, 'SIGTERM')
    })
  }

  await t.test('the same key twice is two keys', async () => {
    const agent = await world.startAgent('echo')
    assert.equal((await world.callNumber('--dtmf', '1112')).code, 0)
    await whenHappened(agent, 'ended')
    const keys = readEvents(agent).flatMap((event) => (event.event === 'dtmf' ? [event.key] : []))
    assert.deepEqual(keys, ['1', '1', '1', '2'])
    await agent.stop('SIGTERM')
  })

  await t.test('packets that were left out are lost, and silent in the recording', async () => {
    const agent = await world.startAgent('record', '--record', world.path('gaps.ogg'))
    const finished = await world.callNumber('--audio', tone, '--loss', '10', '--for', '6s')
    const sent = endingOf(finished).sent.packets
    const { heard } = await whenHappened(agent, 'ended')
    // The first may come before the agent can read it, the last behind the end of the call.
    assert.ok(heard.packets <= sent && heard.packets >= sent - 10, `${sent} sent: ${JSON.stringify(heard)}`)
    // Ten of each hundred; those at an end may be any of theirs.
    const all = heard.packets + heard.lost
    assert.ok(Math.abs(heard.lost - all / 10) <= 10 && heard.lost > 10, JSON.stringify(heard))
    const { hz, seconds, samples } = await measureFile(world.path('gaps.ogg'))
    assert.ok(isNear(hz, 660))
    // A phone that comes to nothing for half a second says less: then there is more silence.
    const never = Math.round(seconds * 50) - all
    assert.ok(never >= 0, `${seconds} s of ${all} packets`)
    const silent = countSilence(samples)
    assert.ok(
      silent > 0 && silent <= heard.lost + never + 5,
      `${silent} silent packets, ${heard.lost} lost, ${never} not said`,
    )
    await agent.stop('SIGTERM')
  })

  await t.test('two calls at once have a recording each', async () => {
    const agent = await world.startAgent('tone', '--record', world.path('heard.ogg'))
    const other = await world.makeTone(990)
    const to = ['simulate', 'call', '--to', number, '--from', '16505551235', ...loopback, '--json']
    const [first, second] = await Promise.all([
      world.callNumber('--audio', tone, '--for', '3s'),
      world.run([...to, '--audio', other, '--for', '3s']),
    ])
    for (const finished of [first, second]) assert.ok(isNear(endingOf(finished).heard.hz, 440))
    await whenHappened(agent, 'ended', 1)
    const heard = await Promise.all(['heard.ogg', 'heard-2.ogg'].map((name) => measureFile(world.path(name))))
    const found = heard.map(({ hz }) => hz ?? 0).sort((one, another) => one - another)
    assert.ok(isNear(found[0] ?? 0, 660) && isNear(found[1] ?? 0, 990), JSON.stringify(found))
    await agent.stop('SIGTERM')
  })
})

test('an agent calls a user', async (t) => {
  const world = await VoiceWorld.start(t, { CALL_RING_TIME: '15s', SDP_STRICT: 'on' })
  const tone = await world.makeTone(660)
  const call = async () => {
    const agent = await world.startAgent('tone', '--hz', '523', '--call', ada)
    return { agent, id: (await whenHappened(agent, 'call')).call_id }
  }

  await t.test('without permission it says why', async () => {
    await world.permitCalls('denied')
    const args = ['agent', 'tone', '--number', number, '--call', ada, ...loopback]
    const { code, stderr } = await world.run(args)
    assert.equal(code, 1)
    assert.match(stderr, /permission/)
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
  })

  await world.permitCalls()
  await t.test('a phone that takes the call hears it', async () => {
    const { agent, id } = await call()
    const answer = ['simulate', 'call', '--answer', id, '--audio', tone, '--json', ...loopback]
    const finished = await world.run(answer)
    assert.equal(finished.code, 0, finished.stderr)
    assert.ok(isNear(endingOf(finished).heard.hz, 523))
    assert.equal(endingOf(finished).by, 'user')
    const own = await agent.ended
    assert.equal(own.code, 0, own.stderr)
    assert.ok(isNear(endingOf(own).heard.hz, 660))
    assert.equal(endingOf(own).by, 'user')
  })

  await t.test('the agent hangs up', async () => {
    const { agent, id } = await call()
    const phone = await world.startPhone([
      'simulate',
      'call',
      '--answer',
      id,
      '--audio',
      tone,
      '--for',
      '60s',
      '--json',
      ...loopback,
    ])
    await whenHappened(phone, 'connected')
    await whenHappened(agent, 'connected')
    const own = await stopInTime(agent, 'SIGINT')
    assert.equal(endingOf(own).by, 'business')
    const finished = await phone.ended
    assert.equal(finished.code, 0, finished.stderr)
    assert.equal(endingOf(finished).by, 'business')
  })

  await t.test('the agent is stopped while it rings', async () => {
    const { agent, id } = await call()
    await stopInTime(agent, 'SIGTERM')
    assert.equal((await world.doors.read(id)).state, 'ended')
  })

  await t.test('declined and not taken calls end with 1', async () => {
    const declined = await call()
    await world.gateway(`calls/${declined.id}`, { action: 'reject' })
    const { code, stderr } = await declined.agent.ended
    assert.equal(code, 1)
    assert.match(stderr, /did not take the call/)
    const unheard = await call()
    assert.equal((await unheard.agent.ended).code, 1)
  })
})
