import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { noEligibleAccount, notAPartner, ownBusiness, solutionRejected, solutionUnknown } from './onboarding-errors.ts'

const tech = { business: '2000000000000003', app: '3000000000000003', token: 'token-of-the-tech-partner' }
const reseller = {
  business: '2000000000000005',
  app: '3000000000000005',
  token: 'token-of-a-business-that-is-no-partner',
}
const partners = {
  secondApp: '3000000000000012',
  secondToken: 'token-of-the-second-app-of-the-partner',
  onBehalfOnly: 'token-of-the-partner-for-one-account-on-behalf',
  unapprovedOnly: 'token-of-the-partner-for-an-account-under-review',
  noAccounts: 'token-of-the-partner-for-no-account',
}

type Review = 'APPROVED' | 'PENDING' | 'REJECTED' | 'LIMIT_REACHED'
interface Given {
  readonly review?: Review
  readonly shared_with?: readonly string[]
  readonly on_behalf_of?: string
}

/** An end business of its own for each test, so that no test finds another's request. */
const endBusinesses = {
  first: [{ shared_with: [partnerIds.business] }],
  repeated: [{ shared_with: [partnerIds.business] }],
  crowded: [{ on_behalf_of: partnerIds.business }, { shared_with: [tech.business] }],
  onBehalfAlone: [{ on_behalf_of: partnerIds.business }],
  mixed: [
    { on_behalf_of: partnerIds.business },
    { on_behalf_of: partnerIds.business, shared_with: [partnerIds.business] },
    { on_behalf_of: partnerIds.business, review: 'PENDING' },
    { shared_with: [partnerIds.business] },
    { on_behalf_of: tech.business },
  ],
  ofTech: [{ on_behalf_of: tech.business }],
  ofSeveral: [{ shared_with: [partnerIds.business, tech.business, reseller.business] }],
  linked: [{ on_behalf_of: partnerIds.business }],
  badlyLinked: [{ shared_with: [partnerIds.business] }],
  pending: [{ shared_with: [partnerIds.business], review: 'PENDING' }],
  rejected: [{ on_behalf_of: partnerIds.business, review: 'REJECTED' }],
  limitReached: [{ shared_with: [partnerIds.business], review: 'LIMIT_REACHED' }],
  granular: [
    { on_behalf_of: partnerIds.business },
    { on_behalf_of: partnerIds.business },
    { shared_with: [partnerIds.business], review: 'PENDING' },
  ],
  closed: [{}],
} satisfies Record<string, readonly Given[]>
type EndBusiness = keyof typeof endBusinesses

const names = Object.keys(endBusinesses) as EndBusiness[]
const businessOf = (name: EndBusiness) => String(2_000_000_000_000_100 + names.indexOf(name))
const accountOf = (name: EndBusiness, index: number) => String(1_000_000_000_000_100 + 10 * names.indexOf(name) + index)

function worldOfPartners() {
  const world = testWorld()
  const scopes = ['msgapp_business_management']
  return {
    businesses: [
      ...world.businesses,
      { id: tech.business, name: 'Tech Partner' },
      { id: reseller.business, name: 'Reseller' },
      ...names.map((name) => ({ id: businessOf(name), name })),
    ],
    apps: [
      ...world.apps,
      { id: tech.app, business_id: tech.business, partner_kind: 'TECH_PROVIDER' },
      { id: reseller.app, business_id: reseller.business },
      { id: partners.secondApp, business_id: partnerIds.business, partner_kind: 'SOLUTION_PROVIDER' },
    ],
    tokens: [
      ...world.tokens,
      { token: tech.token, app_id: tech.app, scopes },
      { token: reseller.token, app_id: reseller.app, scopes },
      { token: partners.secondToken, app_id: partners.secondApp, scopes },
      { token: partners.onBehalfOnly, app_id: partnerIds.application, scopes, accounts: [accountOf('granular', 1)] },
      { token: partners.unapprovedOnly, app_id: partnerIds.application, scopes, accounts: [accountOf('granular', 2)] },
      { token: partners.noAccounts, app_id: partnerIds.application, scopes, accounts: [] },
    ],
    accounts: [
      ...world.accounts,
      ...names.flatMap((name) =>
        endBusinesses[name].map(({ review = 'APPROVED', ...access }: Given, index) => ({
          id: accountOf(name, index),
          business_id: businessOf(name),
          name: `${name} ${index}`,
          account_review_status: review,
          ...access,
        })),
      ),
    ],
  }
}

