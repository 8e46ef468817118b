import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { argumentMissing, argumentOfAnotherVocabulary, argumentWrong, fieldUnknown } from '../../graph/errors.ts'
import { verticals } from './schemas.ts'

const given = {
  about: 'Plants',
  address: '1 Garden Way',
  description: 'Trees, shrubs and advice.',
  email: 'hi@luckyshrub.example',
  websites: ['https://luckyshrub.example', 'HTTP://shop.luckyshrub.example/a?b=c#d'],
  vertical: 'RETAIL',
}

onOneDatabase('business profile', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const token = tokens.owner
  const path = (number: string) => `/v23.0/${number}/msgapp_business_profile`
  const read = async (number: string = numbers.main, fields?: string) =>
    server.client.callRow(server.client.row('profile.read'), path(number), {
      token,
      ...(fields !== undefined && { query: { fields } }),
    })
  const update = async (members: object, number: string = numbers.main) =>
    server.client.callRow(server.client.row('profile.update'), path(number), {
      token,
      json: { messaging_product: 'msgapp', ...members },
    })
  const profileOf = async (number?: string) => (await read(number)).body.data[0].business_profile

  test('200 with messaging_product alone before anything was set', async () => {
    assert.deepEqual((await read(numbers.smallBusiness)).body, {
      data: [{ business_profile: { messaging_product: 'msgapp' } }],
    })
  })

  test('business profile: 200 for every member, which the next read shows as they were given', async () => {
    assert.deepEqual((await update(given)).body, { success: true })
    assert.deepEqual((await read()).body, {
      data: [{ business_profile: { messaging_product: 'msgapp', ...given } }],
    })
  })

  test('changes of different members at the same moment are all kept', async () => {
    for (let round = 0; round < 5; round++) {
      const members = { ...given, about: `About ${round}`, address: `${round} Garden Way` }
      const changes = Object.entries(members).map(([name, value]) => update({ [name]: value }, numbers.fresh))
      assert.deepEqual(new Set((await Promise.all(changes)).map(({ status }) => status)), new Set([200]))
      assert.deepEqual(await profileOf(numbers.fresh), { messaging_product: 'msgapp', ...members })
    }
  })

  test('200 with the fields that are asked for alone, and without those that have no value', async () => {
    await update({ ...given, address: '' })
    assert.deepEqual((await read(numbers.main, 'vertical,about,address,profile_picture_url')).body, {
      data: [{ business_profile: { vertical: 'RETAIL', about: 'Plants' } }],
    })
  })

  test('business profile: 400 for an unknown field, naming it and the available ones', async () => {
    const answer = await read(numbers.main, 'about,profile_picture_handle')
    assertError(
      answer,
      fieldUnknown({
        field: '"profile_picture_handle"',
        available: 'messaging_product, about, address, description, email, profile_picture_url, websites, vertical',
      }),
    )
  })

  test('business profile: 200 for some members: the others stay', async () => {
    await update(given, numbers.fresh)
    assert.equal((await update({ about: 'Shrubs' }, numbers.fresh)).status, 200)
    assert.deepEqual(await profileOf(numbers.fresh), { messaging_product: 'msgapp', ...given, about: 'Shrubs' })
    assert.equal((await update({}, numbers.fresh)).status, 200)
    assert.deepEqual(await profileOf(numbers.fresh), { messaging_product: 'msgapp', ...given, about: 'Shrubs' })
  })

  test('business profile: 200 for empty texts and an empty list: they clear', async () => {
    await update(given, numbers.fresh)
    const answer = await update({ address: '', description: '', email: '', websites: [] }, numbers.fresh)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(await profileOf(numbers.fresh), {
      messaging_product: 'msgapp',
      about: 'Plants',
      vertical: 'RETAIL',
    })
  })

  for (const [member, length, status] of [
    ['about', 0, 400],
    ['about', 1, 200],
    ['about', 139, 200],
    ['about', 140, 400],
    ['address', 256, 200],
    ['address', 257, 400],
    ['description', 256, 200],
    ['description', 257, 400],
  ] as const) {
    test(`${status} for ${member} of ${length} characters`, async () => {
      const text = '🌱'.repeat(length)
      const answer = await update({ [member]: text })
      assert.equal(answer.status, status, answer.text)
      if (status === 200) assert.equal((await profileOf())[member], text)
      else assertError(answer, like(argumentWrong, { argument: member }))
    })
  }

  const emailOf = (length: number) => `${'a'.repeat(60)}@${'b'.repeat(50)}.`.padEnd(length, 'c')
  for (const [name, email, status] of [
    ['an address of 128 characters', emailOf(128), 200],
    ['an address of 129 characters', emailOf(129), 400],
    ['no address', 'hi', 400],
    ['a blank', ' ', 400],
  ] as const) {
    test(`${status} for an email that is ${name}`, async () => {
      const answer = await update({ email })
      assert.equal(answer.status, status, answer.text)
      if (status === 400) assertError(answer, like(argumentWrong, { argument: 'email' }))
    })
  }

  const siteOf = (length: number) => 'https://shrub.example/'.padEnd(length, 'x')
  for (const [name, websites, status] of [
    ['two of 256 characters', [siteOf(256), siteOf(255)], 200],
    ['one of 257 characters', [siteOf(257)], 400],
    ['three', [siteOf(30), siteOf(31), siteOf(32)], 400],
    ['one by ftp', ['ftp://shrub.example'], 400],
    ['a script', ['javascript:alert(1)'], 400],
    ['one without a scheme', ['shrub.example'], 400],
    ['one without a host', ['https://'], 400],
    ['one with a blank', ['https://shrub.example/a b'], 400],
    ['an empty text', [''], 400],
    ['a text instead of a list', 'https://shrub.example', 400],
  ] as const) {
    test(`${status} for websites that are ${name}`, async () => {
      const answer = await update({ websites })
      assert.equal(answer.status, status, answer.text)
      if (status === 400) assertArgument(answer, 'websites')
      else assert.deepEqual((await profileOf()).websites, websites)
    })
  }

  test('200 for every vertical, and 400 for any other', async () => {
    assert.equal(verticals.length, 21)
    for (const vertical of verticals) {
      assert.equal((await update({ vertical })).status, 200)
      assert.equal((await profileOf()).vertical, vertical)
    }
    for (const vertical of ['GARDENING', 'retail', '']) {
      const answer = await update({ vertical })
      assertError(answer, argumentWrong('vertical', { expected: `one of ${verticals.join(', ')}` }))
    }
  })

  const expected = '"msgapp"'
  for (const [messaging_product, problem] of [
    [undefined, argumentMissing('messaging_product', { expected })],
    ['whatsapp', argumentOfAnotherVocabulary('messaging_product', { expected, other: 'whatsapp' })],
    ['', argumentWrong('messaging_product', { expected })],
  ] as const) {
    test(`400 when messaging_product is ${messaging_product ?? 'missing'}, and nothing changes`, async () => {
      await update({ about: 'Before' })
      const answer = await server.client.post(path(numbers.main), {
        token,
        json: { ...(messaging_product !== undefined && { messaging_product }), about: 'After' },
      })
      assertError(answer, problem)
      assert.equal((await profileOf()).about, 'Before')
    })
  }

  for (const form of ['form', 'multipart'] as const) {
    test(`200 for a body that is a ${form}, the list of websites as JSON`, async () => {
      const websites = [`https://${form}.example`]
      const members = { messaging_product: 'msgapp', about: form, websites: JSON.stringify(websites) }
      const answer = await server.client.post(path(numbers.main), { token, [form]: members })
      assert.equal(answer.status, 200, answer.text)
      const { about, websites: shown } = await profileOf()
      assert.deepEqual([about, shown], [form, websites])
    })
  }

  test('business profile: 200 for a partner that was given the account, and 404 for one that was not', async () => {
    const json = { messaging_product: 'msgapp', about: 'By the partner' }
    const shared = await server.client.post(path(numbers.shared), { token: tokens.partner, json })
    assert.equal(shared.status, 200)
    assert.equal((await profileOf(numbers.shared)).about, 'By the partner')
    assert.equal((await server.client.post(path(numbers.main), { token: tokens.partner, json })).status, 404)
    assert.equal((await server.client.get(path(ids.account_number), { token })).status, 404)
  })

  test('changes of different members at the same moment all stay', async () => {
    const changes = [
      { about: 'At once' },
      { address: 'At once' },
      { description: 'At once' },
      { email: 'at@once.example' },
      { websites: ['https://at.once.example'] },
      { vertical: 'GOVT' },
    ]
    const number = numbers.shared
    await update({ ...given }, number)
    const answers = await Promise.all(changes.map((change) => update(change, number)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      changes.map(() => 200),
    )
    assert.deepEqual(await profileOf(number), Object.assign({ messaging_product: 'msgapp' }, ...changes))
  })
})

onOneDatabase('business profile of a world file', 'sqlite', (engine) => {
  const world = testWorld()
  Object.assign(world.accounts[0]?.phone_numbers?.[0] ?? {}, { profile: given })
  const server = useTestServer({ engine, world })

  test('business profile of a world file is shown, and can be changed', async () => {
    const path = `/v23.0/${numbers.main}/msgapp_business_profile`
    const shown = await server.client.get(path, { token: tokens.owner })
    assert.deepEqual(shown.body.data, [{ business_profile: { messaging_product: 'msgapp', ...given } }])
    const json = { messaging_product: 'msgapp', email: '' }
    assert.equal((await server.client.post(path, { token: tokens.owner, json })).status, 200)
    const after = await server.client.get(path, { token: tokens.owner, query: { fields: 'email,about' } })
    assert.deepEqual(after.body.data, [{ business_profile: { about: 'Plants' } }])
  })
})
