import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { bothCursors, limitTwice } from '../../graph/errors.ts'

const both = ['msgapp_business_management', 'msgapp_business_messaging']
const further = {
  partnerForShared: 'token-of-the-partner-for-the-shared-account',
  partnerForNone: 'token-of-the-partner-for-no-account',
  granularElsewhere: 'token-of-the-owner-for-an-account-of-the-stranger',
} as const
/** Managed by the partner, and shared with it too. */
const twiceGiven = '1000000000000005'
/** Of the owner, with a name that tries the pattern. */
const odd = '1000000000000006'
/** Of the partner itself. */
const ofPartner = '1000000000000007'

function worldOfLists() {
  const world = testWorld()
  const partner = { app_id: partnerIds.application, scopes: both }
  return {
    ...world,
    tokens: [
      ...world.tokens,
      { ...partner, token: further.partnerForShared, accounts: [accounts.shared] },
      { ...partner, token: further.partnerForNone, accounts: [] },
      { app_id: ids.application, scopes: both, token: further.granularElsewhere, accounts: [strangerIds.account] },
    ],
    accounts: [
      ...world.accounts,
      {
        ...{ id: twiceGiven, business_id: ids.business, name: 'Twice', account_review_status: 'LIMIT_REACHED' },
        ...{ shared_with: [partnerIds.business], on_behalf_of: partnerIds.business },
      },
      { id: odd, business_id: ids.business, name: '100%_Shrub\\Ü' },
      { id: ofPartner, business_id: partnerIds.business, name: 'Partner Shrub', shared_with: [partnerIds.business] },
    ],
  }
}

const ofOwner = [accounts.private, accounts.shared, accounts.onBehalf, accounts.smallBusiness, twiceGiven, odd]
const given = [accounts.shared, accounts.onBehalf, twiceGiven]

