import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { pdf, png } from '../../../../test/harness/media-files.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { interactiveKindNotTaken, mediaTypeNotTaken, mediaUnknown } from '../errors.ts'
import { interactiveKinds } from './interactive.ts'

const text = (length: number) => '🌱'.repeat(length)
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const contact = { name: { formatted_name: 'Ada L.', first_name: 'Ada' } }
const button = (id: string, title = id) => ({ type: 'reply', reply: { id, title } })
const body = { text: 'Which?' }
const buttons = (...list: object[]) => ({ type: 'button', body, action: { buttons: list } })
const row = (id: number) => ({ id: `r${id}`, title: `Row ${id}` })
const list = (...sections: object[]) => ({ type: 'list', body, action: { button: 'Choose', sections } })
const url = (parameters: object) => ({ type: 'cta_url', body, action: { name: 'cta_url', parameters } })
const flow = (parameters: object) => ({
  type: 'flow',
  body,
  action: { name: 'flow', parameters: { flow_message_version: '3', flow_cta: 'Book', ...parameters } },
})
const products = (count: number) => ({
  type: 'product_list',
  header: { type: 'text', text: 'Plants' },
  body,
  action: { catalog_id: 'c', sections: [{ product_items: many(count, (id) => ({ product_retailer_id: `p${id}` })) }] },
})
const request = { type: 'location_request_message', body, action: { name: 'send_location' } }

