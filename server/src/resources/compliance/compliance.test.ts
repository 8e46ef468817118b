import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { argumentNotJson, argumentOfAnotherVocabulary, argumentWrong, fieldUnknown } from '../../graph/errors.ts'
import { entityTypes } from './schemas.ts'

const token = tokens.owner
const pathOf = (number: string) => `/v23.0/${number}/business_compliance_info`

/** A record that breaks no rule, and everything that may be in one. */
const smallest = {
  messaging_product: 'msgapp',
  entity_name: 'Lucky Shrub',
  entity_type: 'PARTNERSHIP',
  grievance_officer_details: { name: 'Chandra P.', email: 'officer@luckyshrub.example' },
  customer_care_details: { email: 'care@luckyshrub.example' },
}
const fullest = {
  messaging_product: 'msgapp',
  entity_name: 'Lucky Shrub',
  entity_type: 'OTHER',
  entity_type_custom: 'Cooperative',
  is_registered: false,
  grievance_officer_details: {
    name: 'Chandra P.',
    email: 'officer@luckyshrub.example',
    mobile_number: '+91 98765 43210',
    landline_number: '+91 22 1234 5678',
  },
  customer_care_details: {
    email: 'care@luckyshrub.example',
    mobile_number: '+16315551001',
    landline_number: '+44 20 7946 0958',
  },
}

/** The same record with another value at a place such as `customer_care_details.email`; undefined takes it out. */
function withMember(record: object, place: string, value: unknown): object {
  const [member = '', inner] = place.split('.')
  const others = record as Record<string, object>
  return { ...others, [member]: inner === undefined ? value : withMember(others[member] ?? {}, inner, value) }
}

const emailOf = (length: number) => `${'a'.repeat(length - '@luckyshrub.example'.length)}@luckyshrub.example`

/** A value at each place, and whether it is taken. */
const values: readonly (readonly [places: readonly string[], status: 200 | 400, name: string, value: unknown])[] = [
  [['messaging_product'], 400, 'left out', undefined],
  [['messaging_product'], 400, 'another product', 'whatsapp'],
  [['entity_name'], 400, 'left out', undefined],
  [['entity_name'], 400, 'empty', ''],
  [['entity_name'], 400, '1 character', 'x'],
  [['entity_name'], 400, '1 character among blanks', ' x '],
  [['entity_name'], 400, 'blanks', '    '],
  [['entity_name'], 200, '2 characters', 'xy'],
  [['entity_name'], 200, '2 characters beyond the basic plane', '🌱🌱'],
  [['entity_name'], 200, '128 characters', 'x'.repeat(128)],
  [['entity_name'], 200, '128 characters beyond the basic plane', '🌱'.repeat(128)],
  [['entity_name'], 400, '129 characters', 'x'.repeat(129)],
  [['entity_name'], 400, 'a number', 12],
  [['entity_name'], 400, 'a NUL character', 'Lucky\0Shrub'],
  [['entity_type'], 400, 'left out', undefined],
  [['entity_type'], 400, 'unknown', 'CHARITY'],
  [['entity_type'], 400, 'in lower case', 'partnership'],
  [['is_registered'], 400, 'text', 'yes'],
  [['is_registered'], 400, 'null', null],
  [['grievance_officer_details', 'customer_care_details'], 400, 'left out', undefined],
  [['grievance_officer_details', 'customer_care_details'], 400, 'null', null],
  [['grievance_officer_details', 'customer_care_details'], 400, 'an array', []],
  [['grievance_officer_details', 'customer_care_details'], 400, 'text', 'care@luckyshrub.example'],
  [['grievance_officer_details.name'], 400, 'left out', undefined],
  [['grievance_officer_details.name'], 400, 'empty', ''],
  [['grievance_officer_details.name'], 400, 'blanks', '   '],
  [['grievance_officer_details.name'], 200, '1 character', 'x'],
  [['grievance_officer_details.name'], 200, '128 characters', 'x'.repeat(128)],
  [['grievance_officer_details.name'], 400, '129 characters', 'x'.repeat(129)],
  ...(
    [
      [400, 'left out', undefined],
      [400, 'empty', ''],
      [400, 'a number', 5],
      [400, 'no address', 'officer'],
      [400, 'no mailbox', '@luckyshrub.example'],
      [400, 'no domain', 'officer@'],
      [400, 'a domain without a dot', 'officer@luckyshrub'],
      [400, 'two addresses', 'a@luckyshrub.example, b@luckyshrub.example'],
      [400, 'a display name', 'Officer <officer@luckyshrub.example>'],
      [400, 'a blank inside', 'the officer@luckyshrub.example'],
      [400, 'a line end inside', '"the\nofficer"@luckyshrub.example'],
      [200, 'a plus sign', 'officer+compliance@luckyshrub.example'],
      [200, '127 characters', emailOf(127)],
      [400, '128 characters', emailOf(128)],
    ] as const
  ).map(
    ([status, name, value]) =>
      [['grievance_officer_details.email', 'customer_care_details.email'], status, name, value] as const,
  ),
  ...(
    [
      [200, 'left out', undefined],
      [200, 'digits alone', '+16315551001'],
      [200, 'blanks, brackets, dots and hyphens', '+1 (631) 555.10-01'],
      [200, 'another country', '+91 98765 43210'],
      [400, 'empty', ''],
      [400, 'a number', 16315551001],
      [400, 'no plus sign', '16315551001'],
      [400, 'a national number', '0631 555 1001'],
      [400, 'an exit code', '0016315551001'],
      [400, 'a country code that there is not', '+999 123456789'],
      [400, 'a country code alone', '+1'],
      [400, 'a number of the numbering plan that nobody can have', '+1 555 123 4567'],
      [400, 'a digit too few', '+1 631-555-100'],
      [400, 'a digit too many', '+1 631-555-10011'],
      [400, 'an extension', '+1 631-555-1001 ext. 5'],
      [400, 'letters', '+1 800-FLOWERS'],
      [400, 'digits of another script', '+１６３１５５５１００１'],
      [400, 'a blank before it', ' +16315551001'],
      [400, 'a thousand blanks', `+1${' '.repeat(1000)}6315551001`],
    ] as const
  ).map(
    ([status, name, value]) =>
      [
        [
          'grievance_officer_details.mobile_number',
          'grievance_officer_details.landline_number',
          'customer_care_details.mobile_number',
          'customer_care_details.landline_number',
        ],
        status,
        name,
        value,
      ] as const,
  ),
]

