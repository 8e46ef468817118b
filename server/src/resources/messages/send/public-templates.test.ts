import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { before, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError, like } from '../../../../test/harness/errors.ts'
import { jpeg, mp4, png } from '../../../../test/harness/media-files.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { card, carousel, copyCode, link, offer } from '../../../../test/harness/public-templates.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { listenForTest } from '../../../../test/harness/sink.ts'
import { body, bodyWith, buttons, templateCalls } from '../../../../test/harness/template-calls.ts'
import { numbers, testWorld, tokens } from '../../../../test/harness/world.ts'
import { minute } from '../../../base/time/duration.ts'
import { callButtonExpired, noCallButton } from '../../calls/errors.ts'
import { exampleOffer } from '../../calls/examples.ts'
import {
  cardCountWrong,
  codeTooLong,
  componentMissing,
  componentRepeated,
  filledInTooLong,
  noSuchButton,
  parameterCountWrong,
  parameterWrong,
  textParametersMissing,
} from '../../templates/sending/sending-errors.ts'
import { callInstead, choiceUnknown } from '../../users/errors.ts'
import { mediaTypeNotTaken, mediaUnknown } from '../errors.ts'

const text = (value: string) => ({ type: 'text', text: value })
const toBody = (...parameters: object[]) => ({ type: 'body', parameters })
const toButton = (sub_type: string, index: number, ...parameters: object[]) => ({
  ...{ type: 'button', sub_type, index, parameters },
})
const image = (given: object) => ({ type: 'header', parameters: [{ type: 'image', image: given }] })
const toCards = (...cards: object[]) => ({ type: 'carousel', cards })
const withVariable = (text_: string) => ({
  ...card({ header: { type: 'HEADER', format: 'IMAGE' }, body: bodyWith(text_, 'red') }),
})
const time = 1_790_000_000_000
const toOffer = (given: object) => ({
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer: given }],
})
const coupon = toButton('copy_code', 0, { type: 'coupon_code', coupon_code: 'SPRING25' })
const toUrl = toButton('url', 1, text('tulips'))

/** Templates of a world file, whose headers need no example. */
const templates = [
  {
    name: 'row',
    components: [body, carousel(withVariable('Tulips in {{1}} for you.'), withVariable('Roses in {{1}} for you.'))],
  },
  { name: 'sale', category: 'MARKETING', components: [body, offer(), buttons(copyCode, link())] },
  { name: 'lasting', category: 'MARKETING', components: [body, offer({ has_expiration: false }), buttons(link())] },
  { name: 'call_us', components: [body, buttons({ type: 'VOICE_CALL', text: 'Call now' })] },
]

function worldWith() {
  const world = testWorld()
  const [account, ...others] = world.accounts as unknown as { templates: object[] }[]
  const made = templates.map((template, index) => ({
    ...{ id: `510000000000030${index}`, language: 'en_US', category: 'UTILITY' },
    ...template,
  }))
  return { ...world, accounts: [{ ...account, templates: [...(account?.templates ?? []), ...made] }, ...others] }
}

