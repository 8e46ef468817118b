import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowserIfAny } from './harness/browser.ts'
import {
  callFlags,
  fakeMicrophoneHz,
  hearPhone,
  openCallPage,
  readMeter,
  silenceLevel,
  untilHeard,
} from './harness/call-page.ts'
import type { RunningServer } from './harness/command.ts'
import { ada, openChat } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { until } from './harness/until.ts'
import { startAgent, whenHappened } from './harness/voice-commands.ts'

/** The whole way of a call: a phone in a browser, the service, and a business's agent in a process of its own. */
test('a phone in a browser and a voice agent hear each other, whoever calls', async (t) => {
  const browser = await openBrowserIfAny(t, 'Calls were', callFlags)
  if (!browser) return
  const { server, folder } = await serveDemo(t)
  const page = await openCallPage(t, browser, `${server.url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  const press = (name: string) => phone.getByRole('button', { name, exact: true }).click()
  /** Lets the microphone be heard for two seconds, and presses a key: when the agent has that key, it has heard what was before. */
  const speakAndPress = async (agent: RunningServer) => {
    await phone.getByText(/^\d:(?:0[2-9]|[1-5]\d)$/).waitFor()
    await until(async () => (await readMeter(phone, 'The user')) > silenceLevel, 'the microphone is heard')
    await press('Keypad')
    await press('5')
    assert.equal((await whenHappened(agent, 'dtmf')).key, '5')
  }
  const heardOf = ({ heard }: { heard: { hz: number | null } }) => Math.abs((heard.hz ?? 0) - fakeMicrophoneHz) <= 5

  await t.test('the user calls', async (t) => {
    const agent = await startAgent(t, server, folder, ['tone', '--hz', '523'])
    await openChat(phone)
    await press('Call Lucky Shrub')
    await untilHeard(() => hearPhone(phone), 523)
    await speakAndPress(agent)
    await press('End')
    const ended = await whenHappened(agent, 'ended')
    assert.equal(ended.by, 'user')
    assert.ok(heardOf(ended), JSON.stringify(ended))
    await press('Close')
  })

  await t.test('the business calls', async (t) => {
    const permission = { phone_number_id: '4000000000000001', user_wa_id: ada, status: 'granted' }
    const granted = await fetch(`${server.url}/gateway/call_permissions`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' },
      body: JSON.stringify(permission),
    })
    assert.equal(granted.status, 200)
    const agent = await startAgent(t, server, folder, ['tone', '--hz', '440', '--call', ada])
    await press('Accept')
    await untilHeard(() => hearPhone(phone), 440)
    await speakAndPress(agent)
    await press('End')
    const ended = await whenHappened(agent, 'ended')
    assert.ok(heardOf(ended), JSON.stringify(ended))
    const { code, stderr } = await agent.ended
    assert.equal(code, 0, stderr)
  })
})