onBothDatabases('accounts of a business', (engine) => {
  const server = useTestServer({ engine, world: worldOfLists() })
  const read = (kind: 'owned' | 'client', business: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(
      server.client.row(`account.list_${kind}`),
      `/v23.0/${business}/${kind}_msgapp_business_accounts`,
      { token, query },
    )
  const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id).sort()
  const owned = async (token: string, query?: Record<string, string>, business: string = ids.business) =>
    idsOf(await read('owned', business, token, query))
  const client = async (token: string, query?: Record<string, string>, business: string = partnerIds.business) =>
    idsOf(await read('client', business, token, query))

  describe('owned', () => {
    test('accounts of a business, owned: all of them for the business itself, with id and name', async () => {
      const { status, body } = await read('owned', ids.business, tokens.owner)
      assert.equal(status, 200)
      assert.deepEqual(body.data.map(({ id }: { id: string }) => id).sort(), ofOwner)
      assert.deepEqual(Object.keys(body.data[0]), ['id', 'name'])
    })

    test('accounts of a business, owned: those that a partner sees of another, each of its own', async () => {
      assert.deepEqual(await owned(tokens.partner), given)
      assert.deepEqual(await owned(tokens.partner, {}, partnerIds.business), [ofPartner])
    })

    test('accounts of a business, owned: those of a granular token alone', async () => {
      assert.deepEqual(await owned(tokens.granular), [accounts.shared])
      assert.deepEqual(await owned(further.partnerForShared), [accounts.shared])
      assert.deepEqual(await owned(further.partnerForNone, {}, partnerIds.business), [])
      assert.deepEqual(await owned(further.granularElsewhere), [], 'an account that its business has no access to')
    })

    test('accounts of a business, owned: 404 for who does not see the business, and for what is no business', async () => {
      for (const [business, token] of [
        [ids.business, tokens.stranger],
        [partnerIds.business, tokens.owner],
        [strangerIds.business, tokens.owner],
        [ids.account, tokens.owner],
        [ids.application, tokens.owner],
        [ids.business, further.partnerForNone],
      ] as const) {
        for (const kind of ['owned', 'client'] as const) {
          const { status } = await server.client.get(`/v23.0/${business}/${kind}_msgapp_business_accounts`, { token })
          assert.equal(status, 404, `${kind} ${business}`)
        }
      }
    })

    test('accounts of a business, owned: 403 without the scope for management', async () => {
      assert.equal((await read('owned', ids.business, tokens.messagingOnly)).status, 403)
      assert.equal((await read('client', ids.business, tokens.messagingOnly)).status, 403)
    })

    test('accounts of a business, owned: `find` is a part of the name, in any case, and no pattern', async () => {
      assert.deepEqual(await owned(tokens.owner, { find: 'RETAIL' }), [accounts.private])
      assert.deepEqual(await owned(tokens.partner, { find: 'lucky' }), [accounts.shared, accounts.onBehalf])
      for (const find of ['%', '0%_s', '_', '\\']) assert.deepEqual(await owned(tokens.owner, { find }), [odd], find)
      assert.deepEqual(await owned(tokens.owner, { find: '' }), ofOwner)
      assert.deepEqual(await owned(tokens.owner, { find: ids.account }), [], 'not of the id')
      assert.deepEqual(await owned(tokens.owner, { find: 'x'.repeat(200) }), [])
      assert.equal((await read('owned', ids.business, tokens.owner, { find: 'x'.repeat(201) })).status, 400)
      assert.equal((await read('owned', ids.business, tokens.owner, { find: '\0' })).status, 400)
    })

    test('accounts of a business, owned: the types that are asked for change nothing, and are those of the list', async () => {
      for (const business_type of ['SMB', 'ENTERPRISE,SMB', '["SMB"]', '']) {
        assert.deepEqual(await owned(tokens.owner, { business_type }), ofOwner, business_type)
      }
      assert.equal((await read('owned', ids.business, tokens.owner, { business_type: 'PREMIUM' })).status, 400)
      assert.deepEqual(await client(tokens.partner, { business_type: 'PREMIUM' }), given)
      assert.equal((await read('client', ids.business, tokens.owner, { business_type: 'SMB' })).status, 400)
    })

    test('accounts of a business, owned: `fields` are those of an account', async () => {
      const { body } = await read('owned', ids.business, tokens.owner, { fields: 'country,id', find: 'Retail' })
      assert.deepEqual(body.data, [{ country: 'US', id: ids.account }])
      assert.equal((await read('owned', ids.business, tokens.owner, { fields: 'phone' })).status, 400)
    })
  })

  describe('given by others', () => {
    test('accounts of a business, given by others: shared ones and managed ones, each once, and none of its own', async () => {
      assert.deepEqual(await client(tokens.partner), given)
      assert.deepEqual(await client(tokens.owner, {}, ids.business), [])
      assert.deepEqual(await client(tokens.partner, {}, ids.business), [])
    })

    test('accounts of a business, given by others: those of a granular token alone, and those with a name', async () => {
      assert.deepEqual(await client(further.partnerForShared), [accounts.shared])
      assert.deepEqual(await client(further.partnerForNone), [])
      assert.deepEqual(await client(tokens.partner, { find: 'events' }), [accounts.onBehalf])
    })

    test('accounts of a business, given by others: the newest access first, until it is withdrawn', async () => {
      server.clock.advance(minute)
      const share = async (shared_with: string[]) => {
        const world = { accounts: [{ id: odd, business_id: ids.business, name: '100%_Shrub\\Ü', shared_with }] }
        const applied = await server.client.post('/operator/world', { token: tokens.operator, json: world })
        assert.equal(applied.status, 200, applied.text)
      }
      await share([partnerIds.business])
      const { body } = await read('client', partnerIds.business, tokens.partner)
      assert.equal(body.data[0].id, odd)
      assert.equal(body.data.length, given.length + 1)
      await share([])
      assert.deepEqual(await client(tokens.partner), given)
    })
  })

  describe('pages', () => {
    for (const [kind, business, token, all] of [
      ['owned', ids.business, tokens.owner, ofOwner],
      ['client', partnerIds.business, tokens.partner, given],
    ] as const) {
      for (const query of [{}, { find: 'r' }, { find: '' }] as Record<string, string>[]) {
        test(`accounts of a business, pages: ${kind}, one by one there and back, with ${JSON.stringify(query)}`, async () => {
          const whole = (await read(kind, business, token, query)).body.data
          if (!query.find) assert.equal(whole.length, all.length)
          const seen: unknown[] = []
          let last = await read(kind, business, token, { ...query, limit: '1' })
          for (;;) {
            seen.push(...last.body.data)
            const { next, cursors } = last.body.paging
            if (next === undefined) break
            last = await read(kind, business, token, { ...query, first: '1', after: cursors.after })
          }
          assert.deepEqual(seen, whole)
          const before = await read(kind, business, token, {
            ...query,
            last: '100',
            before: last.body.paging.cursors.before,
          })
          assert.deepEqual(before.body.data, whole.slice(0, -1))
        })
      }
    }

    test('accounts of a business, pages: 1 to 100 under each name, and one name at a time', async () => {
      for (const name of ['limit', 'first', 'last']) {
        assert.equal((await owned(tokens.owner, { [name]: '2' })).length, 2)
        assert.equal((await read('owned', ids.business, tokens.owner, { [name]: '100' })).status, 200)
        for (const value of ['0', '101', 'x']) {
          assert.equal((await read('owned', ids.business, tokens.owner, { [name]: value })).status, 400)
        }
      }
      const twice = await read('owned', ids.business, tokens.owner, { first: '1', last: '1' })
      assertError(twice, limitTwice({ one: 'first', other: 'last' }))
      const sides = await read('client', ids.business, tokens.owner, { after: 'a', before: 'b' })
      assertError(sides, bothCursors())
    })

    test('accounts of a business, pages: the cursor of another list is refused', async () => {
      const { body } = await read('owned', ids.business, tokens.owner, { limit: '1' })
      const { after } = body.paging.cursors
      assert.equal((await read('client', ids.business, tokens.owner, { after })).status, 400)
    })
  })
})

onOneDatabase('accounts of a business in the second vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldOfLists(), env: { VOCABULARY: 'whatsapp' } })

  test('accounts of a business in the second vocabulary: the members of the public document, with its values', async () => {
    const fields = 'id,name,account_review_status,owner_business_info,currency'
    const { status, body } = await server.client.get(
      `/v23.0/${partnerIds.business}/client_whatsapp_business_accounts`,
      { token: tokens.partner, query: { fields, find: 'Twice' } },
    )
    assert.equal(status, 200)
    assert.deepEqual(body.data, [
      {
        ...{ id: twiceGiven, name: 'Twice', account_review_status: 'RESTRICTED' },
        ...{ owner_business_info: { id: ids.business, name: 'Lucky Shrub' }, currency: 'XXX' },
      },
    ])
    const account = await server.client.get(`/v23.0/${twiceGiven}`, { token: tokens.owner, query: { fields } })
    assert.deepEqual(account.body, body.data[0])
  })

  test('accounts of a business in the second vocabulary: what is not visible is refused as there', async () => {
    const refused = await server.client.get(`/v23.0/${ids.business}/owned_whatsapp_business_accounts`, {
      token: tokens.stranger,
    })
    assert.equal(refused.status, 400)
    assert.deepEqual([refused.body.error.code, refused.body.error.error_subcode], [100, 33])
  })
})
