import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { APIError } from '@switchboard/client'
import { NothingCame } from '@switchboard/testing'
import { useSwitchboard } from '@switchboard/testing/node'
import { Agent, makeTone, readSoundFile, type VoiceEvent } from '@switchboard/voice'
import { until } from '../../server/test/harness/until.ts'
import { findFrequency } from '../../voice/src/sound/frequency.ts'
import { writeTone } from './tones.ts'

const user = '16505551234'

describe('a call with sound', () => {
  const sb = useSwitchboard()

  /** A voice agent in this process, with a connection of its own; it ends with the test. */
  async function startAgent(t: TestContext, hz = 523): Promise<VoiceEvent[]> {
    const events: VoiceEvent[] = []
    const agent = await Agent.open({
      client: sb.client,
      url: sb.url,
      number: sb.number,
      mode: 'tone',
      makeSource: () => makeTone(hz),
      addresses: ['127.0.0.1'],
      takesCalls: true,
      onEvent: (event) => events.push(event),
    })
    t.after(() => agent.close())
    return events
  }

  async function makeFolder(t: TestContext): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-calls-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  test('a call with sound is heard on both sides, by frequency, and recorded', async (t) => {
    const folder = await makeFolder(t)
    const [audio, record] = [join(folder, 'question.wav'), join(folder, 'answer.ogg')]
    await writeFile(audio, writeTone(440, 1))
    const agent = await startAgent(t, 523)
    const call = await sb.user(user).call({ audio, record, dtmf: '4#', for: '2s' })
    assert.deepEqual([call.connected, call.by, call.problem], [true, 'user', undefined])
    assert.ok(Math.abs((call.heard.hz ?? 0) - 523) <= 5, `${call.heard.hz} Hz`)
    assert.ok(call.sent.packets > 50 && call.heard.packets > 50, JSON.stringify(call))
    assert.ok(Math.abs(findFrequency(await readSoundFile(record)) - 523) <= 5)
    await until(
      () => agent.some(({ event }) => event === 'ended'),
      () => `the agent's call ends: ${JSON.stringify(agent)}`,
    )
    const ended = agent.find((event) => event.event === 'ended')
    assert.ok(ended?.event === 'ended' && ended.call_id === call.call_id)
    assert.ok(Math.abs((ended.heard.hz ?? 0) - 440) <= 5, `${ended.heard.hz} Hz`)
    assert.deepEqual(
      agent.flatMap((event) => (event.event === 'dtmf' ? [event.key] : [])),
      ['4', '#'],
    )
  })

  test('a call with sound fails where nobody takes it, with the reason', async () => {
    const phone = sb.user('16505559876')
    const calling = assert.rejects(
      phone.call({ for: 100 }),
      new Error(`the call of 16505559876 to ${sb.number} was not connected: the business declined the call`),
    )
    const { value } = await sb.waitForEvent({ field: 'calls', kind: 'connect' })
    await sb.client.calls.reject(sb.number, { call_id: value.calls[0].id })
    await calling
  })

  test('a call with sound fails where it cannot begin, with the reason', async () => {
    const phone = sb.user(user)
    await assert.rejects(phone.call({ to: '4999999999999999', for: 100 }), APIError)
    await assert.rejects(phone.call({ audio: '/nowhere.wav' }), /\/nowhere\.wav/)
    await assert.rejects(phone.call({ audio: './hello.wav', record: 'hello.wav' }), /is what is played/)
    await assert.rejects(phone.call({ to: sb.number }), /one of audio, record, dtmf, for and loss/)
    await assert.rejects(phone.call({ for: '5 apples' }), /for is "5 apples": write a duration such as '5s'/)
    await assert.rejects(phone.call({ dtmf: 'x' }), /x is no key of a phone/)
    await assert.rejects(phone.call({ loss: 101 }), /a loss of 101 is no share/)
  })

  test('a call with sound that is under way when its test ends is hung up, and named', async () => {
    const calling = assert.rejects(sb.user(user).call({ for: '1m' }), /the call ended before it was connected/)
    await sb.waitForEvent({ field: 'calls', kind: 'connect' })
    const named = new RegExp(`the call of ${user} to ${sb.number} was not over when the test ended\\.`)
    await assert.rejects(sb.endWaits(), (error) => error instanceof NothingCame && named.test(error.message))
    await calling
    await sb.waitForEvent({ field: 'calls', kind: 'terminate' })
  })
})
