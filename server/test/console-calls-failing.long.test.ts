import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { CallDoors } from './harness/call-doors.ts'
import {
  BusinessPeer,
  callFlags,
  countLiveMicrophones,
  hearPhone,
  keepNoCandidates,
  openCallPage,
  untilHeard,
} from './harness/call-page.ts'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { ada, openChat } from './harness/console-page.ts'
import { makeStorePlace } from './harness/databases.ts'
import { findFreePort } from './harness/receiver.ts'

const tone = 440
const name = 'phones.example'
const mediaTimeout = 22

/** What stands in the way of a call's sound is said on the phone, in words. */
test('calls without sound in a browser', async (t) => {
  const place = await makeStorePlace('sqlite')
  const port = await findFreePort()
  const env = {
    ...{ RATE_LIMITS: 'off', LOG_LEVEL: 'error', CALL_MEDIA_TIMEOUT: `${mediaTimeout}s` },
    ...{ PUBLIC_URL: `http://127.0.0.1:${port}`, ALLOWED_HOSTS: name },
  }
  const server: RunningServer = await startCommand(['serve', '--port', String(port), '--data', place.dataDir], {
    ...{ cwd: place.dataDir, env },
  })
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })
  const { url } = server
  const doors = new CallDoors(url)

  /** Neither makes a call nor takes one, and says why. */
  async function checkRefused(page: Page, why: string | RegExp): Promise<void> {
    const phone = page.getByRole('article', { name: 'Phone of Ada' })
    const before = await doors.findLast()
    await openChat(phone)
    await phone.getByRole('button', { name: 'Call Lucky Shrub' }).click()
    await phone.getByRole('alert').filter({ hasText: why }).waitFor()
    assert.equal(await phone.locator('.call-screen').count(), 0)
    assert.equal(await doors.findLast(), before)
    const business = await BusinessPeer.open(t, peers, url, tone)
    const id = await doors.callUser(await business.offer())
    await phone.getByRole('button', { name: 'Accept' }).click()
    await phone.getByRole('alert').filter({ hasText: why }).waitFor()
    // The phone says that it rings in a request of its own, which may come a moment later.
    await doors.whenState(id, 'ringing')
    await phone.getByRole('button', { name: 'Decline' }).click()
    await phone.getByText('Declined').waitFor()
    await phone.getByRole('button', { name: 'Close' }).click()
  }

  const peers = await requireBrowser(t, callFlags)

  await t.test('the microphone is refused', async (t) => {
    const browser = await requireBrowser(t, [
      '--use-fake-ui-for-media-stream=deny',
      '--use-fake-device-for-media-stream',
    ])
    const page = await openCallPage(t, browser, `${url}/`)
    await checkRefused(page, 'The microphone cannot be used: it was refused. Allow it in the settings of the browser.')
  })

  await t.test('there is no microphone', async (t) => {
    const page = await openCallPage(t, await requireBrowser(t, []), `${url}/`)
    await checkRefused(page, 'The microphone cannot be used: none is there.')
  })

  await t.test('the page is not secure', async (t) => {
    const rules = `--host-resolver-rules=MAP ${name} 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1`
    const browser = await requireBrowser(t, [...callFlags, rules])
    const link = await runCommand(['console', 'link', '--for', 'Ada', '--data', place.dataDir], {
      ...{ cwd: place.dataDir, env },
    })
    const { hash } = new URL(link.stdout.trim())
    const page = await openCallPage(t, browser, `http://${name}:${port}/${hash}`)
    await checkRefused(
      page,
      'This page is not secure: browsers give the microphone to https pages and to localhost alone.',
    )
  })

  const page = await openCallPage(t, peers, `${url}/?phones=${ada}`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  const alert = phone.getByRole('alert')
  const press = (button: string) => phone.getByRole('button', { name: button, exact: true }).click()
  const end = async () => {
    await press('End')
    await close()
  }
  const close = async () => {
    await phone.getByText('Call ended').waitFor()
    assert.equal(await countLiveMicrophones(page), 0)
    await press('Close')
  }
  const take = async (sdp: string | undefined) => {
    const id = await doors.callUser(sdp)
    await press('Accept')
    return { id, sdp: (await doors.whenState(id, 'accepted')).sdp.user }
  }
  const takeAndHear = async (t: TestContext) => {
    const business = await BusinessPeer.open(t, peers, url, tone)
    const { id, sdp } = await take(await business.offer())
    await business.takeAnswer(sdp ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    return { id, business }
  }

  await t.test('neither side has candidates', async (t) => {
    const page = await openCallPage(t, peers, `${url}/?phones=${ada}`)
    await keepNoCandidates(page)
    const phone = page.getByRole('article', { name: 'Phone of Ada' })
    const business = await BusinessPeer.open(t, peers, url, tone)
    const offer = (await business.offer()).replaceAll(/a=candidate.*\r\n/g, '')
    const id = await doors.callUser(offer)
    await phone.getByRole('button', { name: 'Accept' }).click()
    await phone
      .getByRole('alert')
      .getByText('The business sent no candidates, and neither could this phone.', { exact: true })
      .waitFor()
    assert.doesNotMatch((await doors.read(id)).sdp.user ?? '', /a=candidate/)
    await phone.getByRole('button', { name: 'End', exact: true }).click()
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('a business that sends no offer has no sound, and the microphone stays closed', async () => {
    const { sdp } = await take(undefined)
    await alert.getByText('The business sent no session description: this call has no sound.').waitFor()
    assert.equal(sdp, undefined)
    assert.equal(await phone.getByRole('meter').count(), 0)
    assert.equal(await countLiveMicrophones(page), 0)
    await end()
  })

  await t.test('an offer that the browser refuses is not taken', async (t) => {
    const business = await BusinessPeer.open(t, peers, url, tone)
    const offer = (await business.offer()).replace('a=rtcp-mux\r\n', '').replace(/a=group:BUNDLE.*\r\n/, '')
    const id = await doors.callUser(offer.replace(/a=fingerprint.*\r\n/, ''))
    await press('Accept')
    await alert.getByText('The call cannot be taken: the browser refuses the offer of the business.').waitFor()
    // The phone says that it rings in a request of its own, which may come a moment later.
    await doors.whenState(id, 'ringing')
    assert.equal(await countLiveMicrophones(page), 0)
    await press('Decline')
    await press('Close')
  })

  await t.test('an answer that the browser refuses is said', async (t) => {
    const before = await doors.findLast()
    await openChat(phone)
    await press('Call Lucky Shrub')
    const id = await doors.whenCalled(before)
    const business = await BusinessPeer.open(t, peers, url, tone)
    const answer = await business.answer((await doors.read(id)).sdp.user ?? '')
    await doors.act(id, 'accept', answer.replace(/a=fingerprint.*\r\n/, ''))
    await alert.getByText('The browser refuses the answer of the business.').waitFor()
    await end()
  })

  await t.test('a business that offers video too is heard', async (t) => {
    const business = await BusinessPeer.open(t, peers, url, tone)
    await business.addVideo()
    const { sdp } = await take(await business.offer())
    await business.takeAnswer(sdp ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    assert.equal(await alert.count(), 0)
    await end()
  })

  await t.test('a business that takes no tones of keys gets none', async (t) => {
    const business = await BusinessPeer.open(t, peers, url, tone)
    const offer = await business.offer()
    const { sdp } = await take(offer.replace(/( 110| 126)+(?=\r\n)/, '').replaceAll(/a=rtpmap:(?:110|126) .*\r\n/g, ''))
    assert.doesNotMatch(sdp ?? '', /telephone-event/)
    await business.takeAnswer(sdp ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    await press('Keypad')
    await phone.getByText('The business takes no tones of keys, or is not connected yet.').waitFor()
    assert.ok(await phone.getByRole('button', { name: '5', exact: true }).isDisabled())
    assert.equal(await alert.count(), 0)
    await end()
  })

  await t.test('the connection is lost: that is said, and then the phone ends the call', async (t) => {
    const { id, business } = await takeAndHear(t)
    await business.close()
    const words = alert.getByText('The connection to the business was lost.', { exact: true })
    await words.waitFor({ timeout: 15_000 })
    assert.equal((await doors.read(id)).state, 'accepted')
    const { findings } = await doors.whenState(id, 'ended')
    assert.ok(findings.some(({ side, code }) => side === 'media' && code === 'lost'))
    await words.waitFor()
    await close()
  })

  await t.test('no sound comes for 20 s: that is said, and after the timeout the phone ends the call', async (t) => {
    const { id, business } = await takeAndHear(t)
    await business.stopSending()
    const stopped = performance.now()
    await alert.getByText('No sound from the business for 20 seconds.', { exact: true }).waitFor()
    assert.ok(performance.now() - stopped >= 19_000)
    assert.equal((await doors.read(id)).state, 'accepted')
    const { findings } = await doors.whenState(id, 'ended')
    assert.ok(findings.some(({ side, code }) => side === 'media' && code === 'no_media'))
    await close()
  })
})