onOneDatabase('compliance', 'sqlite', (engine) => {
  const world = testWorld()
  const [small] = world.accounts.find(({ id }) => id === accounts.smallBusiness)?.phone_numbers ?? []
  assert.ok(small)
  const { messaging_product: _, ...ofTheFile } = fullest
  Object.assign(small, { compliance: ofTheFile })
  const server = useTestServer({ engine, world })
  const read = (number: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('compliance.read'), pathOf(number), { token, query })
  const set = (number: string, json: object) =>
    server.client.callRow(server.client.row('compliance.set'), pathOf(number), { token, json })
  const shown = (record: object, account: string = ids.account) => ({
    data: [{ whatsapp_business_account_id: account, ...record }],
  })

  test('200 with the account and the product alone before anything is set', async () => {
    assert.deepEqual((await read(numbers.fresh)).body, shown({ messaging_product: 'msgapp' }))
  })

  test('compliance: 200 with the account alone when another field is asked for before anything is set', async () => {
    assert.deepEqual((await read(numbers.fresh, { fields: 'entity_name' })).body, shown({}))
  })

  for (const [name, record] of Object.entries({ smallest, fullest })) {
    test(`200 for the ${name} record, which the next read shows`, async () => {
      const answer = await set(numbers.main, record)
      assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
      assert.deepEqual((await read(numbers.main)).body, shown(record))
    })
  }

  test('200 for a second record: nothing of the first stays', async () => {
    await set(numbers.main, fullest)
    assert.equal((await set(numbers.main, smallest)).status, 200)
    assert.deepEqual((await read(numbers.main)).body, shown(smallest))
  })

  test('200 and the blanks around names are dropped', async () => {
    const spaced = withMember(
      { ...fullest, entity_name: '  Lucky Shrub ', entity_type_custom: ' Cooperative\t' },
      'grievance_officer_details.name',
      ' Chandra P. ',
    )
    assert.equal((await set(numbers.main, spaced)).status, 200)
    assert.deepEqual((await read(numbers.main)).body, shown(fullest))
  })

  test('compliance: 200 and members that nobody knows are dropped, also inside others', async () => {
    const more = withMember(
      withMember({ ...fullest, id: '1', phone_number_id: ids.account }, 'customer_care_details.fax', '+1'),
      'grievance_officer_details.role',
      { of: 'officer' },
    )
    assert.equal((await set(numbers.main, more)).status, 200)
    assert.deepEqual((await read(numbers.main)).body, shown(fullest))
  })

  test('200 with what a world file says', async () => {
    assert.deepEqual((await read(numbers.smallBusiness)).body, shown(fullest, accounts.smallBusiness))
  })

  test('200 with the fields that are asked for, and the account always', async () => {
    const { messaging_product, is_registered, customer_care_details } = fullest
    for (const [fields, expected] of [
      ['messaging_product', { messaging_product }],
      ['is_registered,customer_care_details', { is_registered, customer_care_details }],
    ] as const) {
      assert.deepEqual((await read(numbers.smallBusiness, { fields })).body, shown(expected, accounts.smallBusiness))
    }
  })

  for (const fields of ['whatsapp_business_account_id', 'entity_name,phone_number_id']) {
    test(`400 for the field ${fields}, listing those that can be chosen`, async () => {
      const answer = await read(numbers.main, { fields })
      assertError(
        answer,
        like(fieldUnknown, {
          available:
            'messaging_product, entity_name, entity_type, entity_type_custom, is_registered, grievance_officer_details, customer_care_details',
        }),
      )
    })
  }

  for (const [places, status, name, value] of values) {
    for (const place of places) {
      test(`${status} for ${place}: ${name}`, async () => {
        const answer = await set(numbers.main, withMember(fullest, place, value))
        assert.equal(answer.status, status, answer.text)
        if (status === 400) assertArgument(answer, place)
      })
    }
  }

  describe('which members go with which entity type', () => {
    const customs = { 'left out': undefined, given: 'Trust', empty: '', blank: '  ', 'too long': 'x'.repeat(129) }
    const registrations = { 'left out': undefined, true: true, false: false }
    for (const entity_type of entityTypes) {
      for (const [customName, entity_type_custom] of Object.entries(customs)) {
        for (const [registeredName, is_registered] of Object.entries(registrations)) {
          const customIsRight = customName === (entity_type === 'OTHER' ? 'given' : 'left out')
          const registeredIsRight =
            registeredName === 'left out' || entity_type === 'OTHER' || entity_type === 'PARTNERSHIP'
          const broken = [
            ...(customIsRight ? [] : ['entity_type_custom']),
            ...(registeredIsRight ? [] : ['is_registered']),
          ]
          const outcome = broken.length === 0 ? '200' : `400 naming ${broken[0]}`
          test(`${outcome}: ${entity_type}, custom type ${customName}, is_registered ${registeredName}`, async () => {
            const record = JSON.parse(
              JSON.stringify({ ...smallest, entity_type, entity_type_custom, is_registered }),
            ) as object
            const answer = await set(numbers.shared, record)
            if (broken.length === 0) {
              assert.equal(answer.status, 200, answer.text)
              assert.deepEqual((await read(numbers.shared)).body, shown(record, accounts.shared))
            } else {
              assertArgument(answer, String(broken[0]))
            }
          })
        }
      }
    }
  })

  test('400 changes nothing, also where the other members were right', async () => {
    await set(numbers.main, fullest)
    const answer = await set(numbers.main, { ...smallest, entity_name: 'Half', is_registered: 'perhaps' })
    assert.equal(answer.status, 400)
    assert.deepEqual((await read(numbers.main)).body, shown(fullest))
  })

  for (const kind of ['form', 'multipart'] as const) {
    const asText = (record: object) =>
      Object.fromEntries(
        Object.entries(record).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      )

    test(`200 for a ${kind} body with the contacts as JSON text`, async () => {
      await set(numbers.main, smallest)
      const answer = await server.client.post(pathOf(numbers.main), { token, [kind]: asText(fullest) })
      assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
      assert.deepEqual((await read(numbers.main)).body, shown(fullest))
    })

    for (const [member, value, definition] of [
      ['customer_care_details', 'care@luckyshrub.example', argumentNotJson],
      ['grievance_officer_details', '["Chandra P."]', argumentWrong],
      ['is_registered', 'yes', argumentWrong],
      ['entity_type', '["OTHER"]', argumentWrong],
    ] as const) {
      test(`400 for a ${kind} body with ${member} ${value}`, async () => {
        const answer = await server.client.post(pathOf(numbers.main), {
          token,
          [kind]: { ...asText(fullest), [member]: value },
        })
        assertError(answer, like(definition, { argument: member }))
      })
    }
  }

  test('compliance: 200 for a partner that manages the account, and the owner sees it', async () => {
    const answer = await server.client.post(pathOf(numbers.shared), { token: tokens.partner, json: fullest })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual((await read(numbers.shared)).body, shown(fullest, accounts.shared))
  })

  test('compliance: 200 for many at the same moment, and one of them stays whole', async () => {
    const records = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0
        ? { ...smallest, entity_name: `Shrub ${index}` }
        : { ...fullest, entity_name: `Shrub ${index}`, entity_type_custom: `Kind ${index}` },
    )
    const answers = await Promise.all(records.map((record) => set(numbers.fresh, record)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const [stored] = (await read(numbers.fresh)).body.data
    const winner = records.find(({ entity_name }) => entity_name === stored.entity_name)
    assert.deepEqual(stored, { whatsapp_business_account_id: ids.account, ...winner })
  })
})

onOneDatabase('compliance in the second vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const record = { ...smallest, messaging_product: 'whatsapp' }

  test("compliance in the second vocabulary: 200 with the vocabulary's product, and the account's id under the same name", async () => {
    const answer = await server.client.post(pathOf(ids.phone_number), { token, json: record })
    assert.equal(answer.status, 200, answer.text)
    const shown = await server.client.callRow(server.client.row('compliance.read'), pathOf(ids.phone_number), { token })
    assert.deepEqual(shown.body, { data: [{ whatsapp_business_account_id: ids.account, ...record }] })
  })

  test("compliance in the second vocabulary: 400 for the other vocabulary's product", async () => {
    const answer = await server.client.post(pathOf(ids.phone_number), { token, json: smallest })
    assertError(answer, argumentOfAnotherVocabulary('messaging_product', { expected: '"whatsapp"', other: 'msgapp' }))
  })
})
