import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError, type ExpectedError, like } from '../../../../test/harness/errors.ts'
import { mp4 } from '../../../../test/harness/media-files.ts'
import { makePicture } from '../../../../test/harness/pictures.ts'
import {
  card,
  cardHeader,
  carousel,
  copyCode,
  link,
  offer,
  quickReply,
} from '../../../../test/harness/public-templates.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, bodyWith, buttons, templateCalls } from '../../../../test/harness/template-calls.ts'
import { uploadPicture } from '../../../../test/harness/upload-calls.ts'
import { ids, tokens } from '../../../../test/harness/world.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { argumentMissing, argumentWrong, notFound } from '../../../graph/errors.ts'
import { applyWorld } from '../../../world/apply.ts'
import { countLeftOut } from '../../../world/export-rows.ts'
import { readWorld } from '../../../world/read.ts'
import {
  bodyRequired,
  cardsDiffer,
  componentNotTaken,
  componentOfCategory,
  componentRepeats,
  headerHandleOfAnotherType,
  headerHandleUnknown,
  notBesideCarousel,
  offerWrong,
  reviewCategoryNotPossible,
  templateTextLength,
  tooManyButtons,
} from '../errors.ts'

type Case = readonly [what: string, members: object, expected: ExpectedError | 200]

const a = (count: number) => 'a'.repeat(count)
const rows = (...cards: unknown[]) => ({ components: [body, carousel(...cards)] })
const pair = (parts: Parameters<typeof card>[0]) => rows(card(parts), card(parts))
const cards = 'components[1].cards'
const phone = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+16505551234' }
const call = (members: object = {}) => ({ type: 'VOICE_CALL', text: 'Call now', ...members })
const offering = (components: object[], category = 'MARKETING') => ({ category, components })
const pressed = buttons(copyCode, link())

/** A carousel without a fault is refused last, for its handles. */
const right = headerHandleUnknown

