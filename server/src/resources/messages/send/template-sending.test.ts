import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { pdf, png } from '../../../../test/harness/media-files.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, bodyWith, buttons, templateCalls } from '../../../../test/harness/template-calls.ts'
import { ids, numbers, testWorld, tokens } from '../../../../test/harness/world.ts'
import { day, second } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'

const text = (value: string) => ({ type: 'text', text: value })
const named = (parameter_name: string, value: string) => ({ ...text(value), parameter_name })
const toBody = (...parameters: object[]) => ({ type: 'body', parameters })
const toHeader = (...parameters: object[]) => ({ type: 'header', parameters })
const toButton = (sub_type: string, index: number, ...parameters: object[]) => ({
  ...{ type: 'button', sub_type, index, parameters },
})
const tiny = '4000000000000051'

/** Templates that a file may have, whose headers need no example. */
const fileTemplates = [
  { name: 'with_image', components: [{ type: 'HEADER', format: 'IMAGE' }, body] },
  { name: 'with_document', components: [{ type: 'HEADER', format: 'DOCUMENT' }, body] },
  { name: 'with_place', components: [{ type: 'HEADER', format: 'LOCATION' }, body] },
  { name: 'long', components: [bodyWith('This is what it says: {{1}}, and nothing more.', 'x')] },
  {
    name: 'two_parts',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A7'] } },
      bodyWith('Dear {{1}}, your order is on its way to you.', 'Ada'),
      { type: 'FOOTER', text: 'Lucky Shrub' },
      buttons(
        { type: 'QUICK_REPLY', text: 'I am coming' },
        { type: 'QUICK_REPLY', text: 'Later' },
        { type: 'URL', text: 'Track', url: 'https://shrub.example/{{1}}', example: ['https://shrub.example/A7'] },
      ),
    ],
  },
  {
    name: 'by_name',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'BODY',
        text: 'Dear {{who}}, your order {{what}} is ready for you now.',
        example: {
          body_text_named_params: [
            { param_name: 'who', example: 'Ada' },
            { param_name: 'what', example: 'A7' },
          ],
        },
      },
    ],
  },
  { name: 'rejected_one', status: 'REJECTED', rejected_reason: 'SCAM', components: [body] },
  { name: 'pending_one', status: 'PENDING', components: [body] },
  { name: 'paused_one', status: 'PAUSED', components: [body] },
  { name: 'disabled_one', status: 'DISABLED', components: [body] },
  { name: 'short_life', message_send_ttl_seconds: 60, components: [body] },
]

function worldWithTemplates() {
  const world = testWorld()
  const [account, ...others] = world.accounts as unknown as { phone_numbers: object[]; templates: object[] }[]
  if (!account) throw new Error('the world has no account')
  const made = fileTemplates.map((template, index) => ({
    ...{ id: `51000000000001${String(index).padStart(2, '0')}`, language: 'en_US', category: 'UTILITY' },
    ...template,
  }))
  const number = {
    id: tiny,
    display_phone_number: '+1 631-555-1051',
    registered: true,
    messaging_limit_tier: 'TIER_50',
  }
  return {
    ...world,
    accounts: [
      {
        ...account,
        templates: [...account.templates, ...made],
        phone_numbers: [...account.phone_numbers, number],
      },
      ...others,
    ],
  }
}

