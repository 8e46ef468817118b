import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { keepScreenshot, lookAt } from './harness/busy-console.ts'
import { CallDoors } from './harness/call-doors.ts'
import {
  BusinessPeer,
  callFlags,
  countLiveMicrophones,
  countMicrophoneRequests,
  fakeMicrophoneHz,
  hearPhone,
  isPlaying,
  openCallPage,
  readMeter,
  readTones,
  silenceLevel,
  untilHeard,
} from './harness/call-page.ts'
import { ada, openChat } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { findCutOff, runAxe } from './harness/page-checks.ts'
import { measureUntilGood } from './harness/stolen-time.ts'
import { until } from './harness/until.ts'

const tone = 440
const bob = '16505551235'
/** From the response of the API to the words on the screen, in milliseconds. */
const hangUpLimit = 1000

/** Calls of a phone of the console, in a real browser, with the business's end in another page: both hear each other. */
test('calls with sound in a browser', async (t) => {
  const browser = await requireBrowser(t, callFlags)
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
  const { url } = server
  const doors = new CallDoors(url)
  const page = await openCallPage(t, browser, `${url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  const press = (name: string) => phone.getByRole('button', { name, exact: true }).click()
  const close = async () => {
    await phone.getByText('Call ended').waitFor()
    assert.equal(await countLiveMicrophones(page), 0)
    await press('Close')
    await phone.locator('.call-screen').waitFor({ state: 'detached' })
  }

  await t.test('a user calls a business, and nothing is heard before it accepts', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    await openChat(phone)
    await press('Call Lucky Shrub')
    const id = await doors.whenCalled(undefined)
    const { sdp } = await doors.read(id)
    assert.match(sdp.user ?? '', /^a=candidate:.* 127\.0\.0\.1 /m)
    assert.doesNotMatch(sdp.user ?? '', /\.local/)
    const answer = await business.answer(sdp.user ?? '')
    await doors.act(id, 'pre_accept', answer)
    await business.whenConnected()
    await phone.getByText('rings…').waitFor()
    assert.equal(await isPlaying(phone), false)
    assert.ok((await business.hear()).level < -60, 'the microphone is closed until the call is accepted')
    await doors.act(id, 'accept', answer)
    await untilHeard(() => hearPhone(phone), tone)
    await untilHeard(() => business.hear(), fakeMicrophoneHz, 10)
    await until(async () => (await readMeter(phone, 'The business')) > silenceLevel, 'the meter shows the business')
    await until(async () => (await readMeter(phone, 'The user')) > silenceLevel, 'the meter shows the user')
    assert.equal(await countMicrophoneRequests(page), 1)

    await press('Mute')
    await until(async () => (await business.hear()).level < -60, 'the business hears nothing')
    await until(async () => (await readMeter(phone, 'The user')) < silenceLevel, 'the meter of the user is still')
    await press('Muted')
    await untilHeard(() => business.hear(), fakeMicrophoneHz, 10)

    await press('Keypad')
    for (const key of '42#') await press(key)
    assert.equal(await phone.locator('.keypad output').textContent(), '42#')
    await until(async () => (await readTones(page)) === '42#', 'every tone is sent, in order')
    assert.equal(await phone.getByRole('alert').count(), 0)

    await doors.end(id)
    await close()
    assert.equal(await page.locator('audio').count(), 0)
  })

  await t.test('a business calls a user, who is asked for the microphone when they accept', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const asked = await countMicrophoneRequests(page)
    // Others send a last line without its end, which a browser refuses.
    const id = await doors.callUser((await business.offer()).trimEnd())
    await doors.whenState(id, 'ringing')
    await phone.getByRole('button', { name: 'Accept' }).waitFor()
    assert.equal(await countMicrophoneRequests(page), asked)
    await press('Accept')
    const { sdp } = await doors.whenState(id, 'accepted')
    await business.takeAnswer(sdp.user ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    await untilHeard(() => business.hear(), fakeMicrophoneHz, 10)
    assert.equal(await countMicrophoneRequests(page), asked + 1)
    await t.test('it goes on while another page of the console is shown', async () => {
      await page.getByRole('link', { name: 'Live', exact: true }).click()
      await page.getByRole('heading', { name: 'Live' }).waitFor()
      const playsOn = `[...document.querySelectorAll('body > audio')].map(({ paused, srcObject }) => !paused && srcObject.active)`
      assert.deepEqual(await page.evaluate(playsOn), [true])
      await page.goBack()
      await untilHeard(() => hearPhone(phone), tone)
      assert.equal(await isPlaying(phone), true)
    })
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('a business that sends silence is heard as silence', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, null)
    const id = await takeCall(doors, phone, business)
    await untilHeard(() => business.hear(), fakeMicrophoneHz, 10)
    assert.ok((await hearPhone(phone)).level < -60)
    await until(async () => (await readMeter(phone, 'The business')) < silenceLevel, 'the meter is still')
    await doors.end(id)
    await close()
  })

  await t.test('a hang-up is on the other screen within a second', async (t) => {
    await measureUntilGood(t, async () => {
      const id = await takeCall(doors, phone, await BusinessPeer.open(t, browser, url, tone))
      await doors.end(id)
      const begun = performance.now()
      await phone.getByText('Call ended').waitFor()
      const took = performance.now() - begun
      await close()
      return { isGood: took <= hangUpLimit, text: `Call ended was shown after ${took.toFixed(0)} ms` }
    })
  })

  await t.test('of two pages the one where the call was taken has its sound', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const other = await openCallPage(t, browser, `${url}/`)
    const otherPhone = other.getByRole('article', { name: 'Phone of Ada' })
    const id = await doors.callUser(await business.offer())
    await otherPhone.getByRole('button', { name: 'Accept' }).waitFor()
    await press('Accept')
    await business.takeAnswer((await doors.whenState(id, 'accepted')).sdp.user ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    await otherPhone.getByText('This call was taken elsewhere, and its sound is there.').waitFor()
    for (const control of ['Mute', 'Keypad'])
      assert.equal(await otherPhone.getByRole('button', { name: control }).count(), 0)
    assert.equal(await otherPhone.getByRole('meter').count(), 0)
    assert.equal((await otherPhone.getByRole('alert').count()) + (await phone.getByRole('alert').count()), 0)
    assert.equal(await countMicrophoneRequests(other), 0)
    await otherPhone.getByRole('button', { name: 'End', exact: true }).click()
    await close()
  })

  await t.test('a page that is loaded again says that the sound is gone, and ends the call', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await takeCall(doors, phone, business)
    await page.reload()
    await phone.getByText('The sound of this call is gone').waitFor()
    assert.equal(await phone.getByRole('meter').count(), 0)
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('a phone that is removed gives the microphone back', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await takeCall(doors, phone, business)
    assert.equal(await countLiveMicrophones(page), 1)
    await press('Remove the phone of Ada')
    await until(async () => (await countLiveMicrophones(page)) === 0, 'the microphone is closed')
    assert.equal(await page.locator('audio').count(), 0)
    await doors.end(id)
    await page.goto(`${url}/?phones=${ada}`)
  })

  await t.test('while somebody speaks, a page that nobody sees keeps its streams', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await takeCall(doors, phone, business)
    await page.evaluate(`(() => {
      const post = MessagePort.prototype.postMessage
      MessagePort.prototype.postMessage = function (message, ...more) {
        if (message?.type === 'here') window.saysItIsSeen = message.isVisible
        return post.call(this, message, ...more)
      }
      Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })()`)
    assert.equal(await page.evaluate('window.saysItIsSeen'), true)
    await doors.end(id)
    await phone.getByText('Call ended').waitFor()
    assert.equal(await page.evaluate('window.saysItIsSeen'), false)
    await page.evaluate(`(() => {
      delete document.hidden
      document.dispatchEvent(new Event('visibilitychange'))
    })()`)
    await close()
  })

  await t.test('two phones beside each other are in a call, each with its own sound', async (t) => {
    await page.goto(`${url}/?phones=${ada},${bob}`)
    const [one, two] = [phone, page.getByRole('article', { name: 'Phone of +1 650 555 1235' })]
    const businesses = [
      await BusinessPeer.open(t, browser, url, tone),
      await BusinessPeer.open(t, browser, url, 2 * tone),
    ] as const
    const ids = [await takeCall(doors, one, businesses[0]), await takeCall(doors, two, businesses[1], bob)]
    await untilHeard(() => hearPhone(one), tone)
    await untilHeard(() => hearPhone(two), 2 * tone)
    await press('Mute')
    await until(async () => (await businesses[0].hear()).level < -60, 'the first business hears nothing')
    await untilHeard(() => businesses[1].hear(), fakeMicrophoneHz, 10)
    const look = { width: 1440, colorScheme: 'light' } as const
    await lookAt(page, look)
    assert.deepEqual(await page.evaluate<string[]>(findCutOff), [])
    await keepScreenshot(page, 'call-two', look)
    for (const id of ids) await doors.end(id)
    await two.getByText('Call ended').waitFor()
    await close()
    await page.goto(`${url}/?phones=${ada}`)
  })

  await t.test('when the store is reset, its call goes and the microphone with it', async (t) => {
    await takeCall(doors, phone, await BusinessPeer.open(t, browser, url, tone))
    const headers = { authorization: 'Bearer demo-operator-token' }
    assert.equal((await fetch(`${url}/operator/reset`, { method: 'POST', headers })).status, 200)
    await phone.locator('.call-screen').waitFor({ state: 'detached' })
    assert.equal(await countLiveMicrophones(page), 0)
  })

  await t.test('a call is taken, muted and ended by keys alone', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    await openChat(phone)
    await phone.getByLabel('Message', { exact: true }).focus()
    const id = await doors.callUser(await business.offer())
    await phone.getByRole('button', { name: 'Accept' }).waitFor()
    await pressByKeys(page, 'Accept')
    await business.takeAnswer((await doors.whenState(id, 'accepted')).sdp.user ?? '')
    await phone.getByRole('meter', { name: 'The business' }).waitFor()
    await pressByKeys(page, 'Mute')
    await phone.getByRole('button', { name: 'Muted' }).waitFor()
    await pressByKeys(page, 'Keypad')
    await phone.getByRole('button', { name: '5', exact: true, disabled: false }).waitFor()
    await pressByKeys(page, '5')
    await pressByKeys(page, 'End')
    await phone.getByText('Call ended').waitFor()
    await pressByKeys(page, 'Close')
    await phone.locator('.call-screen').waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Message')
  })

  await t.test('an open call has no fault of accessibility and fits, light and dark, wide and narrow', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
    await page.evaluate(`${axe};undefined`)
    const check = async (name: string) => {
      for (const width of [1280, 390]) {
        for (const colorScheme of ['light', 'dark'] as const) {
          const look = { width, colorScheme }
          await lookAt(page, look)
          await phone.locator('.call-screen').scrollIntoViewIfNeeded()
          assert.deepEqual(await page.evaluate<string[]>(runAxe), [], `${name}, ${width}, ${colorScheme}`)
          assert.deepEqual(await page.evaluate<string[]>(findCutOff), [], `${name}, ${width}, ${colorScheme}`)
          await keepScreenshot(page, name, look)
        }
      }
    }
    const id = await doors.callUser(await business.offer())
    await phone.getByRole('button', { name: 'Accept' }).waitFor()
    await check('call-rings')
    await press('Accept')
    await business.takeAnswer((await doors.whenState(id, 'accepted')).sdp.user ?? '')
    await press('Keypad')
    await phone.getByRole('button', { name: '5', exact: true, disabled: false }).click()
    await press('Mute')
    await check('call-keypad')
    await press('Keypad')
    await press('Muted')
    await business.stopSending()
    await phone.getByRole('alert').waitFor()
    await check('call-silent')
    await doors.end(id)
    await phone.getByText('Call ended').waitFor()
    await check('call-ended')
  })
})

/** A call of the business that its user takes, and that both sides hear. */
async function takeCall(doors: CallDoors, phone: Locator, business: BusinessPeer, to = ada): Promise<string> {
  const id = await doors.callUser(await business.offer(), to)
  await phone.getByRole('button', { name: 'Accept' }).click()
  const { sdp } = await doors.whenState(id, 'accepted')
  await business.takeAnswer(sdp.user ?? '')
  await business.whenConnected()
  await phone.getByRole('meter', { name: 'The business' }).waitFor()
  return id
}

/** Goes with the Tab key to a button of this name, and presses it. */
async function pressByKeys(page: Page, name: string): Promise<void> {
  const seen: string[] = []
  for (let stop = 0; stop < 25; stop++) {
    await page.keyboard.press('Tab')
    const text = await page.evaluate<string>('document.activeElement.textContent.trim()')
    seen.push(text.slice(0, 20))
    if (text !== name) continue
    await page.keyboard.press('Enter')
    return
  }
  assert.fail(`${name} was not reached: ${seen}`)
}