const cases: Readonly<Record<string, readonly Case[]>> = {
  'a carousel': [
    ['1 card', rows(card()), like(argumentWrong, { argument: cards })],
    ['2 cards', rows(card(), card()), right],
    ['10 cards', rows(...Array.from({ length: 10 }, () => card())), right],
    ['11 cards', rows(...Array.from({ length: 11 }, () => card())), like(argumentWrong, { argument: cards })],
    ['no cards', { components: [body, { type: 'CAROUSEL' }] }, like(argumentMissing, { argument: cards })],
    ['its type in lower case', { components: [body, { ...carousel(card(), card()), type: 'carousel' }] }, right],
    ['the category MARKETING', { category: 'MARKETING', ...rows(card(), card()) }, right],
    [
      'the category AUTHENTICATION',
      { category: 'AUTHENTICATION', components: [{ type: 'BODY' }, carousel(card(), card())] },
      componentNotTaken('components[1]', { what: 'carousel' }),
    ],
    ['no body beside it', { components: [carousel(card(), card())] }, bodyRequired('components')],
    [
      'a footer beside it',
      { components: [body, carousel(card(), card()), { type: 'FOOTER', text: 'x' }] },
      notBesideCarousel('components[2]', { type: 'FOOTER' }),
    ],
    [
      'buttons beside it',
      { components: [body, buttons(quickReply()), carousel(card(), card())] },
      notBesideCarousel('components[1]', { type: 'BUTTONS' }),
    ],
    [
      'a header beside it',
      { components: [{ type: 'HEADER', format: 'TEXT', text: 'x' }, body, carousel(card(), card())] },
      notBesideCarousel('components[0]', { type: 'HEADER' }),
    ],
    [
      'an offer beside it',
      offering([body, carousel(card(), card()), offer()]),
      notBesideCarousel('components[2]', { type: 'LIMITED_TIME_OFFER' }),
    ],
    [
      'two carousels',
      { components: [body, carousel(card(), card()), carousel(card(), card())] },
      componentRepeats('components[2]', { type: 'CAROUSEL' }),
    ],
  ],
  'a card': [
    ['a text', rows('card', card()), like(argumentMissing, { argument: `${cards}[0].components` })],
    [
      'without a header',
      rows({ components: card().components.slice(1) }, card()),
      like(argumentWrong, { argument: `${cards}[0].components` }),
    ],
    [
      'without a body',
      rows({ components: [cardHeader(), buttons(quickReply())] }, card()),
      like(argumentWrong, { argument: `${cards}[0].components` }),
    ],
    [
      'without buttons',
      rows(card(), { components: card().components.slice(0, 2) }),
      like(argumentWrong, { argument: `${cards}[1].components` }),
    ],
    [
      'two bodies',
      rows({ components: [...card().components, body] }, card()),
      componentRepeats(`${cards}[0].components[3]`, { type: 'BODY' }),
    ],
    [
      'a footer',
      rows({ components: [...card().components, { type: 'FOOTER', text: 'x' }] }, card()),
      like(argumentWrong, { argument: `${cards}[0].components[3].type` }),
    ],
    [
      'a header of text',
      pair({ header: cardHeader('x', 'TEXT') }),
      like(argumentWrong, { argument: `${cards}[0].components[0].format` }),
    ],
    ['a header of a document', pair({ header: cardHeader('x', 'DOCUMENT') }), argumentWrong],
    ['a header of a video', pair({ header: cardHeader('x', 'VIDEO') }), right],
    [
      'a header without a handle',
      pair({ header: { type: 'HEADER', format: 'IMAGE' } }),
      like(argumentMissing, { argument: `${cards}[0].components[0].example.header_handle` }),
    ],
    ['a body of 160 characters', pair({ body: { type: 'BODY', text: a(160) } }), right],
    [
      'a body of 161 characters',
      pair({ body: { type: 'BODY', text: a(161) } }),
      templateTextLength(`${cards}[0].components[1].text`, { max: 160 }),
    ],
    ['a body with a variable', pair({ body: bodyWith('We have {{1}} and this.', 'tulips') }), right],
    ['one button', pair({ buttons: [phone] }), right],
    ['two buttons', pair({ buttons: [link(), phone] }), right],
    [
      'three buttons',
      pair({ buttons: [quickReply(), link(), phone] }),
      like(argumentWrong, { argument: `${cards}[0].components[2].buttons` }),
    ],
    [
      'two phone numbers',
      pair({ buttons: [phone, phone] }),
      tooManyButtons(`${cards}[0].components[2].buttons`, { max: 1, type: 'PHONE_NUMBER' }),
    ],
    [
      'a code',
      pair({ buttons: [copyCode] }),
      like(argumentWrong, { argument: `${cards}[0].components[2].buttons[0].type` }),
    ],
    [
      'a call',
      pair({ buttons: [call()] }),
      like(argumentWrong, { argument: `${cards}[0].components[2].buttons[0].type` }),
    ],
    [
      'another format than the first',
      rows(card(), card(), card({ header: cardHeader('x', 'VIDEO') })),
      cardsDiffer(`${cards}[2]`, { what: 'the same format of header', expected: 'IMAGE' }),
    ],
    [
      'other buttons than the first',
      rows(card(), card({ buttons: [link(), quickReply()] })),
      cardsDiffer(`${cards}[1]`, {
        what: 'the same kinds of buttons in the same order',
        expected: 'QUICK_REPLY URL',
      }),
    ],
    ['fewer buttons than the first', rows(card(), card({ buttons: [quickReply()] })), cardsDiffer],
  ],
  'an offer': [
    ['with a code and a link', offering([body, offer(), pressed]), 200],
    [
      'with a link alone, because it does not end',
      offering([body, offer({ has_expiration: false }), buttons(link())]),
      200,
    ],
    ['that does not end, with a code', offering([body, offer({ has_expiration: undefined }), pressed]), 200],
    [
      'that ends, without a code',
      offering([body, offer(), buttons(link())]),
      like(offerWrong, { argument: 'components[2]' }),
    ],
    ['with the link first', offering([body, offer(), buttons(link(), copyCode)]), offerWrong],
    ['with a quick reply', offering([body, offer(), buttons(copyCode, link(), quickReply())]), offerWrong],
    ['with a code alone', offering([body, offer(), buttons(copyCode)]), offerWrong],
    ['without buttons', offering([body, offer()]), like(offerWrong, { argument: 'components' })],
    [
      'with a footer',
      offering([body, offer(), { type: 'FOOTER', text: 'x' }, pressed]),
      like(offerWrong, { argument: 'components[2]' }),
    ],
    [
      'with a header of text',
      offering([{ type: 'HEADER', format: 'TEXT', text: 'x' }, body, offer(), pressed]),
      like(offerWrong, { argument: 'components[0]' }),
    ],
    ['with a picture', offering([cardHeader(), body, offer(), pressed]), right],
    ['with a video', offering([cardHeader('x', 'VIDEO'), body, offer(), pressed]), right],
    ['with a document', offering([cardHeader('x', 'DOCUMENT'), body, offer(), pressed]), offerWrong],
    ['a body of 600 characters', offering([{ type: 'BODY', text: a(600) }, offer(), pressed]), 200],
    [
      'a body of 601 characters',
      offering([{ type: 'BODY', text: a(601) }, offer(), pressed]),
      templateTextLength('components[0].text', { max: 600 }),
    ],
    ['a text of 16 characters', offering([body, offer({ text: a(16) }), pressed]), 200],
    [
      'a text of 17 characters',
      offering([body, offer({ text: a(17) }), pressed]),
      templateTextLength('components[1].limited_time_offer.text', { max: 16 }),
    ],
    ['no text', offering([body, offer({ text: undefined }), pressed]), argumentMissing],
    ['has_expiration as text', offering([body, offer({ has_expiration: 'true' }), pressed]), argumentWrong],
    ['nothing in it', offering([body, { type: 'LIMITED_TIME_OFFER' }, pressed]), argumentMissing],
    [
      'the category UTILITY',
      offering([body, offer(), pressed], 'UTILITY'),
      componentOfCategory('components[1]', { type: 'LIMITED_TIME_OFFER', category: 'MARKETING' }),
    ],
  ],
  'a button for a call': [
    ['alone', { components: [body, buttons(call())] }, 200],
    ['beside others', { components: [body, buttons(call(), link(), quickReply())] }, 200],
    ['with a text of 25 characters', { components: [body, buttons(call({ text: a(25) }))] }, 200],
    ['with one more', { components: [body, buttons(call({ text: a(26) }))] }, templateTextLength],
    [
      'twice',
      { components: [body, buttons(call(), call())] },
      tooManyButtons('components[1].buttons', { max: 1, type: 'VOICE_CALL' }),
    ],
  ],
}

