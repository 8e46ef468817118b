import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { mp4, png } from '../../../../test/harness/media-files.ts'
import { carousel, publicSides, quickReplies, shopButton, shortBody } from '../../../../test/harness/public-messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { numbers } from '../../../../test/harness/world.ts'
import { callingOff } from '../../calls/public.ts'
import { mediaTypeNotTaken, mediaUnknown } from '../errors.ts'

const text = (length: number) => 'x'.repeat(length)

onOneDatabase('interactive messages of the public platform', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const sides = publicSides(server)
  let user: string
  let picture: object
  let film: object
  before(async () => {
    user = await sides.meetUser()
    picture = { type: 'image', image: { id: await sides.upload(png, 'image/png') } }
    film = { type: 'video', video: { id: await sides.upload(mp4('isom', ['vide']), 'video/mp4') } }
  })

  const card = (rest: object = {}) => ({ header: picture, action: shopButton, ...rest })
  const cards = (count: number, rest: object = {}) => carousel(Array.from({ length: count }, () => card(rest)))
  const replies = (...at: readonly object[]) => carousel(at.map((action) => card({ action })))
  const withParameters = (parameters: object) => ({
    type: 'address_message',
    body: shortBody,
    action: { name: 'address_message', parameters },
  })
  const call = (parameters?: object) => ({
    type: 'voice_call',
    body: shortBody,
    action: { name: 'voice_call', ...(parameters && { parameters }) },
  })
  const contact = { type: 'request_contact_info', body: shortBody, action: { name: 'request_contact_info' } }
  const url = (value: string) => ({ ...shopButton, parameters: { ...shopButton.parameters, url: value } })
  const shown = (value: string) => ({ ...shopButton, parameters: { ...shopButton.parameters, display_text: value } })
  const saved = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id: String(id), value: { city: 'Pune' } }))

  test('each limit at its edge is taken', async () => {
    const taken: readonly object[] = [
      cards(2),
      cards(10),
      cards(2, { body: { text: text(160) } }),
      cards(2, { body: { text: 'one\ntwo\nthree' } }),
      cards(2, { action: shown(text(20)) }),
      carousel([card(), card({ header: film })]),
      { ...cards(2), body: { text: text(1024) } },
      carousel([card({ card_index: 1 }), card({ card_index: 0 })]),
      replies(quickReplies(['a', 'Yes']), quickReplies(['b', 'Yes'])),
      replies(
        quickReplies(['a', text(20)], ['b', 'Two'], [text(256), 'Three']),
        quickReplies(['d', 'One'], ['e', 'Two'], ['f', 'Three']),
      ),
      withParameters({ country: 'IN' }),
      withParameters({ country: 'SG', values: { sg_post_code: '123', unit_number: text(256), city: '' } }),
      withParameters({ country: 'IN', saved_addresses: saved(20) }),
      withParameters({ country: 'IN', values: { in_pin_code: '1' }, validation_errors: { in_pin_code: text(256) } }),
      { ...withParameters({ country: 'IN' }), header: { type: 'text', text: 'Delivery' }, footer: { text: 'Thanks' } },
      contact,
      { ...contact, body: { text: text(1024) } },
      call(),
      call({ display_text: text(20), ttl_minutes: 1, payload: text(512) }),
      call({ ttl_minutes: 43_200 }),
    ]
    for (const interactive of taken) {
      const answer = await sides.post(user, interactive)
      assert.equal(answer.status, 200, `${answer.text} ${JSON.stringify(interactive).slice(0, 300)}`)
    }
  })

  test('400 that names the place beyond it', async () => {
    const at = 'interactive.action.cards'
    const of = 'interactive.action.parameters'
    const refused: readonly (readonly [interactive: object, place: string])[] = [
      [cards(1), at],
      [cards(11), at],
      [{ ...cards(2), body: undefined }, 'interactive.body'],
      [{ ...cards(2), body: { text: text(1025) } }, 'interactive.body.text'],
      [{ ...cards(2), header: { type: 'text', text: 'x' } }, 'interactive.header'],
      [{ ...cards(2), footer: { text: 'x' } }, 'interactive.footer'],
      [cards(2, { type: 'product' }), `${at}[0].type`],
      [cards(2, { body: { text: text(161) } }), `${at}[0].body.text`],
      [cards(2, { body: { text: '1\n2\n3\n4' } }), `${at}[0].body.text`],
      [cards(2, { header: undefined }), `${at}[0].header`],
      [cards(2, { header: { type: 'document', document: { id: '1' } } }), `${at}[0].header.type`],
      [cards(2, { header: { type: 'image' } }), `${at}[0].header.image`],
      [cards(2, { header: { type: 'image', image: {} } }), `${at}[0].header.image`],
      [cards(2, { header: { type: 'image', image: { link: 'ftp://x' } } }), `${at}[0].header.image.link`],
      [cards(2, { action: {} }), `${at}[0].action.name`],
      [cards(2, { action: shown(text(21)) }), `${at}[0].action.parameters.display_text`],
      [cards(2, { action: url('ftp://example.com') }), `${at}[0].action.parameters.url`],
      [cards(2, { card_index: 0 }), at],
      [carousel([card(), card({ card_index: 2 })]), at],
      [cards(2, { card_index: 10 }), `${at}[0].card_index`],
      [replies(quickReplies(['a', 'A']), shopButton), `${at}[1].action`],
      [replies(quickReplies(['a', 'A']), quickReplies(['b', 'B'], ['c', 'C'])), `${at}[1].action`],
      [replies(quickReplies(['a', 'A']), quickReplies(['a', 'A'])), at],
      [replies(quickReplies(['a', 'A'], ['b', 'A'])), at],
      [replies(quickReplies(['a', 'A'], ['b', 'A']), quickReplies(['c', 'C'])), `${at}[0].action.buttons`],
      [replies(quickReplies([' a', 'A']), quickReplies(['b', 'B'])), `${at}[0].action.buttons[0].quick_reply.id`],
      [replies(quickReplies(['a', text(21)]), shopButton), `${at}[0].action.buttons[0].quick_reply.title`],
      [replies(quickReplies([text(257), 'A']), shopButton), `${at}[0].action.buttons[0].quick_reply.id`],
      [replies(quickReplies(), quickReplies()), `${at}[0].action.buttons`],
      [withParameters({}), `${of}.country`],
      [withParameters({ country: 'FR' }), `${of}.country`],
      [withParameters({ country: 'SG', values: { in_pin_code: '1' } }), `${of}.values.in_pin_code`],
      [withParameters({ country: 'IN', values: { city: text(257) } }), `${of}.values.city`],
      [withParameters({ country: 'IN', saved_addresses: [] }), `${of}.saved_addresses`],
      [withParameters({ country: 'IN', saved_addresses: saved(21) }), `${of}.saved_addresses`],
      [withParameters({ country: 'IN', saved_addresses: [...saved(1), ...saved(1)] }), `${of}.saved_addresses`],
      [
        withParameters({ country: 'IN', saved_addresses: [{ id: 'a', value: { in_pin_code: '12345' } }] }),
        `${of}.saved_addresses[0].value.in_pin_code`,
      ],
      [withParameters({ country: 'IN', validation_errors: { town: 'x' } }), `${of}.validation_errors.town`],
      [withParameters({ country: 'IN', validation_errors: { city: text(257) } }), `${of}.validation_errors.city`],
      [{ ...contact, action: {} }, 'interactive.action.name'],
      [{ ...contact, body: undefined }, 'interactive.body'],
      [{ ...contact, footer: { text: 'x' } }, 'interactive.footer'],
      [{ ...call(), header: { type: 'text', text: 'x' } }, 'interactive.header'],
      [call({ display_text: text(21) }), `${of}.display_text`],
      [call({ ttl_minutes: 0 }), `${of}.ttl_minutes`],
      [call({ ttl_minutes: 43_201 }), `${of}.ttl_minutes`],
      [call({ payload: text(513) }), `${of}.payload`],
    ]
    for (const [interactive, place] of refused) {
      const { status, body } = await sides.post(user, interactive)
      const { code, error_data } = body.error ?? {}
      assert.deepEqual([status, code], [400, 100], JSON.stringify(interactive).slice(0, 300))
      assert.equal(error_data.details.split(': ')[0], place)
    }
  })

  test('the file of a card is one of the number and of the type of its header', async () => {
    const other = await sides.post(user, carousel([card(), card({ header: { type: 'image', image: { id: '1' } } })]))
    assertError(other, mediaUnknown())
    const { video } = film as { video: object }
    const wrong = await sides.post(user, carousel([card(), card({ header: { type: 'image', image: video } })]))
    assertError(wrong, mediaTypeNotTaken({ found: 'video/mp4', type: 'image', types: ['image/jpeg', 'image/png'] }))
  })

  test('a number whose calls are switched off sends no button that calls', async () => {
    const set = (calling_enabled: boolean) =>
      server.database.transaction(({ query }) =>
        query.updateTable('phone_numbers').set({ calling_enabled }).where('id', '=', numbers.main).execute(),
      )
    await set(false)
    const answer = await sides.post(user, call())
    await set(true)
    assertError(answer, callingOff())
  })
})