/** By kind: what is taken, and what is one beyond it or otherwise wrong, with the place that the 400 names. */
const cases: [kind: string, taken: unknown[], refused: [value: unknown, place: string][]][] = [
  [
    'text',
    [{ body: text(4096) }, { body: 'x', preview_url: true }],
    [
      [{ body: text(4097) }, 'text.body'],
      [{ body: '' }, 'text.body'],
      [{}, 'text.body'],
      [{ body: 'x', preview_url: 'yes' }, 'text.preview_url'],
    ],
  ],
  [
    'image',
    [{ id: ids.media, caption: text(1024) }, { link: `https://shrub.example/${'a'.repeat(2026)}` }],
    [
      [{ id: ids.media, caption: text(1025) }, 'image.caption'],
      [{ id: ids.media, link: 'https://shrub.example/a.png' }, 'image'],
      [{}, 'image'],
      [{ link: 'ftp://shrub.example/a.png' }, 'image.link'],
      [{ link: 'https://ada:secret@shrub.example/a.png' }, 'image.link'],
      [{ link: 'https://shrub.example/a.png#top' }, 'image.link'],
      [{ link: `https://shrub.example/${'a'.repeat(2027)}` }, 'image.link'],
      [{ link: '' }, 'image.link'],
      [{ id: '' }, 'image.id'],
    ],
  ],
  ['audio', [], [[{ id: ids.media, caption: 'x' }, 'audio.caption']]],
  ['sticker', [], [[{ id: ids.media, caption: 'x' }, 'sticker.caption']]],
  ['document', [], [[{ id: ids.media, filename: 'x'.repeat(241) }, 'document.filename']]],
  [
    'location',
    [
      { latitude: 90, longitude: -180, name: text(1000), address: text(1000) },
      { latitude: '-90', longitude: '180.0' },
    ],
    [
      [{ latitude: 90.1, longitude: 0 }, 'location.latitude'],
      [{ latitude: 0, longitude: '180.1' }, 'location.longitude'],
      [{ latitude: 'north', longitude: 0 }, 'location.latitude'],
      [{ latitude: 0 }, 'location.longitude'],
      [{ latitude: 0, longitude: 0, name: text(1001) }, 'location.name'],
      [{ latitude: 0, longitude: 0, address: text(1001) }, 'location.address'],
      [{ latitude: -90.1, longitude: 0 }, 'location.latitude'],
      [{ latitude: 0, longitude: -180.1 }, 'location.longitude'],
    ],
  ],
  [
    'contacts',
    [
      many(257, () => contact),
      [{ ...contact, birthday: '1815-12-10', emails: many(20, () => ({ email: 'a@b.example', type: 'ANY' })) }],
    ],
    [
      [many(258, () => contact), 'contacts'],
      [[], 'contacts'],
      [[{ name: { first_name: 'Ada' } }], 'contacts[0].name.formatted_name'],
      [[{ name: { formatted_name: 'Ada' } }], 'contacts[0].name'],
      [[{ ...contact, birthday: '10.12.1815' }], 'contacts[0].birthday'],
      [[{ ...contact, emails: many(21, () => ({})) }], 'contacts[0].emails'],
      [[{ ...contact, org: { company: text(257) } }], 'contacts[0].org.company'],
    ],
  ],
  [
    'reaction',
    [
      { message_id: 'x', emoji: '👍🏽' },
      { message_id: 'x', emoji: '❤' },
      { message_id: 'x', emoji: '👍\u{fe0f}' },
      { message_id: 'x', emoji: '🤷🏽\u{200d}♀' },
      { message_id: 'x', emoji: '👁\u{200d}🗨' },
      { message_id: 'x', emoji: '1\u{20e3}' },
      { message_id: 'x', emoji: '🏴󠁧󠁢󠁥󠁮󠁧󠁿' },
    ],
    [
      [{ message_id: 'x', emoji: '👍👍' }, 'reaction.emoji'],
      [{ message_id: 'x', emoji: 'a' }, 'reaction.emoji'],
      [{ message_id: 'x', emoji: '1' }, 'reaction.emoji'],
      [{ message_id: 'x', emoji: '🇩' }, 'reaction.emoji'],
      [{ message_id: 'x', emoji: '❤\u{fe0e}' }, 'reaction.emoji'],
      [{ emoji: '👍' }, 'reaction.message_id'],
    ],
  ],
  [
    'interactive',
    [
      buttons(button('a'), button('b'), button('c')),
      buttons(button('x'.repeat(256), text(20))),
      { ...buttons(button('a')), header: { type: 'text', text: text(60) }, footer: { text: text(60) } },
      { ...buttons(button('a')), header: { type: 'image', image: { id: ids.media } } },
      { ...buttons(button('a')), body: { text: text(1024) } },
      list({ rows: many(10, row) }),
      { ...list({ rows: [row(1)] }), body: { text: text(4096) } },
      list({ title: 'One', rows: many(5, row) }, { title: 'Two', rows: many(5, (id) => row(id + 5)) }),
      list({ rows: [{ ...row(1), description: text(72) }] }),
      list({ title: text(24), rows: [{ id: 'x'.repeat(200), title: text(24) }] }),
      {
        type: 'list',
        body,
        action: { button: text(20), sections: many(10, (id) => ({ title: 'T', rows: [row(id)] })) },
      },
      url({ display_text: 'Go', url: `https://shrub.example/${'a'.repeat(1978)}` }),
      { type: 'product', action: { catalog_id: text(100), product_retailer_id: text(100) } },
      url({ display_text: text(20), url: 'https://shrub.example' }),
      request,
      { type: 'product', action: { catalog_id: 'c', product_retailer_id: 'p' } },
      { type: 'catalog_message', body, action: { name: 'catalog_message' } },
      products(30),
      flow({ flow_id: '1', flow_token: 'x'.repeat(256) }),
      flow({ flow_name: 'booking', mode: 'draft', flow_action: 'navigate', flow_action_payload: { screen: 'A' } }),
    ],
    [
      [buttons(button('a'), button('b'), button('c'), button('d')), 'interactive.action.buttons'],
      [buttons(), 'interactive.action.buttons'],
      [buttons(button('a', 'Yes'), button('b', 'Yes')), 'interactive.action.buttons'],
      [buttons(button('a'), button('a', 'Other')), 'interactive.action.buttons'],
      [buttons(button('a', text(21))), 'interactive.action.buttons[0].reply.title'],
      [buttons(button('x'.repeat(257), 'A')), 'interactive.action.buttons[0].reply.id'],
      [buttons(button(' a', 'A')), 'interactive.action.buttons[0].reply.id'],
      [{ ...buttons(button('a')), body: { text: text(1025) } }, 'interactive.body.text'],
      [{ ...buttons(button('a')), body: undefined }, 'interactive.body'],
      [{ ...buttons(button('a')), footer: { text: text(61) } }, 'interactive.footer.text'],
      [{ ...buttons(button('a')), header: { type: 'text', text: text(61) } }, 'interactive.header.text'],
      [
        { ...buttons(button('a')), header: { type: 'image', image: { id: 'x', caption: 'c' } } },
        'interactive.header.image.caption',
      ],
      [{ ...buttons(button('a')), header: { type: 'image' } }, 'interactive.header.image'],
      [list({ rows: many(11, row) }), 'interactive.action.sections[0].rows'],
      [
        list({ title: 'A', rows: many(6, row) }, { title: 'B', rows: many(5, (id) => row(id + 6)) }),
        'interactive.action.sections',
      ],
      [list({ title: 'One', rows: [row(1)] }, { rows: [row(2)] }), 'interactive.action.sections[1].title'],
      [list({ rows: [row(1), row(1)] }), 'interactive.action.sections'],
      [list({ rows: [] }), 'interactive.action.sections[0].rows'],
      [list(), 'interactive.action.sections'],
      [list(...many(11, (id) => ({ title: 'T', rows: [row(id)] }))), 'interactive.action.sections'],
      [list({ title: text(25), rows: [row(1)] }), 'interactive.action.sections[0].title'],
      [list({ rows: [{ ...row(1), id: 'x'.repeat(201) }] }), 'interactive.action.sections[0].rows[0].id'],
      [list({ rows: [{ ...row(1), title: text(25) }] }), 'interactive.action.sections[0].rows[0].title'],
      [
        { type: 'list', body, action: { button: text(21), sections: [{ rows: [row(1)] }] } },
        'interactive.action.button',
      ],
      [
        url({ display_text: 'Go', url: `https://shrub.example/${'a'.repeat(1979)}` }),
        'interactive.action.parameters.url',
      ],
      [
        { type: 'product', action: { catalog_id: text(101), product_retailer_id: 'p' } },
        'interactive.action.catalog_id',
      ],
      [
        { type: 'product', action: { catalog_id: 'c', product_retailer_id: text(101) } },
        'interactive.action.product_retailer_id',
      ],
      [flow({ flow_id: '1', flow_token: 'x'.repeat(257) }), 'interactive.action.parameters.flow_token'],
      [flow({ flow_id: '1', flow_message_version: '2' }), 'interactive.action.parameters.flow_message_version'],
      [flow({ flow_id: '1', mode: 'live' }), 'interactive.action.parameters.mode'],
      [list({ rows: [{ ...row(1), description: text(73) }] }), 'interactive.action.sections[0].rows[0].description'],
      [{ ...list({ rows: [row(1)] }), body: { text: text(4097) } }, 'interactive.body.text'],
      [{ ...list({ rows: [row(1)] }), header: { type: 'image', image: { id: 'x' } } }, 'interactive.header.text'],
      [url({ display_text: text(21), url: 'https://shrub.example' }), 'interactive.action.parameters.display_text'],
      [url({ display_text: 'Go', url: 'shrub.example' }), 'interactive.action.parameters.url'],
      [{ ...request, footer: { text: 'x' } }, 'interactive.footer'],
      [{ ...request, header: { type: 'text', text: 'x' } }, 'interactive.header'],
      [products(31), 'interactive.action.sections[0].product_items'],
      [{ ...products(1), header: undefined }, 'interactive.header'],
      [{ type: 'catalog_message', action: { name: 'catalog_message' } }, 'interactive.body'],
      [flow({ flow_id: '1', flow_name: 'booking' }), 'interactive.action.parameters'],
      [flow({}), 'interactive.action.parameters'],
      [flow({ flow_id: '1', flow_cta: text(31) }), 'interactive.action.parameters.flow_cta'],
    ],
  ],
]

