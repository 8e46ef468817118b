import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, qrCodes, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { type Random, systemRandom } from '../../base/keys/random.ts'
import { minute } from '../../base/time/duration.ts'
import type { Context } from '../../graph/context.ts'
import { argumentWrong, cursorUnknown, fieldUnknown } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import type { WriteOperation } from '../../graph/operation.ts'

const token = tokens.owner
const firstPartyToken = 'token-of-the-first-party'

/** The test world with a number of many codes, and an app of the first party. */
function worldWithManyCodes() {
  const world = testWorld()
  const app = { id: '3000000000000003', business_id: ids.business, name: 'First party', first_party: true }
  const scopes = ['msgapp_business_management']
  const qr_codes = Array.from({ length: 30 }, (_, index) => ({
    code: `MANYCODES000${String(index).padStart(2, '0')}`,
    prefilled_message: `Message ${index}`,
  }))
  const number = { id: manyCodes, display_phone_number: '+1 631-555-1060', qr_codes }
  const account = { id: '1000000000000006', business_id: ids.business, name: 'Many codes', phone_numbers: [number] }
  return {
    ...world,
    apps: [...world.apps, app],
    tokens: [...world.tokens, { token: firstPartyToken, app_id: app.id, scopes }],
    accounts: [...world.accounts, account],
  }
}
const manyCodes = '4000000000000060'

