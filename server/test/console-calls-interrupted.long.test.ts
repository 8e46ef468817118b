import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { CallDoors } from './harness/call-doors.ts'
import {
  answerPrompt,
  BusinessPeer,
  callFlags,
  countLiveMicrophones,
  countMicrophoneRequests,
  countMicrophones,
  gatherForever,
  hearPhone,
  holdPrompt,
  noteResources,
  type OpenResources,
  openCallPage,
  readResources,
  untilHeard,
  whenReached,
} from './harness/call-page.ts'
import { openChat, send } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { until } from './harness/until.ts'

const tone = 440
const waiting = 'waiting for the microphone…'

/** What comes between the steps of a call: a prompt that stands open, a service that fails, a session that ends, another page. */
test('calls that are interrupted in a browser', async (t) => {
  const browser = await requireBrowser(t, callFlags)
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
  const { url } = server
  const doors = new CallDoors(url)
  const page = await openCallPage(t, browser, `${url}/`)
  const phoneOf = (one: Page) => one.getByRole('article', { name: 'Phone of Ada' })
  const phone = phoneOf(page)
  const alert = phone.getByRole('alert')
  const press = (name: string) => phone.getByRole('button', { name, exact: true }).click()
  const close = async () => {
    await phone.getByText('Call ended').waitFor()
    assert.equal(await countLiveMicrophones(page), 0)
    await press('Close')
    await phone.locator('.call-screen').waitFor({ state: 'detached' })
  }
  const untilClosed = () => until(async () => (await countLiveMicrophones(page)) === 0, 'the microphone is closed')
  /** The browser gives the microphone to a page that does not want it any more. */
  const untilGiven = async (times: number) => {
    await until(async () => (await countMicrophones(page)) === times, 'the microphone is given')
    await untilClosed()
  }
  const untilAsked = (one: Page, times: number) =>
    until(async () => (await countMicrophoneRequests(one)) === times, 'the microphone is asked for')
  const take = async () => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await doors.callUser(await business.offer())
    await press('Accept')
    const { sdp } = await doors.whenState(id, 'accepted')
    await business.takeAnswer(sdp.user ?? '')
    return id
  }
  /** The service fails at one thing that is done with a call, until the returned function is called. */
  const failAt = async (action: string, isDoneNevertheless: boolean, whenReady = async () => {}) => {
    const pattern = /\/gateway\/calls\/[^/]+$/
    await page.route(pattern, async (route) => {
      if (route.request().postDataJSON()?.action !== action) return route.continue()
      await whenReady()
      if (!isDoneNevertheless) return route.fulfill({ status: 500, body: '' })
      await route.fetch()
      return route.abort()
    })
    return () => page.unroute(pattern)
  }

  await t.test('a call is given up while the browser asks for the microphone', async () => {
    const before = await doors.findLast()
    const asked = await countMicrophoneRequests(page)
    await openChat(phone)
    await holdPrompt(page)
    await press('Call Lucky Shrub')
    await phone.getByText(waiting).waitFor()
    await untilAsked(page, asked + 1)
    await press('End')
    await close()
    const given = await countMicrophones(page)
    await answerPrompt(page)
    await untilGiven(given + 1)
    assert.equal(await doors.findLast(), before)
    // The phone takes calls as before.
    const id = await take()
    await untilHeard(() => hearPhone(phone), tone)
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('the business hangs up while the browser asks for the microphone', async (t) => {
    const asked = await countMicrophoneRequests(page)
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await doors.callUser(await business.offer())
    await holdPrompt(page)
    await press('Accept')
    await phone.getByText(waiting).waitFor()
    await untilAsked(page, asked + 1)
    await doors.end(id)
    await phone.getByText('Call ended').waitFor()
    const given = await countMicrophones(page)
    await answerPrompt(page)
    await untilGiven(given + 1)
    assert.equal(await alert.count(), 0)
    assert.equal((await doors.read(id)).sdp.user, undefined)
    await close()
  })

  await t.test('another page of the same phone calls while the browser asks for the microphone', async (t) => {
    const other = await openCallPage(t, browser, `${url}/`)
    const asked = await countMicrophoneRequests(page)
    await openChat(phone)
    await holdPrompt(page)
    await press('Call Lucky Shrub')
    await untilAsked(page, asked + 1)
    const before = await doors.findLast()
    await openChat(phoneOf(other))
    await phoneOf(other).getByRole('button', { name: 'Call Lucky Shrub', exact: true }).click()
    const id = await doors.whenCalled(before)
    await phone.getByText(waiting).waitFor()
    await answerPrompt(page)
    await phone.getByText('This call was made elsewhere, and its sound is there.').waitFor()
    await untilClosed()
    assert.equal(await countLiveMicrophones(other), 1)
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
    await until(async () => (await countLiveMicrophones(other)) === 0, 'the microphone of the other page is closed')
  })

  await t.test('a call of the business that came meanwhile rings when the own one could not be made', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const asked = await countMicrophoneRequests(page)
    await openChat(phone)
    await holdPrompt(page)
    await press('Call Lucky Shrub')
    await untilAsked(page, asked + 1)
    const id = await doors.callUser(await business.offer())
    await answerPrompt(page)
    await phone.getByRole('button', { name: 'Decline' }).click()
    await doors.whenState(id, 'ended')
    await phone.getByText('Declined').waitFor()
    await press('Close')
  })

  await t.test('the service fails while a call is taken, which is taken again', async (t) => {
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await doors.callUser(await business.offer())
    // Both sides have begun to speak by then: a second connection would be taken for a part of the first.
    await noteResources(page)
    const stop = await failAt('accept', false, () => whenReached(page))
    await press('Accept')
    await alert.getByText('The service responded with 500.').waitFor()
    await untilClosed()
    await stop()
    // What has failed before is not said while it is tried again.
    await holdPrompt(page)
    await press('Accept')
    await phone.getByText(waiting).waitFor()
    assert.equal(await alert.count(), 0)
    await answerPrompt(page)
    await business.takeAnswer((await doors.whenState(id, 'accepted')).sdp.user ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    await press('End')
    await close()
  })

  await t.test('the response is lost while a call is taken: it has its sound', async () => {
    const stop = await failAt('accept', true)
    const id = await take()
    await untilHeard(() => hearPhone(phone), tone)
    await stop()
    assert.equal(await alert.count(), 0)
    await doors.end(id)
    await close()
  })

  await t.test('the service fails when a call is ended: the microphone is closed all the same', async () => {
    const stop = await failAt('terminate', false)
    const id = await take()
    await untilHeard(() => hearPhone(phone), tone)
    await press('End')
    await alert.getByText('The service responded with 500.').waitFor()
    assert.equal(await countLiveMicrophones(page), 0)
    assert.equal(await phone.getByRole('meter').count(), 0)
    assert.equal((await doors.read(id)).state, 'accepted')
    await stop()
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('the service does not respond when a call is ended: the microphone is closed all the same', async () => {
    const pattern = /\/gateway\/calls\/[^/]+$/
    const held: Route[] = []
    let isEnding = false
    await page.route(pattern, (route) => {
      if (route.request().method() === 'POST' && held.length === 0 && isEnding) held.push(route)
      else return route.continue()
    })
    const id = await take()
    await untilHeard(() => hearPhone(phone), tone)
    isEnding = true
    await press('End')
    await untilClosed()
    assert.equal((await doors.read(id)).state, 'accepted')
    await held[0]?.continue()
    await doors.whenState(id, 'ended')
    await page.unroute(pattern)
    await close()
  })

  await t.test('a call that is lost while the service fails closes the microphone', async (t) => {
    const stop = await failAt('terminate', false)
    const business = await BusinessPeer.open(t, browser, url, tone)
    const id = await doors.callUser(await business.offer())
    await press('Accept')
    await business.takeAnswer((await doors.whenState(id, 'accepted')).sdp.user ?? '')
    await untilHeard(() => hearPhone(phone), tone)
    await business.close()
    await alert.getByText('The connection to the business was lost.').waitFor()
    await untilClosed()
    await stop()
    await press('End')
    await doors.whenState(id, 'ended')
    await close()
  })

  await t.test('why a call could not be made stays while messages come', async () => {
    await openChat(phone)
    await page.route(/\/gateway\/calls$/, (route) => route.fulfill({ status: 500, body: '' }))
    await press('Call Lucky Shrub')
    await alert.getByText('The service responded with 500.').waitFor()
    await press('Back to the chats')
    await send(url, { type: 'text', text: { body: 'The tulips have come' } })
    await phone.locator('.chat-entry', { hasText: 'The tulips have come' }).waitFor()
    assert.equal(await alert.count(), 1)
    await press('Dismiss')
    await page.unroute(/\/gateway\/calls$/)
  })

  await t.test('ten calls in a row leave nothing open', async () => {
    // Until it has read its chats, the page itself begins timers that stay.
    await phone.locator('.chat-entry').first().waitFor()
    await noteResources(page)
    let left: OpenResources | undefined
    for (let count = 0; count < 10; count++) {
      const id = await take()
      await phone.getByRole('meter', { name: 'The business' }).waitFor()
      await press('Keypad')
      if (count % 2 === 0) await press('End')
      else await doors.end(id)
      await close()
      await until(
        async () => {
          left = await readResources(page)
          return left.peers + left.contexts + left.timers === 0
        },
        () => `nothing is open: ${JSON.stringify(left)}`,
      )
    }
  })

  await t.test('candidates that are never complete go out after a while, as far as they are known', async () => {
    await gatherForever(page)
    await take()
    await untilHeard(() => hearPhone(phone), tone)
    assert.equal(await alert.count(), 0)
    await press('End')
    await close()
  })

  await t.test('a session that ends takes the microphone with it', async () => {
    const id = await take()
    await untilHeard(() => hearPhone(phone), tone)
    await page.route(/\/console\/session$/, (route) =>
      route.fulfill({ json: { signed_in: false, reason: 'It has ended.' } }),
    )
    await page.route(/\/operator\/state$/, (route) => route.fulfill({ status: 401, body: '' }))
    // How the service is, is read when somebody comes back.
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await phone.waitFor({ state: 'detached' })
    await untilClosed()
    assert.equal(await page.locator('audio').count(), 0)
    await doors.end(id)
  })
})
