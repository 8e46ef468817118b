import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError, like } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, templateCalls } from '../../../../test/harness/template-calls.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { libraryTemplatesNotOffered, memberNotTaken, templateTextLength } from '../errors.ts'
import { type LibraryText, libraryTemplates } from './library.ts'

const url = { type: 'URL', url: { base_url: 'https://shrub.example/orders' } }
const phone = { type: 'PHONE_NUMBER', phone_number: '+16505551234' }
const inputs = 'library_template_button_inputs'

const inputsOf = ({ buttons = [] }: LibraryText) =>
  buttons.flatMap<object>(({ type }) => (type === 'URL' ? [url] : type === 'PHONE_NUMBER' ? [phone] : []))

onOneDatabase('templates of the library', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const calls = templateCalls(server)
  const take = (library_template_name: string, members: object = {}) =>
    calls.create({ components: undefined, library_template_name, ...members })

  test('every one of them keeps the rules, in each of its languages and with all that can be added', async () => {
    for (const [name, { category, texts }] of Object.entries(libraryTemplates)) {
      assert.ok(Object.keys(texts).length > 1 && texts['en_US'], name)
      for (const [language, text] of Object.entries(texts)) {
        const body_inputs = Object.fromEntries(Object.keys(text.additions ?? {}).map((input) => [input, true]))
        const answer = await take(name, {
          ...{ name, language, category },
          library_template_body_inputs: body_inputs,
          ...(inputsOf(text).length > 0 && { [inputs]: inputsOf(text) }),
        })
        assert.equal(answer.status, 200, answer.text)
        const { components, status } = (await calls.read(answer.body.id)).body
        const said = components.find(({ type }: { type: string }) => type === 'BODY').text
        assert.equal(status, 'APPROVED')
        assert.equal(said, [text.body, ...Object.values(text.additions ?? {})].join(' '))
      }
    }
  })

  test('one is created with its components, and with where its buttons lead to', async () => {
    const base_url = 'https://shrub.example/track/{{1}}'
    const url_suffix_example = 'https://shrub.example/track/A7'
    const answer = await take('delivery_update', {
      [inputs]: [{ type: 'url', url: { base_url, url_suffix_example } }, phone],
      library_template_body_inputs: { add_track_package_link: true, add_contact_number: false },
    })
    assert.deepEqual(answer.body, { id: answer.body.id, status: 'PENDING', category: 'UTILITY' })
    assert.deepEqual((await calls.read(answer.body.id)).body.components, [
      {
        type: 'BODY',
        text: 'Good news, {{1}}: your parcel is on its way and should reach you on {{2}} at the latest. The button below shows where it is.',
        example: { body_text: [['Ada', 'June 3']] },
      },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'URL', text: 'Track parcel', url: base_url, example: [url_suffix_example] },
          { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+16505551234' },
        ],
      },
    ])
    // It is a template like any other from then on.
    assert.equal((await calls.edit(answer.body.id, { components: [body] })).status, 200)
  })

  test('the inputs may come as JSON text in a form', async () => {
    const form = {
      ...{ name: 'from_a_form', language: 'en_US', category: 'UTILITY', library_template_name: 'order_confirmation' },
      [inputs]: JSON.stringify([url]),
    }
    const answer = await calls.create({}, { json: undefined, form })
    assert.equal(answer.status, 200, answer.text)
  })

  test('400 for a name, language or category that the library does not have, and for inputs that do not fit', async () => {
    const where = 'with library_template_name, which has its own'
    const order = (button_inputs: unknown) => take('order_confirmation', { [inputs]: button_inputs })
    for (const [answer, expected] of [
      [await take('no_such_one'), like(argumentWrong, { argument: 'library_template_name' })],
      [await take('constructor'), like(argumentWrong, { argument: 'library_template_name' })],
      [await take('feedback_request', { language: 'de' }), like(argumentWrong, { argument: 'language' })],
      [await take('feedback_request', { category: 'MARKETING' }), like(argumentWrong, { argument: 'category' })],
      [await take('feedback_request', { components: [body] }), memberNotTaken('components', { where })],
      [await take('feedback_request', { parameter_format: 'named' }), memberNotTaken('parameter_format', { where })],
      [await take('feedback_request', { [inputs]: [url] }), like(argumentWrong, { argument: inputs })],
      [
        await take('feedback_request', { library_template_body_inputs: { add_contact_number: true } }),
        like(memberNotTaken, { argument: 'library_template_body_inputs.add_contact_number' }),
      ],
      [
        await take('feedback_request', { library_template_body_inputs: { code_expiration_minutes: 5 } }),
        like(memberNotTaken, { argument: 'library_template_body_inputs.code_expiration_minutes' }),
      ],
      [await order(undefined), like(argumentWrong, { argument: inputs })],
      [await order([url, url]), like(argumentWrong, { argument: inputs })],
      [await order([phone]), like(argumentWrong, { argument: inputs })],
      [await order([{ type: 'URL' }]), like(argumentMissing, { argument: `${inputs}[0].url` })],
      [
        await order([{ type: 'URL', url: { base_url: 'ftp://shrub.example' } }]),
        like(argumentWrong, { argument: `${inputs}[0].url` }),
      ],
      [
        await order([{ type: 'URL', url: { base_url: `https://shrub.example/${'a'.repeat(1979)}` } }]),
        templateTextLength(`${inputs}[0].url`, { max: 2000 }),
      ],
      [
        await order([{ type: 'URL', url: { base_url: 'https://shrub.example/{{1}}' } }]),
        like(argumentMissing, { argument: `${inputs}[0].example` }),
      ],
      [
        await take('account_alert', { [inputs]: [{ type: 'PHONE_NUMBER', phone_number: '123' }] }),
        like(argumentWrong, { argument: `${inputs}[0].phone_number` }),
      ],
      [await calls.create({ [inputs]: [url] }), memberNotTaken(inputs, { where: 'without library_template_name' })],
      [await calls.create({ components: undefined }), like(argumentMissing, { argument: 'components' })],
    ] as const) {
      assertError(answer, expected)
    }
  })
})

onOneDatabase('templates of the library in the first vocabulary', 'sqlite', (engine) => {
  const calls = templateCalls(useTestServer({ engine }))

  test('there is no library in the first vocabulary', async () => {
    assertError(await calls.create({ library_template_name: 'feedback_request' }), libraryTemplatesNotOffered)
  })
})