onOneDatabase('message QR codes', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithManyCodes() })
  const edgeOf = (number: string) => `/v23.0/${number}/message_qrdls`
  const call = (row: string, path: string, options: object = {}) =>
    server.client.callRow(server.client.row(row), path, { token, ...options })
  const save = (json: object, number: string = numbers.main) => call('qr_codes.save', edgeOf(number), { json })
  const read = (code: string, query: Record<string, string> = {}, by: string = token) =>
    call('qr_codes.read', `${edgeOf(numbers.main)}/${code}`, { query, token: by })
  const list = (query: Record<string, string> = {}) => call('qr_codes.list', edgeOf(manyCodes), { query })

  describe('reading one', () => {
    test('200 with what is always shown, as the only element of a list', async () => {
      assert.deepEqual((await read(qrCodes.main)).body, {
        data: [
          {
            code: qrCodes.main,
            prefilled_message: 'Hi!',
            deep_link_url: `${server.url}/message/${qrCodes.main}`,
          },
        ],
      })
    })

    test('message QR codes, reading one: 200 with what is always shown also when `fields` asks for one of it', async () => {
      const { body } = await read(qrCodes.main, { fields: 'code' })
      assert.deepEqual(Object.keys(body.data[0]), ['code', 'prefilled_message', 'deep_link_url'])
    })

    for (const [field, extension] of [
      ['qr_image_url.format(SVG)', 'svg'],
      ['qr_image_url.format(PNG)', 'png'],
      ['qr_image_url.format(svg)', 'svg'],
      ['qr_image_url.format(Png)', 'png'],
      ['qr_image_url.format(SVG),qr_image_url.format(PNG)', 'png'],
    ] as const) {
      test(`200 with the address of an image for fields=${field}`, async () => {
        const { body } = await read(qrCodes.main, { fields: `code, ${field}` })
        assert.equal(body.data[0].qr_image_url, `${server.url}/qr/${qrCodes.main}.${extension}`)
      })
    }

    for (const field of [
      'qr_image_url',
      'qr_image_url.format(GIF)',
      'qr_image_url.format()',
      'phone_number_id',
      'CODE',
    ]) {
      test(`400 for fields=${field}, with those that there are`, async () => {
        const answer = await read(qrCodes.main, { fields: field })
        assertError(
          answer,
          like(fieldUnknown, {
            available:
              'code, prefilled_message, deep_link_url, creation_time, qr_image_url.format(SVG), qr_image_url.format(PNG)',
          }),
        )
      })
    }

    test('message QR codes, reading one: 200 with creation_time for an app of the first party that asks; others get the rest', async () => {
      const [own] = (await read(qrCodes.main, { fields: 'creation_time' }, firstPartyToken)).body.data
      assert.equal(own.creation_time, Date.parse('2026-06-01T12:00:00Z') / 1000)
      assert.equal((await read(qrCodes.main, {}, firstPartyToken)).body.data[0].creation_time, undefined)
      const others = await read(qrCodes.main, { fields: 'creation_time' })
      assert.equal(others.status, 200)
      assert.deepEqual(Object.keys(others.body.data[0]), ['code', 'prefilled_message', 'deep_link_url'])
    })

    for (const code of ['ABCDEFGHIJKLM', 'ABCDEFGHIJKLMNO', 'abcdefghijklmn', 'ABCDEFGHIJKLM-', 'ÄBCDEFGHIJKLMN']) {
      test(`400 for ${code}, which is no code`, async () => {
        const answer = await read(encodeURIComponent(code))
        assertError(answer, argumentWrong('QR-Code-ID', { expected: 'a code of 14 characters from A-Z and 0-9' }))
      })
    }

    test("message QR codes, reading one: 404 for a code that there is not, another number's, and another tenant's", async () => {
      for (const code of ['NOSUCHCODE0000', 'MANYCODES00000', qrCodes.stranger]) {
        assert.equal((await read(code)).status, 404, code)
      }
    })
  })

  describe('the list', () => {
    test('message QR codes, the list: 200 with 25 of them, newest first, and links to the rest', async () => {
      server.clock.advance(minute)
      const { code } = (await save({ prefilled_message: 'The newest' }, manyCodes)).body
      const first = await list()
      assert.equal(first.body.data.length, 25)
      assert.equal(first.body.data[0].code, code)
      const { pathname, search } = new URL(first.body.paging.next)
      const second = await server.client.get(pathname + search, { token })
      assert.equal(second.body.paging.next, undefined)
      const codes = [...first.body.data, ...second.body.data].map((item: { code: string }) => item.code)
      assert.equal(new Set(codes).size, codes.length)
      assert.ok(codes.length >= 31)
    })

    test('message QR codes, the list: 200 with cursors that tell nobody when a code was created, and 400 for one of an earlier version', async () => {
      const { body } = await list({ limit: '1', fields: 'code' })
      const [{ code }] = body.data
      const { creation_time } = await server.database.read.query
        .selectFrom('qr_codes')
        .select('creation_time')
        .where('code', '=', code)
        .executeTakeFirstOrThrow()
      const shown = Buffer.from(body.paging.cursors.after, 'base64url').toString('latin1')
      for (const secret of [String(creation_time), String(creation_time / 1000), code]) {
        assert.ok(!shown.includes(secret), secret)
      }
      const again = await list({ limit: '1', fields: 'code' })
      assert.deepEqual(again.body.paging, body.paging, 'the same row has the same cursor')

      const before = Buffer.concat([Buffer.alloc(12), Buffer.from(JSON.stringify([creation_time, code]))])
      assertError(await list({ after: before.toString('base64url') }), cursorUnknown('after'))
    })

    for (const [limit, status] of [
      ['0', 400],
      ['1', 200],
      ['25', 200],
      ['26', 400],
    ] as const) {
      test(`${status} for limit=${limit}`, async () => assert.equal((await list({ limit })).status, status))
    }

    test('message QR codes, the list: 200 with the image of each, in the format that is asked for', async () => {
      const { body } = await list({ fields: 'qr_image_url.format(png)', limit: '3' })
      for (const { code, qr_image_url } of body.data) assert.equal(qr_image_url, `${server.url}/qr/${code}.png`)
    })

    test('message QR codes, the list: 200 with the one that `code` names; 404 when the number does not have it; 400 when it is no code', async () => {
      const { body } = await list({ code: 'MANYCODES00007', fields: 'code' })
      assert.deepEqual(body, {
        data: [
          {
            code: 'MANYCODES00007',
            prefilled_message: 'Message 7',
            deep_link_url: `${server.url}/message/MANYCODES00007`,
          },
        ],
      })
      assert.equal((await list({ code: 'NOSUCHCODE0000' })).status, 404)
      assert.equal((await list({ code: qrCodes.main })).status, 404)
      assert.equal((await list({ code: 'SHORT' })).status, 400)
    })

    test('200 with nothing where there is nothing', async () => {
      const answer = await call('qr_codes.list', edgeOf(numbers.smallBusiness))
      assert.deepEqual(answer.body, { data: [], paging: { cursors: {} } })
    })
  })

  describe('creating', () => {
    test('200 with the bare object, which can be read afterwards', async () => {
      const { status, body } = await save({ prefilled_message: 'Two for one?' })
      assert.equal(status, 200)
      assert.match(body.code, /^[A-Z0-9]{14}$/)
      const expected = {
        code: body.code,
        prefilled_message: 'Two for one?',
        deep_link_url: `${server.url}/message/${body.code}`,
      }
      assert.deepEqual(body, expected)
      assert.deepEqual((await read(body.code)).body, { data: [expected] })
    })

    for (const [given, extension] of [
      ['SVG', 'svg'],
      ['PNG', 'png'],
      ['svg', 'svg'],
      ['Png', 'png'],
    ] as const) {
      test(`200 with the address of an image for generate_qr_image=${given}`, async () => {
        const { body } = await save({ prefilled_message: 'Hi', generate_qr_image: given })
        assert.equal(body.qr_image_url, `${server.url}/qr/${body.code}.${extension}`)
      })
    }

    for (const [what, json, status] of [
      ['a message of 1 character', { prefilled_message: 'a' }, 200],
      ['a message of 140 characters', { prefilled_message: '🌱'.repeat(140) }, 200],
      ['a message of 141 characters', { prefilled_message: 'a'.repeat(141) }, 400],
      ['an empty message', { prefilled_message: '' }, 400],
      ['no message', { generate_qr_image: 'SVG' }, 400],
      ['a message that is no text', { prefilled_message: 5 }, 400],
      ['another format', { prefilled_message: 'Hi', generate_qr_image: 'GIF' }, 400],
      ['an empty format', { prefilled_message: 'Hi', generate_qr_image: '' }, 400],
      ['a code that is none', { prefilled_message: 'Hi', code: 'SHORT' }, 400],
    ] as const) {
      test(`${status} for ${what}`, async () => {
        const answer = await save(json, numbers.shared)
        assert.equal(answer.status, status, answer.text)
      })
    }

    test('message QR codes, creating: 200 with arguments in the query', async () => {
      const query = { prefilled_message: 'From the query', generate_qr_image: 'png' }
      const { body } = await call('qr_codes.save', edgeOf(numbers.main), { query })
      assert.equal(body.prefilled_message, 'From the query')
    })

    test('another code is drawn when the first is taken', async () => {
      const taken = [...'ABCDEFGHIJKLMN'].map((letter) => letter.charCodeAt(0) - 65)
      const drawn = [...taken, ...Array.from({ length: 14 }, () => 35)]
      const random: Random = { ...systemRandom, integer: () => drawn.shift() ?? 0 }
      const node: Node = {
        id: numbers.main,
        kind: 'phone_number',
        business_id: ids.business,
        account_id: ids.account,
      }
      const operation = server.client.row('qr_codes.save') as WriteOperation
      const answer = await server.database.transaction((tx) => {
        const context = { db: tx, node, clock: server.clock, random, publicUrl: server.url }
        return operation.run(context as unknown as Context<typeof tx>, { prefilled_message: 'Lucky' }, undefined)
      })
      assert.equal((answer as { code: string }).code, '99999999999999')
      assert.equal((await read(qrCodes.main)).body.data[0].prefilled_message, 'Hi!')
    })
  })

  describe('changing', () => {
    test('200 with the new message under the old code', async () => {
      const { code } = (await save({ prefilled_message: 'Before' })).body
      const { status, body } = await save({ code, prefilled_message: 'After', generate_qr_image: 'svg' })
      assert.equal(status, 200)
      assert.deepEqual([body.code, body.prefilled_message], [code, 'After'])
      assert.equal(body.qr_image_url, `${server.url}/qr/${code}.svg`)
      assert.equal((await read(code)).body.data[0].prefilled_message, 'After')
    })

    test("message QR codes, changing: 404 for a code that there is not, another number's, and another tenant's, and nothing changes", async () => {
      for (const code of ['NOSUCHCODE0000', 'MANYCODES00000', qrCodes.stranger]) {
        assert.equal((await save({ code, prefilled_message: 'Mine now' })).status, 404, code)
      }
      assert.equal((await list({ code: 'MANYCODES00000' })).body.data[0].prefilled_message, 'Message 0')
      assert.equal((await read('NOSUCHCODE0000')).status, 404)
    })

    test('404 for POST on the code itself, which only the other vocabulary has', async () => {
      const answer = await server.client.post(`${edgeOf(numbers.main)}/${qrCodes.main}`, {
        token,
        json: { prefilled_message: 'By path' },
      })
      assert.equal(answer.status, 404)
    })
  })

  describe('deleting', () => {
    const remove = (code: string, number: string = numbers.main) => call('qr_codes.delete', `${edgeOf(number)}/${code}`)

    test('message QR codes, deleting: 200 once, then 404, and it is gone from the list', async () => {
      const { code } = (await save({ prefilled_message: 'Soon gone' }, numbers.fresh)).body
      const answer = await remove(code, numbers.fresh)
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      assert.equal((await remove(code, numbers.fresh)).status, 404)
      assert.equal((await call('qr_codes.read', `${edgeOf(numbers.fresh)}/${code}`)).status, 404)
      assert.equal((await save({ code, prefilled_message: 'Back?' }, numbers.fresh)).status, 404)
      assert.deepEqual((await call('qr_codes.list', edgeOf(numbers.fresh))).body.data, [])
    })

    test('message QR codes, deleting: 200 for one and 404 for all others when it is deleted many times at the same moment', async () => {
      const { code } = (await save({ prefilled_message: 'Once' })).body
      const answers = await Promise.all(Array.from({ length: 8 }, () => remove(code)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 404)])
    })

    test("message QR codes, deleting: 404 for another number's and another tenant's, which stay; 400 for what is no code", async () => {
      assert.equal((await remove('MANYCODES00001')).status, 404)
      assert.equal((await remove(qrCodes.stranger)).status, 404)
      assert.equal((await remove(qrCodes.stranger, strangerIds.phone_number)).status, 404)
      assert.equal((await remove('short')).status, 400)
      assert.equal((await list({ code: 'MANYCODES00001' })).status, 200)
      const theirs = await server.client.get(`${edgeOf(strangerIds.phone_number)}/${qrCodes.stranger}`, {
        token: tokens.stranger,
      })
      assert.equal(theirs.status, 200)
    })
  })
})