onOneDatabase('kinds of message', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)
  const user = '16505551234'
  before(async () => {
    await sides.write(user)
  })
  const upload = async (file: Buffer): Promise<string> => {
    const json = { messaging_product: 'msgapp', file: file.toString('base64') }
    return (await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, json })).body.id
  }

  for (const [kind, taken, refused] of cases) {
    test(`${kind}: each limit at its edge is taken`, async () => {
      for (const value of taken) {
        const answer = await sides.post({ to: user, type: kind, [kind]: value })
        assert.equal(answer.status, 200, `${answer.text} ${JSON.stringify(value).slice(0, 200)}`)
      }
    })

    test(`${kind}: 400 that names the place beyond it`, async () => {
      for (const [value, place] of refused) {
        const answer = await sides.post({ to: user, type: kind, [kind]: value })
        assert.equal(answer.status, 400, JSON.stringify(value).slice(0, 200))
        assert.equal(answer.body.error.message.split(': ')[0], place)
        assert.equal(answer.body.error.error_data.details, answer.body.error.message)
      }
    })
  }

  test('interactive messages that are unknown or out of scope: 400, 131051, with those that are taken', async () => {
    const forms = ['carousel', 'address_message', 'request_contact_info', 'voice_call']
    for (const given of ['order_details', 'order_status', ...forms, 'poem']) {
      const answer = await sides.post({ to: user, type: 'interactive', interactive: { type: given, body, action: {} } })
      assertError(answer, interactiveKindNotTaken({ known: interactiveKinds }))
    }
  })

  test('the member of the kind is required, and members of others are ignored', async () => {
    const missing = await sides.post({ to: user, type: 'image' })
    assert.match(missing.body.error.message, /^image: it is required; send /)
    assert.equal((await sides.post({ to: user, text: { body: 'x' }, image: { id: 5 } })).status, 200)
  })

  test('a phone gets the degrees of a place as numbers', async () => {
    const id = await sides.send(user, { type: 'location', location: { latitude: '-90', longitude: '180.0' } })
    assert.deepEqual((await sides.show(id)).location, { latitude: -90, longitude: 180 })
  })

  test('biz_opaque_callback_data up to 512 characters', async () => {
    const send = (biz_opaque_callback_data: string) =>
      sides.post({ to: user, text: { body: 'x' }, biz_opaque_callback_data })
    assert.equal((await send(text(512))).status, 200)
    assert.equal((await send(text(513))).status, 400)
  })

  test("a media file by its id, kept as long as the message; another number's or another type: 422, 131053", async () => {
    const id = await sides.send(user, { type: 'image', image: { id: ids.media, caption: 'A fern' } })
    const { image } = await sides.show(id)
    assert.deepEqual([image.id, image.caption, image.mime_type], [ids.media, 'A fern', 'image/png'])
    const uses = await server.database.read.query
      .selectFrom('file_uses')
      .select('used_by')
      .where('sha256', '=', image.sha256)
      .execute()
    assert.ok(uses.some(({ used_by }) => used_by === `message:${id}`))
    for (const unknown of [strangerIds.media, '1', ids.phone_number]) {
      assertError(await sides.post({ to: user, type: 'image', image: { id: unknown } }), mediaUnknown)
    }
    const [file, paper] = [await upload(png), await upload(pdf)]
    await server.client.delete(`/v23.0/${file}`, { token: tokens.owner })
    assertError(await sides.post({ to: user, type: 'image', image: { id: file } }), mediaUnknown)
    const asImage = await sides.post({ to: user, type: 'image', image: { id: paper } })
    assert.deepEqual([asImage.status, asImage.body.error.code], [422, 131053])
    const document = await sides.send(user, { type: 'document', document: { id: paper, filename: text(240) } })
    assert.equal((await sides.show(document)).document.filename, text(240))
    const wrong = await sides.post({ to: user, type: 'sticker', sticker: { id: ids.media } })
    assertError(wrong, mediaTypeNotTaken({ found: 'image/png', type: 'sticker', types: ['image/webp'] }))
    const voice = await sides.post({ to: user, type: 'audio', audio: { id: ids.media, voice: true } })
    assertError(voice, mediaTypeNotTaken({ found: 'image/png', type: 'audio', types: ['audio/ogg; codecs=opus'] }))
  })
})