onOneDatabase('sending templates in the forms of the public platform', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' }, world: worldWith() })
  const sides = messageSides(server)
  const calls = templateCalls(server)
  const describeTemplate = (name: string, ...components: object[]) => ({
    messaging_product: 'whatsapp',
    type: 'template',
    template: { name, language: { code: 'en_US' }, ...(components.length > 0 && { components }) },
  })
  const post = (name: string, ...components: object[]) =>
    sides.post({ to: sides.newUser(), ...describeTemplate(name, ...components) })
  const send = (user: string, name: string, ...components: object[]) =>
    sides.send(user, describeTemplate(name, ...components))

  const upload = async (file: Buffer, type: string): Promise<string> => {
    const form = new FormData()
    form.set('messaging_product', 'whatsapp')
    form.set('type', type)
    form.set('file', new Blob([new Uint8Array(file)], { type }), 'file')
    const headers = { authorization: `Bearer ${tokens.owner}` }
    const made = await fetch(`${server.url}/v23.0/${numbers.main}/media`, { method: 'POST', headers, body: form })
    assert.equal(made.status, 200)
    return ((await made.json()) as { id: string }).id
  }
  let picture = ''
  let other = ''
  let film = ''
  before(async () => {
    picture = await upload(png, 'image/png')
    other = await upload(jpeg, 'image/jpeg')
    film = await upload(mp4('isom', ['vide']), 'video/mp4')
  })

  const one = (members: object = {}) => ({
    card_index: 0,
    components: [image({ id: picture }), toBody(text('red')), toUrl],
    ...members,
  })
  const two = (members: object = {}) => ({
    card_index: 1,
    components: [
      image({ id: other }),
      toBody(text('white')),
      toButton('quick_reply', 0, { type: 'payload', payload: 'roses' }),
      toUrl,
    ],
    ...members,
  })

  test('a template can be sent by the request after the one that creates it', async () => {
    const answer = await calls.create({ name: 'at_once' })
    assert.equal(answer.body.status, 'PENDING')
    assert.equal(await sides.namesOf(await send(sides.newUser(), 'at_once')), 'sent, delivered')
  })

  test('a carousel is sent, and the phone gets each card filled in, in their order, with its file', async () => {
    const id = await send(sides.newUser(), 'row', toCards(two(), one()))
    const [sent, delivered] = await sides.statusesOf(id)
    assert.deepEqual([sent.status, delivered.status, sent.pricing.category], ['sent', 'delivered', 'utility'])
    const { rendered } = await sides.show(id)
    assert.deepEqual([rendered.body, rendered.buttons, rendered.header], [body.text, [], undefined])
    const [first, second] = rendered.cards
    assert.deepEqual([first.body, second.body], ['Tulips in red for you.', 'Roses in white for you.'])
    assert.deepEqual(first.buttons, [
      { index: 0, type: 'QUICK_REPLY', text: 'More like this', payload: 'More like this' },
      { index: 1, type: 'URL', text: 'Buy', url: 'https://shrub.example/tulips' },
    ])
    assert.equal(second.buttons[0].payload, 'roses')
    assert.deepEqual([first.header.image.id, second.header.image.mime_type], [picture, 'image/jpeg'])
    const file = await fetch(second.header.image.url, { headers: { authorization: `Bearer ${tokens.gateway}` } })
    assert.ok(Buffer.from(await file.arrayBuffer()).equals(jpeg))
  })

  test('the files of cards by link are fetched before it is sent; one that is not an image makes it fail', async (t) => {
    const files: Record<string, Buffer> = { '/a.png': png, '/b.jpg': jpeg, '/c.mp4': mp4('isom', ['vide']) }
    const host = createServer((request, response) => response.end(files[request.url ?? '']))
    const { port } = await listenForTest(t, host)
    const at = (path: string) => image({ link: `http://127.0.0.1:${port}${path}` })
    const linked = (first: string, second: string) =>
      toCards(
        one({ components: [at(first), toBody(text('red')), toUrl] }),
        two({ components: [at(second), toBody(text('red')), toUrl] }),
      )
    const id = await send(sides.newUser(), 'row', linked('/a.png', '/b.jpg'))
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent, delivered')
    const { cards } = (await sides.show(id)).rendered
    assert.deepEqual([cards[0].header.image.mime_type, cards[1].header.image.mime_type], ['image/png', 'image/jpeg'])
    const failed = await send(sides.newUser(), 'row', linked('/a.png', '/c.mp4'))
    await server.app.settle()
    assert.equal(await sides.namesOf(failed), 'failed 131053')
  })

  test('a carousel is refused unless every card has what the template requires', async () => {
    const place = 'template.components[0].cards'
    const bare = (...components: object[]) => one({ components })
    for (const [components, expected] of [
      [[], componentMissing({ kind: 'the carousel', expected: '2 cards' })],
      [[toCards(one())], cardCountWrong({ place, found: 1, expected: 2 })],
      [[toCards(one(), two(), two())], cardCountWrong({ place, found: 3, expected: 2 })],
      [[{ type: 'carousel' }], like(parameterWrong, { place })],
      [[toCards(one(), one())], componentRepeated({ place: `${place}[1]` })],
      [[toCards(one(), two({ card_index: 2 }))], like(parameterWrong, { place: `${place}[1].card_index` })],
      [[toCards(one(), two({ card_index: '1' }))], like(parameterWrong, { place: `${place}[1].card_index` })],
      [[toCards(one(), two()), toCards(one(), two())], componentRepeated({ place: 'template.components[1]' })],
      [[toCards(bare(toBody(text('red')), toUrl), two())], like(componentMissing, { kind: 'the header of card 0' })],
      [[toCards(bare(image({ id: picture }), toBody(), toUrl), two())], parameterCountWrong],
      [
        [toCards(bare(image({ id: picture }), toBody(text('red'))), two())],
        like(textParametersMissing, { kind: 'the button 1 of card 0' }),
      ],
      [
        [toCards(bare(image({ id: picture }), toBody(text('red')), toButton('url', 2, text('x'))), two())],
        like(noSuchButton, { place: `${place}[0].components[2]` }),
      ],
      [[toCards(one({ components: 'x' }), two())], like(parameterWrong, { place: `${place}[0].components` })],
      [
        [toCards(bare(image({ id: picture }), toBody(text('a'.repeat(142))), toUrl), two())],
        filledInTooLong({ place: 'the body of card 0', max: 160 }),
      ],
      [[toCards(bare(image({ id: '1' }), toBody(text('red')), toUrl), two())], mediaUnknown],
      [[toCards(bare(image({ id: film }), toBody(text('red')), toUrl), two())], mediaTypeNotTaken],
    ] as const) {
      assertError(await post('row', ...components), expected)
    }
    const longest = bare(image({ id: picture }), toBody(text('a'.repeat(141))), toUrl)
    assert.equal((await post('row', toCards(longest, two()))).status, 200)
    // A template without cards takes none.
    assertError(
      await post('hello_world', toCards(one(), two())),
      like(parameterWrong, { expected: 'one of header, body, button' }),
    )
  })

  test('a press on the button of a card hands in its payload and its text', async () => {
    const user = sides.newUser()
    const id = await send(user, 'row', toCards(one(), two()))
    const pressed = await sides.act(id, 'press', { choice: 0, card: 1 })
    assert.equal(pressed.status, 200, pressed.text)
    assert.equal((await sides.act(id, 'press', { choice: '0', card: 0 })).status, 200)
    const delivered = await sides.readDelivered(user)
    assert.deepEqual(
      delivered.map(({ type, button, context }) => [type, button, context.id]),
      [
        ['button', { payload: 'roses', text: 'More like this' }, id],
        ['button', { payload: 'More like this', text: 'More like this' }, id],
      ],
    )
    assertError(await sides.act(id, 'press', { choice: 1, card: 0 }), choiceUnknown({ choices: [0] }))
    assertError(await sides.act(id, 'press', { choice: 0, card: 2 }), choiceUnknown({ choices: [] }))
    assertError(await sides.act(id, 'press', { choice: 0 }), choiceUnknown({ choices: [] }))
    assert.equal((await sides.act(id, 'press', { choice: 0, card: 10 })).status, 400)
  })

  test('an offer is sent with the time of its end, as a number or as text; one that is over is sent too', async () => {
    for (const [given, expiration_time_ms] of [
      [time, time],
      [String(time), time],
      [server.clock.now() - minute, server.clock.now() - minute],
    ] as const) {
      const id = await send(sides.newUser(), 'sale', toOffer({ expiration_time_ms: given }), coupon, toUrl)
      const { rendered } = await sides.show(id)
      assert.deepEqual(rendered.limited_time_offer, { text: 'Spring sale', expiration_time_ms })
      assert.deepEqual(
        [rendered.buttons[0].code, rendered.buttons[1].url],
        ['SPRING25', 'https://shrub.example/tulips'],
      )
      const [sent] = await sides.statusesOf(id)
      assert.deepEqual([sent.status, sent.pricing.category], ['sent', 'marketing'])
    }
    const lasting = await send(sides.newUser(), 'lasting', toButton('url', 0, text('tulips')))
    assert.deepEqual((await sides.show(lasting)).rendered.limited_time_offer, { text: 'Spring sale' })
  })

  test('an offer that ends is refused without a time, in seconds, and with a code that is too long', async () => {
    const at = 'template.components[0].parameters[0].limited_time_offer.expiration_time_ms'
    for (const [components, expected] of [
      [[coupon, toUrl], like(componentMissing, { kind: 'the limited_time_offer' })],
      [[{ type: 'limited_time_offer', parameters: [] }, coupon, toUrl], parameterCountWrong],
      [[toOffer({}), coupon, toUrl], like(parameterWrong, { place: at })],
      [[toOffer({ expiration_time_ms: time / 1000 }), coupon, toUrl], like(parameterWrong, { place: at })],
      [[toOffer({ expiration_time_ms: 10_000_000_000_000 }), coupon, toUrl], like(parameterWrong, { place: at })],
      [[toOffer({ expiration_time_ms: time + 0.5 }), coupon, toUrl], like(parameterWrong, { place: at })],
      [
        [
          toOffer({ expiration_time_ms: time }),
          toButton('copy_code', 0, { type: 'coupon_code', coupon_code: 'a'.repeat(16) }),
          toUrl,
        ],
        codeTooLong,
      ],
    ] as const) {
      assertError(await post('sale', ...components), expected)
    }
    const needless = await post('lasting', toOffer({ expiration_time_ms: time }), toButton('url', 0, text('tulips')))
    assertError(needless, parameterCountWrong({ place: 'template.components[0]', found: 1, expected: 0 }))
  })

  test('a call button works for its minutes: the user calls with it, and the business gets its payload', async () => {
    const ttl = (ttl_minutes: unknown) => ({ type: 'ttl_minutes', ttl_minutes })
    const user = sides.newUser()
    const session = { sdp_type: 'offer', sdp: exampleOffer }
    const start = (message_id: string) =>
      sides.gateway('calls', { phone_number_id: numbers.main, from: user, session, message_id })
    const id = await send(user, 'call_us', toButton('voice_call', 0, ttl('2'), { type: 'payload', payload: 'tulips' }))
    assert.deepEqual((await sides.show(id)).rendered.buttons, [
      { index: 0, type: 'VOICE_CALL', text: 'Call now', ttl_minutes: 2, payload: 'tulips' },
    ])
    assertError(await sides.act(id, 'press', { choice: 0 }), callInstead)
    const plain = await send(user, 'call_us')
    assert.equal((await sides.show(plain)).rendered.buttons[0].ttl_minutes, 10_080)
    const called = await start(id)
    assert.equal(called.status, 200, called.text)
    const events = await server.database.read.query
      .selectFrom('events')
      .select('value')
      .where('field', '=', 'calls')
      .execute()
    assert.equal(JSON.parse(events.at(-1)?.value ?? '').calls[0].cta_payload, 'tulips')
    assertError(await start(await send(user, 'at_once')), noCallButton)
    server.clock.advance(2 * minute)
    assertError(await start(id), callButtonExpired)

    for (const parameters of [
      [ttl(0)],
      [ttl(43_201)],
      [ttl('x')],
      [ttl(1), ttl(2)],
      [text('x')],
      [{ type: 'payload' }],
    ]) {
      assertError(await post('call_us', toButton('voice_call', 0, ...parameters)), parameterWrong)
    }
    for (const minutes of [1, 43_200]) {
      assert.equal((await post('call_us', toButton('voice_call', 0, ttl(minutes)))).status, 200)
    }
    const payload = (length: number) => ({ type: 'payload', payload: 'a'.repeat(length) })
    assert.equal((await post('call_us', toButton('voice_call', 0, payload(512)))).status, 200)
    assertError(await post('call_us', toButton('voice_call', 0, payload(513))), parameterWrong)
    assertError(await post('call_us', toButton('quick_reply', 0, payload(5))), parameterWrong)
  })
})
