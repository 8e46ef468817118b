import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { requireBrowser } from './harness/browser.ts'
import { callFlags } from './harness/call-page.ts'
import { ada, number, openChat, openPage } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { png } from './harness/media-files.ts'
import { findCutOff, runAxe } from './harness/page-checks.ts'
import { carousel, quickReplies, shopButton } from './harness/public-messages.ts'
import { startSubscriber } from './harness/subscriber.ts'
import { until } from './harness/until.ts'

const app = '3000000000000001'
const rightToLeft = 'نبتة صغيرة تحب الشمس والماء القليل، وتزهر في الربيع'
const long = 'Unusually_long_words_without_a_single_break_'.repeat(3)

/** The interactive messages of the public platform on a phone: one server that speaks its vocabulary, one browser, one subscriber. */
test('forms of messages on the phone', async (t) => {
  const browser = await requireBrowser(t, callFlags)
  const { server } = await serveDemo(t, { VOCABULARY: 'whatsapp', RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
  const { url } = server
  const subscriber = await startSubscriber(t)

  async function call(path: string, token: string, body: object | FormData) {
    const isForm = body instanceof FormData
    const headers = { authorization: `Bearer ${token}`, ...(!isForm && { 'content-type': 'application/json' }) }
    const answer = await fetch(url + path, { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text)
  }
  const business = (path: string, body: object) => call(`/v23.0/${path}`, 'demo-token', body)
  const gateway = (path: string, body: object) => call(`/gateway/${path}`, 'demo-gateway-token', body)

  async function send(interactive: object): Promise<string> {
    const message = { messaging_product: 'whatsapp', to: ada, type: 'interactive', interactive }
    return (await business(`${number}/messages`, message)).messages[0].id
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into webhooks of every shape, and says itself what it expects.
  function listValues(): any[] {
    const envelopes = subscriber.posts.map(({ body }) => JSON.parse(String(body)))
    return envelopes.flatMap(({ entry }) => entry.flatMap(({ changes }: { changes: object[] }) => changes))
  }

  /** The webhook of what a user answered a message with. */
  // biome-ignore lint/suspicious/noExplicitAny: webhooks of every shape.
  async function answerTo(id: string): Promise<any> {
    const find = () =>
      listValues()
        .flatMap(({ value }) => value.messages ?? [])
        .find(({ context }) => context?.id === id)
    await until(() => find() !== undefined, `an answer to ${id}`)
    return find()
  }

  const fields = ['messages', 'calls']
  const callback = { object: 'whatsapp_business_account', callback_url: subscriber.url, verify_token: 'vt', fields }
  await business(`${app}/subscriptions`, callback)
  await gateway('messages', { phone_number_id: number, from: ada, type: 'text', text: { body: 'What is new?' } })
  const form = new FormData()
  form.set('messaging_product', 'whatsapp')
  form.set('file', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'aloe.png')
  form.set('type', 'image/png')
  const header = { type: 'image', image: { id: (await business(`${number}/media`, form)).id } }

  const page = await openPage(t, browser, `${url}/?phones=${ada}`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  await openChat(phone)
  const bubble = (text: string) => phone.locator('.bubble', { hasText: text }).last()

  await t.test('cards with replies: arrows go through them, and a reply reaches the business', async () => {
    const texts = ['*Aloe*\n\nLikes the sun', rightToLeft, long]
    const cards = texts.map((text, index) => ({
      header,
      body: { text },
      action: quickReplies([`learn-${index}`, 'Learn more'], [`keep-${index}`, 'Add to favourites']),
    }))
    const id = await send({ ...carousel(cards), body: { text: 'Three new plants' } })
    const list = bubble('Three new plants').getByRole('list', { name: '3 cards' })
    await list.getByRole('img').first().waitFor()
    await list.focus()
    for (const _ of texts) await page.keyboard.press('ArrowRight')
    const last = list.getByRole('listitem', { name: 'Card 3 of 3' })
    assert.equal(await last.evaluate((card) => card === card.ownerDocument.activeElement), true)
    await page.keyboard.press('Home')
    const first = list.getByRole('listitem', { name: 'Card 1 of 3' })
    assert.equal(await first.evaluate((card) => card === card.ownerDocument.activeElement), true)
    await last.getByRole('button', { name: 'Learn more' }).click()
    const { interactive } = await answerTo(id)
    assert.deepEqual(interactive, { type: 'button_reply', button_reply: { id: 'learn-2', title: 'Learn more' } })
  })

  await t.test('cards that lead to pages', async () => {
    await send({ ...carousel([0, 1].map(() => ({ header, action: shopButton }))), body: { text: 'Two in the shop' } })
    const links = bubble('Two in the shop').getByRole('link', { name: 'Buy now' })
    await links.nth(1).waitFor()
    assert.equal(await links.first().getAttribute('href'), shopButton.parameters.url)
  })

  await t.test(
    'an address: what the business did not accept stands at its field, and the new one reaches it',
    async () => {
      const parameters = {
        country: 'IN',
        values: { name: 'Ada', in_pin_code: '999999', city: 'Pune' },
        validation_errors: { in_pin_code: 'We could not find this pin code.' },
      }
      const action = { name: 'address_message', parameters }
      const id = await send({ type: 'address_message', body: { text: 'Where to?' }, action })
      await bubble('Where to?').getByRole('button', { name: 'Provide address' }).click()
      const sheet = phone.getByRole('dialog', { name: 'Your address' })
      const pin = sheet.getByLabel('Pin code')
      assert.equal(await pin.inputValue(), '999999')
      assert.equal(await pin.getAttribute('aria-invalid'), 'true')
      await sheet.getByText('We could not find this pin code.').waitFor()
      await pin.fill('41100')
      await sheet.getByRole('button', { name: 'Send address' }).click()
      assert.equal(await pin.evaluate((input) => input.matches(':invalid')), true)
      await pin.fill('411001')
      await sheet.getByRole('button', { name: 'Send address' }).click()
      await sheet.waitFor({ state: 'detached' })
      const { nfm_reply } = (await answerTo(id)).interactive
      assert.equal(nfm_reply.name, 'address_message')
      assert.deepEqual(JSON.parse(nfm_reply.response_json), {
        values: { name: 'Ada', in_pin_code: '411001', city: 'Pune' },
      })
      await phone.locator('.bubble.mine', { hasText: '411001' }).waitFor()
    },
  )

  await t.test('an address that the business knows is chosen', async () => {
    const value = { name: 'Ada', sg_post_code: '238801', address: '1 Orchard Road' }
    const action = {
      name: 'address_message',
      parameters: { country: 'SG', saved_addresses: [{ id: 'home', value }] },
    }
    const id = await send({ type: 'address_message', body: { text: 'Which one?' }, action })
    await bubble('Which one?').getByRole('button', { name: 'Provide address' }).click()
    await phone.getByRole('button', { name: /1 Orchard Road/ }).click()
    const { nfm_reply } = (await answerTo(id)).interactive
    assert.deepEqual(JSON.parse(nfm_reply.response_json), { saved_address_id: 'home', values: value })
  })

  await t.test('the contact of the user is shared', async () => {
    const action = { name: 'request_contact_info' }
    const id = await send({ type: 'request_contact_info', body: { text: 'May we call you?' }, action })
    await bubble('May we call you?').getByRole('button', { name: 'Share contact info' }).click()
    const { type, contacts } = await answerTo(id)
    assert.equal(type, 'contacts')
    assert.deepEqual(contacts[0].phones, [{ phone: `+${ada}`, wa_id: ada, type: 'CELL' }])
  })

  await t.test('a button that calls starts a call with its payload', async () => {
    const parameters = { display_text: 'Call the shop', payload: 'spring' }
    const action = { name: 'voice_call', parameters }
    await send({ type: 'voice_call', body: { text: 'Talk to us' }, action })
    await bubble('Talk to us').getByRole('button', { name: 'Call the shop' }).click()
    const calls = () => listValues().flatMap(({ field, value }) => (field === 'calls' ? value.calls : []))
    // Until it is made, ending it gives it up.
    await until(() => calls().length >= 1, 'the business hears of the call')
    await phone.getByRole('button', { name: 'End' }).click()
    await phone.getByRole('button', { name: 'Close' }).click()
    await until(() => calls().length >= 2, 'the business hears of its end')
    assert.deepEqual(
      calls().map(({ event, cta_payload }) => [event, cta_payload]),
      [
        ['connect', 'spring'],
        ['terminate', 'spring'],
      ],
    )
  })

  /** An example of a picture, which a new template with one needs. */
  async function uploadExample(): Promise<string> {
    const query = `file_length=${png.length}&file_type=image/png&file_name=aloe.png`
    const { id } = await business(`${app}/uploads?${query}`, {})
    const headers = { authorization: 'OAuth demo-token', file_offset: '0' }
    const answer = await fetch(`${url}/v23.0/${id}`, { method: 'POST', headers, body: new Uint8Array(png) })
    return ((await answer.json()) as { h: string }).h
  }

  const account = '1000000000000001'
  const create = (name: string, components: object[]) =>
    business(`${account}/message_templates`, { name, language: 'en_US', category: 'MARKETING', components })
  const sendTemplate = async (name: string, components: object[]): Promise<string> => {
    const template = { name, language: { code: 'en_US' }, components }
    const message = { messaging_product: 'whatsapp', to: ada, type: 'template', template }
    return (await business(`${number}/messages`, message)).messages[0].id
  }
  const pictured = async () => ({
    type: 'HEADER',
    format: 'IMAGE',
    example: { header_handle: [await uploadExample()] },
  })
  const pictureParameter = { type: 'header', parameters: [header] }

  await t.test('the cards of a template, whose replies reach the business', async () => {
    const buttons = [{ type: 'QUICK_REPLY', text: 'Tell me more' }]
    const card = async (text: string) => ({
      components: [await pictured(), { type: 'BODY', text }, { type: 'BUTTONS', buttons }],
    })
    const cards = [await card('Ferns like the shade'), await card('Aloe likes the sun')]
    await create('plants', [
      { type: 'BODY', text: 'Plants of the week' },
      { type: 'CAROUSEL', cards },
    ])
    const reply = (payload: string) => ({
      type: 'button',
      sub_type: 'quick_reply',
      index: '0',
      parameters: [{ type: 'payload', payload }],
    })
    const given = [0, 1].map((card_index) => ({
      card_index,
      components: [pictureParameter, reply(`more-${card_index}`)],
    }))
    const id = await sendTemplate('plants', [{ type: 'carousel', cards: given }])
    const second = bubble('Plants of the week').getByRole('listitem', { name: 'Card 2 of 2' })
    await second.getByText('Aloe likes the sun').waitFor()
    await second.getByRole('button', { name: 'Tell me more' }).click()
    assert.deepEqual((await answerTo(id)).button, { payload: 'more-1', text: 'Tell me more' })
  })

  await t.test('an offer says when it ends, and that it has ended when the clock of the sandbox says so', async () => {
    await create('sale', [
      await pictured(),
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Spring sale', has_expiration: true } },
      { type: 'BODY', text: 'A quarter off' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', example: 'GREEN25' },
          { type: 'URL', text: 'Shop now', url: 'https://shop.example.com' },
        ],
      },
    ])
    const expiration_time_ms = Date.now() + 26 * 3_600_000
    await sendTemplate('sale', [
      pictureParameter,
      {
        type: 'limited_time_offer',
        parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms } }],
      },
      {
        type: 'button',
        sub_type: 'copy_code',
        index: '0',
        parameters: [{ type: 'coupon_code', coupon_code: 'GREEN25' }],
      },
    ])
    const sale = bubble('A quarter off')
    await sale.getByText('Ends in 1 d 1 h').waitFor()
    await sale.getByRole('button', { name: 'Copy offer code' }).click()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'GREEN25')
    await call('/operator/clock', 'demo-operator-token', { advance: '27h' })
    await sale.getByText('This offer has ended').waitFor()
    assert.equal(await sale.getByRole('button', { name: 'Copy offer code' }).isDisabled(), true)
  })

  await t.test(
    'nothing is cut off, and there is no fault of accessibility: wide and narrow, light and dark',
    async () => {
      const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        await page.goto(`${url}/?phones=${ada}&chats=${ada}:${number}`)
        const talk = bubble('Talk to us')
        await talk.waitFor()
        await bubble('Three new plants').scrollIntoViewIfNeeded()
        await page.evaluate(`${axe};undefined`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          assert.deepEqual(await page.evaluate<string[]>(runAxe), [], `${width} ${colorScheme}`)
        }
        assert.deepEqual(await page.evaluate<string[]>(findCutOff), [], String(width))
      }
    },
  )
})