onOneDatabase('templates in the forms of the public platform', 'sqlite', (engine) => {
  const server = useTestServer({
    engine,
    env: { VOCABULARY: 'whatsapp', MAX_TEMPLATES: '1000', MAX_TEMPLATE_EDITS: '100/1d' },
  })
  const calls = templateCalls(server)

  for (const [group, list] of Object.entries(cases)) {
    test(`${group}, at each limit and beyond it`, async () => {
      for (const [what, members, expected] of list) {
        const answer = await calls.create(members)
        if (expected === 200) assert.equal(answer.status, 200, `${what}: ${answer.text}`)
        else {
          assert.equal(answer.status, 400, `${what}: ${answer.text}`)
          assertError(answer, expected)
        }
      }
    })
  }

  const picture = (type: 'image/png' | 'image/jpeg' = 'image/png') => makePicture(type, 300)
  const upload = (bytes: Buffer, type = 'image/png') => uploadPicture(server, bytes, { type })
  const download = async (url: string, token: string = tokens.owner) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      bytes: Buffer.from(await response.arrayBuffer()),
    }
  }
  const addressesOf = async (id: string): Promise<string[]> => {
    const { components } = (await calls.read(id)).body
    return components[1].cards.map(
      (one: { components: { example: { header_handle: string[] } }[] }) => one.components[0]?.example.header_handle[0],
    )
  }
  const usesOf = async (id: string) => {
    const { query } = server.database.read
    return (await query.selectFrom('file_uses').select('sha256').where('used_by', '=', `template:${id}`).execute())
      .length
  }

  test('a carousel reads back as it was given, with an address for the file of each card', async () => {
    const [first, second] = [picture(), picture('image/jpeg')]
    const given = rows(
      card({ header: cardHeader(await upload(first)) }),
      card({ header: cardHeader(await upload(second, 'image/jpeg')) }),
    )
    const id = await calls.make(given)
    const { components, status } = (await calls.read(id)).body
    assert.equal(status, 'APPROVED')
    const [one, other] = await addressesOf(id)
    assert.deepEqual(components, [
      body,
      carousel(card({ header: cardHeader(one) }), card({ header: cardHeader(other) })),
    ])
    assert.deepEqual(await download(one ?? ''), { status: 200, type: 'image/png', bytes: first })
    assert.deepEqual(await download(other ?? ''), { status: 200, type: 'image/jpeg', bytes: second })
    assert.notEqual((await download(one ?? '', tokens.stranger)).status, 200)
    assertError(await calls.read(`${id}0`), notFound)
    assert.equal(await usesOf(id), 2)

    const { data } = (
      await server.client.callRow(server.client.row('gateway.list_templates'), '/gateway/templates', {
        token: tokens.gateway,
      })
    ).body
    assert.equal(data.find((template: { id: string }) => template.id === id).components[1].cards.length, 2)

    // An edit may put a card elsewhere, and brings a new one.
    const third = picture()
    const edited = rows(card({ header: cardHeader(other) }), card({ header: cardHeader(await upload(third)) }))
    assert.equal((await calls.edit(id, edited)).status, 200)
    const [moved, added] = await addressesOf(id)
    assert.ok((await download(moved ?? '')).bytes.equals(second))
    assert.ok((await download(added ?? '')).bytes.equals(third))
    assert.equal(await usesOf(id), 2)
    assert.equal((await calls.edit(id, { message_send_ttl_seconds: 3600 })).status, 200)
    await calls.review(id, { status: 'PAUSED' })
    assert.equal((await calls.edit(id, { category: 'MARKETING' })).status, 200)
    assert.ok((await download((await addressesOf(id))[1] ?? '')).bytes.equals(third))
    assert.equal(await usesOf(id), 2)

    assert.equal((await calls.delete(id)).status, 200)
    assert.equal(await usesOf(id), 0)
    assert.notEqual((await download(moved ?? '')).status, 200)
  })

  test('the handle of a card is that of a file of its format, and is used up', async () => {
    const handle = await upload(mp4('isom', ['vide']), 'video/mp4')
    const of = (format: string) => pair({ header: cardHeader(handle, format) })
    assertError(await calls.create(of('IMAGE')), headerHandleOfAnotherType)
    // Two cards cannot have one handle.
    assertError(await calls.create(of('VIDEO')), headerHandleUnknown)
    const id = await calls.make(
      rows(
        card({ header: cardHeader(handle, 'VIDEO') }),
        card({ header: cardHeader(await upload(mp4('isom', ['vide']), 'video/mp4'), 'VIDEO') }),
      ),
    )
    assert.equal(await usesOf(id), 1)
    const [one] = await addressesOf(id)
    assert.equal((await download(one ?? '')).type, 'video/mp4')
  })

  test('a world file keeps the files of cards, unless it gives them another format', async () => {
    const handles = [await upload(picture()), await upload(picture())]
    const id = await calls.make({
      name: 'of_both',
      ...rows(...handles.map((one) => card({ header: cardHeader(one) }))),
    })
    const apply = (
      format: string,
      components = rows(...handles.map(() => card({ header: { type: 'HEADER', format } }))),
    ) => {
      const template = { id, name: 'of_both', language: 'en_US', category: 'UTILITY', ...components }
      const account = { id: ids.account, business_id: ids.business, name: 'Lucky Shrub Retail', templates: [template] }
      const world = readWorld(JSON.stringify({ accounts: [account] }), 'file')
      return applyWorld(server.database, server.clock, systemRandom, world)
    }
    await apply('IMAGE')
    assert.equal(await usesOf(id), 2)
    assert.equal((await download((await addressesOf(id))[1] ?? '')).status, 200)
    assert.ok(
      (await countLeftOut(server.database.read)).some(({ what, count }) => what.includes('headers') && count >= 2),
    )
    await apply('VIDEO')
    assert.equal(await usesOf(id), 0)
  })

  test('an offer and a call read back as they were given, and a review cannot give an offer another category', async () => {
    const components = [body, offer({ has_expiration: false }), pressed]
    const id = await calls.make({ category: 'MARKETING', components })
    const shown = (await calls.read(id)).body.components
    assert.deepEqual(shown[1], components[1])
    assertError(await calls.review(id, { category: 'UTILITY' }), reviewCategoryNotPossible({ category: 'UTILITY' }))
    const called = await calls.make({ components: [body, buttons(call())] })
    assert.deepEqual((await calls.read(called)).body.components, [body, buttons(call())])
  })
})
