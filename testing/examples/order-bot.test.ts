import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { UnprocessableEntityError } from '@switchboard/client'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { OrderBot } from './order-bot.ts'

const customer = '16505551234'
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const picture = new Blob([png], { type: 'image/png' })

let sb: TestSwitchboard
let bot: OrderBot
let folder: string
/** The website of the shop, with its price list. */
const website = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4\n%%EOF\n')
})

before(async () => {
  sb = await createSwitchboard()
  folder = await mkdtemp(join(tmpdir(), 'order-bot-'))
  await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', resolve))
})

beforeEach(async () => {
  await sb.reset()
  bot = new OrderBot({
    client: sb.client,
    plants: [
      { id: 'fern', title: 'Fern', price: '12 €', picture },
      { id: 'cactus', title: 'Cactus', price: '5 €', picture },
    ],
    priceListUrl: `http://127.0.0.1:${(website.address() as AddressInfo).port}/prices.pdf`,
    folder,
  })
  const { verifyToken, secret } = sb
  await sb.connect(sb.client.webhooks.handler({ verifyToken, secret, onEvent: bot.take, onError: () => undefined }))
})

after(async () => {
  await sb.close()
  website.close()
  await rm(folder, { recursive: true })
})

test('a customer orders a plant', async () => {
  const phone = sb.user(customer)
  await phone.write(sb.number, 'Hello?')
  const list = await phone.waitForMessage({ type: 'interactive', text: /order/ })
  assert.deepEqual(
    list.interactive.action?.sections?.[0]?.rows?.map(({ title }) => title),
    ['Fern', 'Cactus'],
  )
  await phone.press('Fern')
  const shown = await phone.waitForMessage({ type: 'image' })
  assert.equal(shown.image.caption, 'Fern, 12 €')
  await phone.waitForMessage({ type: 'document' })
  await phone.waitForMessage({ text: /Shall we send the Fern/ })
  await phone.press('Yes, please')
  await phone.waitForMessage({ text: 'Your Fern is on its way.' })
  assert.deepEqual([bot.orders.get(customer), bot.notes], ['Fern', []])
})

test('a picture of a customer is stored', async () => {
  await sb.user(customer).writeFile(sb.number, picture)
  await sb.waitForEvent({ field: 'messages', kind: 'image' })
  const [file = ''] = await readdir(folder)
  assert.deepEqual(await readFile(join(folder, file)), png)
})

test('after a day only a template arrives', async () => {
  const phone = sb.user(customer)
  await sb.advance('25h')
  await sb.client.messages.send(sb.number, { to: customer, type: 'text', text: { body: 'Still there?' } })
  await sb.waitForEvent({ field: 'messages', kind: 'failed' })
  assert.deepEqual(bot.notes, [`${customer} did not get a message: Re-engagement message`])
  await bot.remind(sb.number, customer, 'A7')
  await phone.waitForMessage({ type: 'template', text: /order A7 is ready/ })
  await phone.press('I am coming')
  await phone.waitForMessage({ text: /order/ })
})

test('a customer who says stop is blocked', async () => {
  await sb.user(customer).write(sb.number, 'Stop')
  await sb.waitForEvent({ field: 'messages', kind: 'text' })
  const blocked = await sb.client.blockedUsers.list(sb.number).toArray()
  assert.deepEqual(
    blocked.map(({ wa_id }) => wa_id),
    [customer],
  )
  await assert.rejects(bot.remind(sb.number, customer, 'A7'), (error) => {
    assert.ok(error instanceof UnprocessableEntityError)
    assert.equal(error.code, 131026)
    return true
  })
})

test('faults of the server and lost or repeated webhooks change nothing', async () => {
  const phone = sb.user(customer)
  await sb.faults([
    { match: { operation: 'messages.send' }, effect: { status: 500 }, times: 1 },
    { match: { operation: 'media.upload' }, effect: { delay: '50ms' }, times: 1 },
    { match: { callback: sb.callback }, effect: { drop: true }, times: 1 },
    { match: { callback: sb.callback }, effect: { duplicate: true }, times: 1 },
  ])
  await phone.write(sb.number, 'Hello?')
  await phone.waitForMessage({ text: /order/ })
  await phone.press('Cactus')
  await phone.waitForMessage({ text: /Shall we send the Cactus/ })
  const chat = await sb.client.gateway.messages.list(customer, { phone_number_id: sb.number, limit: 2 }).toArray()
  assert.deepEqual(
    chat.filter(({ direction }) => direction === 'to_user').map(({ type }) => type),
    ['interactive', 'document', 'image', 'interactive'],
  )
  const { rules } = await sb.client.sandbox.faults.list()
  assert.deepEqual(
    rules.map(({ hits }) => hits),
    [1, 1, 1, 1],
  )
})