onOneDatabase('sending templates', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithTemplates(), env: { MAX_MARKETING_PER_USER_PER_DAY: '2' } })
  const sides = messageSides(server)
  const calls = templateCalls(server)
  const describeTemplate = (name: string, ...components: object[]) => ({
    type: 'template',
    template: { name, language: { code: 'en_US' }, ...(components.length > 0 && { components }) },
  })
  const post = (name: string, ...components: object[]) =>
    sides.post({ to: sides.newUser(), ...describeTemplate(name, ...components) })
  const upload = async (file: Buffer): Promise<string> => {
    const json = { messaging_product: 'msgapp', file: file.toString('base64') }
    const { body: made, ...answer } = await server.client.post(`/v23.0/${numbers.main}/media`, {
      token: tokens.owner,
      json,
    })
    assert.equal(answer.status, 200, answer.text)
    return made.id
  }
  let picture = ''
  let document = ''
  before(async () => {
    picture = await upload(png)
    document = await upload(pdf)
  })

  test('a template without a window: 200 with its status, then sent and delivered, at the price of its category', async () => {
    const user = sides.newUser()
    const answer = await sides.post({ to: user, ...describeTemplate('hello_world'), biz_opaque_callback_data: 'o1' })
    assert.equal(answer.status, 200, answer.text)
    const [{ id }] = answer.body.messages
    assert.deepEqual(answer.body.messages, [{ id, message_status: 'accepted' }])
    const [sent, delivered, ...others] = await sides.statusesOf(id)
    assert.deepEqual([sent.status, delivered.status, others], ['sent', 'delivered', []])
    const regular = { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' }
    assert.deepEqual([sent.pricing, delivered.pricing], [regular, regular])
    assert.deepEqual([sent.conversation.origin, sent.biz_opaque_callback_data], [{ type: 'utility' }, 'o1'])
    await sides.write(user)
    const [inside] = await sides.statusesOf(await sides.send(user, describeTemplate('hello_world')))
    assert.deepEqual(inside.pricing, { ...regular, billable: false, type: 'free_customer_service' })
    assert.equal(inside.conversation.id, sent.conversation.id)
    const [marketing] = await sides.statusesOf(await sides.send(user, describeTemplate('closing_sale')))
    assert.deepEqual(marketing.pricing, { ...regular, category: 'marketing' })
    assert.notEqual(marketing.conversation.id, sent.conversation.id)
  })

  test('the phone sees it filled in, and the template as it was sent', async () => {
    const components = [
      toHeader(text('A7')),
      toBody(text('Ada')),
      toButton('quick_reply', 0, { type: 'payload', payload: 'COMING' }),
      toButton('url', 2, text('A7?x=1')),
    ]
    const id = await sides.send(sides.newUser(), describeTemplate('two_parts', ...components))
    const { type, template, rendered } = await sides.show(id)
    assert.deepEqual([type, template.name, template.components], ['template', 'two_parts', components])
    assert.deepEqual(rendered, {
      header: { type: 'text', text: 'Order A7' },
      body: 'Dear Ada, your order is on its way to you.',
      footer: 'Lucky Shrub',
      buttons: [
        { index: 0, type: 'QUICK_REPLY', text: 'I am coming', payload: 'COMING' },
        { index: 1, type: 'QUICK_REPLY', text: 'Later', payload: 'Later' },
        { index: 2, type: 'URL', text: 'Track', url: 'https://shrub.example/A7?x=1' },
      ],
    })
  })

  test('a press of a quick reply hands in its payload, by an index that is a number or a text', async () => {
    const user = sides.newUser()
    const filled = [
      toHeader(text('A7')),
      toBody(text('Ada')),
      toButton('QUICK_REPLY', 0, { type: 'payload', payload: 'COMING' }),
      toButton('url', 2, text('A7')),
    ]
    const id = await sides.send(user, describeTemplate('two_parts', ...filled))
    for (const choice of [0, '1']) assert.equal((await sides.act(id, 'press', { choice })).status, 200)
    const heard = await sides.readDelivered(user)
    assert.deepEqual(
      heard.map(({ type, button, context }) => ({ type, button, context })),
      [
        { payload: 'COMING', text: 'I am coming' },
        { payload: 'Later', text: 'Later' },
      ].map((button) => ({ type: 'button', button, context: { from: '16315551001', id } })),
    )
    assert.equal(await sides.namesOf(id), 'sent, delivered, read')
    for (const rest of [{ choice: 2 }, { choice: 'Later' }, {}]) {
      assert.equal((await sides.act(id, 'press', rest)).status, 422)
    }
    const plain = await sides.send(user, describeTemplate('hello_world'))
    assert.equal((await sides.act(plain, 'press', { choice: 0 })).status, 422)
  })

  test('named parameters come in any order', async () => {
    const id = await sides.send(
      sides.newUser(),
      describeTemplate('by_name', toBody(named('what', 'A7'), named('who', 'Ada'))),
    )
    assert.equal((await sides.show(id)).rendered.body, 'Dear Ada, your order A7 is ready for you now.')
  })

  test('each refusal with its status and code, and nothing is stored', async () => {
    const good = [toHeader(text('A7')), toBody(text('Ada')), toButton('url', 2, text('A7'))]
    const [header, , url] = good as [object, object, object]
    const place = { type: 'location', location: { latitude: 91, longitude: 0 } }
    const image = (id: string) => toHeader({ type: 'image', image: { id } })
    const cases: [status: number, code: number, name: string, components: object[]][] = [
      [422, 132001, 'no_such', []],
      [422, 132001, 'rejected_one', []],
      [422, 132001, 'pending_one', []],
      [422, 132015, 'paused_one', []],
      [422, 132016, 'disabled_one', []],
      [422, 132000, 'two_parts', [header, toBody(text('Ada'), text('B')), url]],
      [422, 132000, 'hello_world', [toBody(text('Ada'))]],
      [422, 132000, 'hello_world', [header]],
      [422, 132012, 'two_parts', []],
      [422, 132012, 'two_parts', [header, toBody(text('a\nb')), url]],
      [422, 132012, 'two_parts', [header, toBody(text('a     b')), url]],
      [422, 132012, 'two_parts', [header, toBody(text('Ada'))]],
      [422, 132012, 'two_parts', [...good, toButton('url', 3, text('A7'))]],
      [422, 132012, 'two_parts', [...good, toButton('quick_reply', 0, { type: 'payload', payload: 'x'.repeat(257) })]],
      [422, 132012, 'with_place', [toHeader(place)]],
      [422, 132012, 'with_image', [toHeader({ type: 'image', image: { link: 'ftp://shrub.example/a.png' } })]],
      [400, 100, 'by_name', [toBody(named('who', 'Ada'), text('A7'))]],
      [422, 132000, 'by_name', [toBody(named('who', 'Ada'), named('when', 'A7'))]],
      [422, 132005, 'two_parts', [toHeader(text('x'.repeat(55))), toBody(text('Ada')), url]],
      [422, 132005, 'two_parts', [header, toBody(text('x'.repeat(1000))), url]],
      [422, 131053, 'with_image', [image('123')]],
      [422, 131053, 'with_image', [image(document)]],
      [422, 131053, 'with_document', [toHeader({ type: 'document', document: { id: picture } })]],
      // A file that is missing is refused before the template, and a wrong parameter before a text that is too long.
      [422, 131053, 'no_such', [image('123')]],
      [422, 132012, 'two_parts', [toHeader(text('x'.repeat(55))), toBody(text('')), url]],
    ]
    const countMessages = async () =>
      (await server.database.read.query.selectFrom('messages').select('id').execute()).length
    const count = await countMessages()
    for (const [status, code, name, components] of cases) {
      const answer = await post(name, ...components)
      assert.deepEqual([answer.status, answer.body.error?.code], [status, code], `${name}: ${answer.text}`)
      assert.equal(answer.body.error.error_data.details, answer.body.error.message)
    }
    for (const template of [
      { language: { code: 'en_US' } },
      { name: 'hello_world' },
      { name: 'hello_world', language: { code: 'en_US', policy: 'fallback' } },
      { name: 'hello_world', language: { code: 'en_US' }, components: {} },
    ]) {
      const answer = await sides.post({ to: sides.newUser(), type: 'template', template })
      assert.deepEqual([answer.status, answer.body.error?.code], [400, 100], answer.text)
    }
    assert.equal((await post('hello_world')).status, 200)
    const german = { name: 'hello_world', language: { code: 'de' } }
    assert.equal((await sides.post({ to: sides.newUser(), type: 'template', template: german })).status, 422)
    assert.equal(await countMessages(), count + 1)
  })

  test('texts are as long as they may be', async () => {
    const url = toButton('url', 2, text('A7'))
    const header = toHeader(text('x'.repeat(54)))
    const room = 1024 - 'Dear , your order is on its way to you.'.length
    assert.equal((await post('two_parts', header, toBody(text('🌱'.repeat(room))), url)).status, 200)
    assert.equal((await post('two_parts', header, toBody(text('🌱'.repeat(room + 1))), url)).body.error.code, 132005)
    const lone = 32_768 - 'This is what it says: , and nothing more.'.length
    assert.equal((await post('long', toBody(text('x'.repeat(lone))))).status, 200)
    assert.equal((await post('long', toBody(text('x'.repeat(lone + 1))))).body.error.code, 132005)
  })

  test('headers with a file by its id, and with a place', async () => {
    const id = await sides.send(
      sides.newUser(),
      describeTemplate('with_image', toHeader({ type: 'image', image: { id: picture } })),
    )
    const { header } = (await sides.show(id)).rendered
    assert.deepEqual(
      [header.type, header.image.id, header.image.mime_type, header.image.file_size],
      ['image', picture, 'image/png', png.length],
    )
    const paper = { type: 'document', document: { id: document, filename: 'order.pdf' } }
    const shown = await sides.show(
      await sides.send(sides.newUser(), describeTemplate('with_document', toHeader(paper))),
    )
    assert.deepEqual(
      [shown.rendered.header.document.filename, shown.rendered.header.document.mime_type],
      ['order.pdf', 'application/pdf'],
    )
    const place = { type: 'location', location: { latitude: '37.48', longitude: -122.1, name: 'Shop' } }
    const there = await sides.show(await sides.send(sides.newUser(), describeTemplate('with_place', toHeader(place))))
    assert.deepEqual(there.rendered.header, {
      type: 'location',
      location: { latitude: 37.48, longitude: -122.1, name: 'Shop' },
    })
  })

  test('an authentication template: the code in body and button, and a life of 600 s', async () => {
    const otp = { type: 'OTP', otp_type: 'COPY_CODE' }
    const components = [{ type: 'BODY', add_security_recommendation: true }, buttons(otp)]
    await calls.make({ name: 'code', category: 'AUTHENTICATION', components })
    const code = (inBody: string, inButton = inBody) =>
      describeTemplate('code', toBody(text(inBody)), toButton('url', 0, text(inButton)))
    const user = sides.newUser()
    await sides.gateway(`users/${user}`, { presence: 'offline' })
    const id = await sides.send(user, code('123456'))
    const { rendered } = await sides.show(id)
    assert.match(rendered.body, /123456/)
    assert.deepEqual([rendered.buttons[0].type, rendered.buttons[0].code], ['OTP', '123456'])
    for (const [refused, expected] of [
      [code('123456', '654321'), 132012],
      [code('x'.repeat(16)), 132005],
      [describeTemplate('code', toBody(text('1'))), 132012],
    ] as const) {
      assert.equal((await sides.post({ to: user, ...refused })).body.error.code, expected)
    }
    assert.equal((await sides.post({ to: user, ...code('x'.repeat(15)) })).status, 200)
    server.clock.advance(600 * second - 1)
    assert.equal((await sides.show(id)).state, 'sent')
    server.clock.advance(1)
    assert.equal((await sides.show(id)).state, 'expired')
    await sides.gateway(`users/${user}`, { presence: 'online' })
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent')
    assert.equal((await sides.act(id, 'deliver')).status, 200)
    assert.equal(await sides.namesOf(id), 'sent')
  })

  test('a message that is delivered within the life of its template, and one that is not', async () => {
    const [early, late] = [sides.newUser(), sides.newUser()]
    for (const user of [early, late]) await sides.gateway(`users/${user}`, { presence: 'offline' })
    const first = await sides.send(early, describeTemplate('short_life'))
    const second_ = await sides.send(late, describeTemplate('short_life'))
    server.clock.advance(60 * second - 1)
    await sides.gateway(`users/${early}`, { presence: 'online' })
    server.clock.advance(1)
    await sides.gateway(`users/${late}`, { presence: 'online' })
    await server.app.settle()
    assert.deepEqual([await sides.namesOf(first), await sides.namesOf(second_)], ['sent, delivered', 'sent'])
  })

  test('a user who stopped marketing gets none of it until the user resumes; utility passes', async () => {
    const user = sides.newUser()
    const chat = `users/${user}/chats/${numbers.main}`
    assert.equal((await sides.gateway(chat, { marketing: 'stop' })).status, 200)
    assert.equal(await sides.namesOf(await sides.send(user, describeTemplate('closing_sale'))), 'failed 131050')
    assert.equal(await sides.namesOf(await sides.send(user, describeTemplate('hello_world'))), 'sent, delivered')
    await sides.gateway(chat, { marketing: 'resume' })
    assert.equal(await sides.namesOf(await sides.send(user, describeTemplate('closing_sale'))), 'sent, delivered')
  })

  test('marketing over the limit of a day fails, other templates pass, and a day later it is free again', async () => {
    const user = sides.newUser()
    const send = async (name: string) => sides.namesOf(await sides.send(user, describeTemplate(name)))
    assert.equal(await send('closing_sale'), 'sent, delivered')
    server.clock.advance(second)
    assert.equal(await send('closing_sale'), 'sent, delivered')
    assert.equal(await send('closing_sale'), 'failed 131049')
    assert.equal(await send('hello_world'), 'sent, delivered')
    server.clock.advance(day - second - 1)
    assert.equal(await send('closing_sale'), 'failed 131049')
    server.clock.advance(1)
    assert.equal(await send('closing_sale'), 'sent, delivered')
    assert.equal(await send('closing_sale'), 'failed 131049')
  })

  test('an unreachable user comes before what templates are limited by', async () => {
    const user = sides.newUser()
    await sides.gateway(`users/${user}`, { reachable: false })
    await sides.gateway(`users/${user}/chats/${numbers.main}`, { marketing: 'stop' })
    assert.equal(await sides.namesOf(await sides.send(user, describeTemplate('closing_sale'))), 'failed 131026')
  })

  test('the 51st user of a TIER_50 within 24 h fails, at once or not; who was sent to before passes, and a window does', async () => {
    const small = messageSides(server, tiny)
    const send = async (user: string) => small.namesOf(await small.send(user, describeTemplate('hello_world')))
    const users = Array.from({ length: 50 }, () => sides.newUser())
    const unreachable = sides.newUser()
    await sides.gateway(`users/${unreachable}`, { reachable: false })
    assert.equal(await send(unreachable), 'failed 131026')
    for (const user of users.slice(0, 40)) assert.equal(await send(user), 'sent, delivered')
    server.clock.advance(second)
    const [last] = users.slice(-1) as [string]
    const others = Array.from({ length: 5 }, () => sides.newUser())
    const together = await Promise.all([...users.slice(40, 49), ...others].map(send))
    assert.equal(together.filter((names) => names === 'sent, delivered').length, 10)
    assert.equal(together.filter((names) => names === 'failed 131048').length, 4)
    assert.equal(await send(last), 'failed 131048')
    assert.equal(await send(users[0] as string), 'sent, delivered')
    await small.write(last)
    assert.equal(await send(last), 'sent, delivered')
    // The first of them was sent to again a second later; the others no longer count.
    server.clock.advance(day - second)
    const later = await Promise.all(Array.from({ length: 40 }, () => send(sides.newUser())))
    assert.equal(later.filter((names) => names === 'sent, delivered').length, 39)
  })

  test('each tier ends with its last user, and the one without a limit nowhere', async () => {
    const small = messageSides(server, tiny)
    const send = async () => small.namesOf(await small.send(small.newUser(), describeTemplate('hello_world')))
    const { query } = server.database.read
    const write = (work: (tx: Transaction) => Promise<unknown>) => server.database.transaction(work)
    await write((tx) => tx.query.updateTable('chats').set({ template_time: null }).execute())
    const tiers = { TIER_250: 250, TIER_1K: 1000, TIER_10K: 10_000, TIER_100K: 100_000 }
    for (const [messaging_limit_tier, users] of Object.entries(tiers)) {
      const { count } = await query
        .selectFrom('chats')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('phone_number_id', '=', tiny)
        .where('template_time', 'is not', null)
        .executeTakeFirstOrThrow()
      await write(async (tx) => {
        await tx.query.updateTable('phone_numbers').set({ messaging_limit_tier }).where('id', '=', tiny).execute()
        // Users who were sent to: all but one of the tier.
        await sql`INSERT INTO chats (id, phone_number_id, blocked, marketing, typing_until, pair_time, template_time, conversations, last_time)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${users - 1 - Number(count)})
          SELECT ${messaging_limit_tier} || i, ${tiny}, FALSE, 'resume', 0, 0, ${server.clock.now()}, '{}', 0 FROM n`.execute(
          tx.query,
        )
      })
      assert.deepEqual([await send(), await send()], ['sent, delivered', 'failed 131048'], messaging_limit_tier)
    }
    const messaging_limit_tier = 'TIER_UNLIMITED'
    await write((tx) =>
      tx.query.updateTable('phone_numbers').set({ messaging_limit_tier }).where('id', '=', tiny).execute(),
    )
    assert.equal(await send(), 'sent, delivered')
  })

  test('a template to a group: the price of groups, and no authentication template', async () => {
    const { invite_link } = (await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })).body
    const user = sides.newUser()
    await sides.gateway('groups/join', { invite_link, user_wa_id: user })
    const group = { recipient_type: 'group', to: ids.group }
    const answer = await sides.post({ ...group, ...describeTemplate('hello_world') })
    const [{ id }] = answer.body.messages
    assert.deepEqual(answer.body.messages, [{ id, group_id: ids.group, message_status: 'accepted' }])
    const [sent] = await sides.statusesOf(id)
    assert.equal(await sides.namesOf(id), 'sent, delivered')
    assert.deepEqual(
      [sent.pricing.category, sent.pricing.type, sent.pricing.billable],
      ['group_utility', 'regular', true],
    )
    assert.equal((await sides.act(id, 'read', { user_wa_id: user })).status, 200)
    await sides.gateway('messages', { group_id: ids.group, from: user, type: 'text', text: { body: 'Hi' } })
    const inside = await sides.post({ ...group, ...describeTemplate('hello_world') })
    const [free] = await sides.statusesOf(inside.body.messages[0].id)
    assert.deepEqual([free.pricing.type, free.pricing.billable], ['free_group_customer_service', false])
    const refused = await sides.post({ ...group, ...describeTemplate('code') })
    assert.deepEqual([refused.status, refused.body.error.code], [400, 131051])
    const unknown = await sides.post({ ...group, ...describeTemplate('no_such') })
    assert.equal(unknown.body.error.code, 132001)
  })
})