onOneDatabase('partner onboarding', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldOfPartners() })
  const onboardBusiness = (business: string, token: string = tokens.partner, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('onboarding.request'), `/v23.0/${business}/onboard_partners_to_mm_lite`, {
      token,
      query,
    })
  const onboard = (name: EndBusiness, token?: string, query?: Record<string, string>) =>
    onboardBusiness(businessOf(name), token, query)

  async function requestsOf(name: EndBusiness) {
    const rows = await server.database.read.query
      .selectFrom('agreement_requests')
      .selectAll()
      .where('end_business_id', '=', businessOf(name))
      .execute()
    return rows.map((row) => ({ ...row }))
  }
  async function intentsOf(name: EndBusiness) {
    const rows = await server.database.read.query
      .selectFrom('mobility_intents')
      .innerJoin('accounts', 'accounts.id', 'mobility_intents.account_id')
      .selectAll('mobility_intents')
      .where('accounts.business_id', '=', businessOf(name))
      .orderBy('account_id')
      .execute()
    return rows.map((row) => ({ ...row }))
  }
  const countNodes = async () => (await server.database.read.query.selectFrom('nodes').select('id').execute()).length

  async function createSolution(json: object = {}): Promise<string> {
    const created = await server.client.post(`/v23.0/${partnerIds.application}/msgapp_business_solution`, {
      token: tokens.partner,
      json: {
        solution_name: 'Onboarding',
        partner_app_id: tech.app,
        owner_permissions: ['MESSAGING'],
        partner_permissions: [],
        ...json,
      },
    })
    assert.equal(created.status, 200, created.text)
    return created.body.solution_id
  }

  test('200 with a pending request between the partner and the end business', async () => {
    const { status, body } = await onboard('first')
    assert.equal(status, 200)
    assert.match(body.request_id, /^\d{16}$/)
    assert.deepEqual(await requestsOf('first'), [
      {
        id: body.request_id,
        type: 'MM_LITE_ONBOARDING',
        status: 'PENDING',
        partner_business_id: partnerIds.business,
        partner_app_id: partnerIds.application,
        end_business_id: businessOf('first'),
        solution_id: null,
        created_time: server.clock.now(),
      },
    ])
    assert.deepEqual(await intentsOf('first'), [], 'an account that was only shared is not meant to move')
  })

  test('partner onboarding: 200 with the same request again while it is pending, also for another app and any solution of the partner', async () => {
    const first = await onboard('repeated')
    const nodes = await countNodes()
    server.clock.advance(60_000)
    for (const again of [
      await onboard('repeated'),
      await onboard('repeated', partners.secondToken),
      await onboard('repeated', tokens.partner, { solution_id: strangerIds.solution }),
    ]) {
      assert.deepEqual([again.status, again.body], [200, first.body], again.text)
    }
    assert.equal((await requestsOf('repeated')).length, 1)
    assert.equal(await countNodes(), nodes, 'nothing of the repeats stays')
  })

  test('one request for each partner when fifty of each come at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => onboard('crowded', index % 2 === 0 ? tokens.partner : tech.token)),
    )
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200),
      [],
    )
    const requests = await requestsOf('crowded')
    assert.deepEqual(requests.map(({ partner_business_id }) => partner_business_id).toSorted(), [
      partnerIds.business,
      tech.business,
    ])
    for (const [index, { body }] of answers.entries()) {
      const partner = index % 2 === 0 ? partnerIds.business : tech.business
      assert.equal(body.request_id, requests.find((one) => one.partner_business_id === partner)?.id)
    }
    assert.equal((await intentsOf('crowded')).length, 1)
  })

  test('partner onboarding: 200 where the partner manages an account on behalf of its owner and was given nothing else', async () => {
    assert.equal((await onboard('onBehalfAlone')).status, 200)
  })

  test('mobility intents on the approved accounts that the solution provider manages on behalf of the owner, and on no others', async () => {
    const { body } = await onboard('mixed')
    const intent = {
      partner_business_id: partnerIds.business,
      request_id: body.request_id,
      solution_id: null,
      created_time: server.clock.now(),
    }
    assert.deepEqual(await intentsOf('mixed'), [
      { account_id: accountOf('mixed', 0), ...intent },
      { account_id: accountOf('mixed', 1), ...intent },
    ])
  })

  test('no mobility intent for a technology partner: the request alone', async () => {
    assert.equal((await onboard('ofTech', tech.token)).status, 200)
    assert.equal((await requestsOf('ofTech')).length, 1)
    assert.deepEqual(await intentsOf('ofTech'), [])
  })

  test('partner onboarding: 200 with a request of its own for each partner; 403 for an app that is none', async () => {
    const [one, other] = [await onboard('ofSeveral'), await onboard('ofSeveral', tech.token)]
    assert.deepEqual([one.status, other.status], [200, 200])
    assert.notEqual(one.body.request_id, other.body.request_id)
    const refused = await onboard('ofSeveral', reseller.token)
    assertError(refused, notAPartner())
    assert.equal((await requestsOf('ofSeveral')).length, 2)
  })

  test('the id of a request opens nothing: it is for the partner to keep', async () => {
    const { body } = await onboard('first')
    assert.equal((await server.client.get(`/v23.0/${body.request_id}`, { token: tokens.partner })).status, 404)
  })

  describe('the linked solution', () => {
    test('partner onboarding, the linked solution: 200 with the solution in the request and in its mobility intents', async () => {
      const solution_id = await createSolution()
      const { status, text } = await onboard('linked', tokens.partner, { solution_id })
      assert.equal(status, 200, text)
      assert.deepEqual(
        [...(await requestsOf('linked')), ...(await intentsOf('linked'))].map((row) => row.solution_id),
        [solution_id, solution_id],
      )
    })

    test("partner onboarding, the linked solution: 422 when it does not exist, is another app's, or was rejected, and nothing is kept", async () => {
      const rejected = await createSolution()
      const ofSecondApp = await createSolution({ partner_app_id: partners.secondApp })
      await server.client.post(`/v23.0/${rejected}/reject`, { token: tech.token })
      const ofOthers = await server.client.post(`/v23.0/${tech.app}/msgapp_business_solution`, {
        token: tech.token,
        json: {
          solution_name: 'Others',
          partner_app_id: ids.application,
          owner_permissions: [],
          partner_permissions: ['MESSAGING'],
        },
      })
      const nodes = await countNodes()
      for (const [solution_id, token, expected] of [
        ['9000000000000404', tokens.partner, solutionUnknown()],
        ['', tokens.partner, solutionUnknown()],
        [ofOthers.body.solution_id, tokens.partner, solutionUnknown()],
        [businessOf('badlyLinked'), tokens.partner, solutionUnknown()],
        [ids.solution, partners.secondToken, solutionUnknown()],
        [rejected, tokens.partner, solutionRejected()],
      ] as const) {
        const refused = await onboard('badlyLinked', token, { solution_id })
        assertError(refused, expected)
      }
      assert.deepEqual(await requestsOf('badlyLinked'), [])
      assert.equal(await countNodes(), nodes)
      const good = await onboard('badlyLinked', partners.secondToken, { solution_id: ofSecondApp })
      assert.equal(good.status, 200, 'a solution that the app was invited into will do')
    })
  })

  describe('what is not eligible', () => {
    for (const name of ['pending', 'rejected', 'limitReached'] as const) {
      test(`422 for a business with no approved account for the partner: review ${endBusinesses[name].map(({ review }) => review)}`, async () => {
        const refused = await onboard(name)
        assertError(refused, noEligibleAccount())
        assert.deepEqual(await requestsOf(name), [])
      })
    }

    test("what is not eligible: 422 for the partner's own business", async () => {
      assertError(await onboardBusiness(partnerIds.business), ownBusiness())
    })

    test('what is not eligible: 404 for a business that shared nothing with the partner, as for one that does not exist', async () => {
      for (const business of [businessOf('closed'), strangerIds.business, '2999999999999999', accounts.shared]) {
        assert.equal((await onboardBusiness(business)).status, 404, business)
      }
      assert.equal((await onboard('first', tokens.stranger)).status, 404)
      assert.equal((await onboard('first', tech.token)).status, 404)
    })
  })

  test('a granular token counts its accounts alone', async () => {
    assert.equal((await onboard('granular', partners.noAccounts)).status, 404)
    assert.equal((await onboard('first', partners.onBehalfOnly)).status, 404)
    assert.equal((await onboard('granular', partners.unapprovedOnly)).status, 422)
    assert.equal((await onboard('granular', partners.onBehalfOnly)).status, 200)
    const intents = await intentsOf('granular')
    assert.deepEqual(
      intents.map(({ account_id }) => account_id),
      [accountOf('granular', 1)],
    )
  })
})

onOneDatabase('the limit of onboarding', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_ONBOARDING: '2/1h' } })

  test('the limit of onboarding: 429 for one request too many of an app', async () => {
    const onboard = () =>
      server.client.post(`/v23.0/${ids.business}/onboard_partners_to_mm_lite`, { token: tokens.partner })
    const [first, second, third] = [await onboard(), await onboard(), await onboard()]
    assert.deepEqual([first.status, second.body], [200, first.body])
    assert.deepEqual([third.status, third.body.error.error_subcode], [429, 2446079])
  })
})
