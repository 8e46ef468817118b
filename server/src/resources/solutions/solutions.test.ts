import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallOptions } from '../../../test/harness/client.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { argumentMissing, argumentWrong, fieldUnknown } from '../../graph/errors.ts'
import {
  messagingHeldByNobody,
  messagingHeldTwice,
  notOwnApplication,
  partnerIsOwner,
  partnerUnknown,
  solutionAnswered,
} from './errors.ts'

const defaultPermissions = ['MANAGE', 'DEVELOP', 'MANAGE_TEMPLATES', 'VIEW_INSIGHTS']
const owners = { secondApp: '3000000000000011', secondToken: 'token-of-the-second-app-of-the-owner' }
const partners = {
  secondApp: '3000000000000012',
  secondToken: 'token-of-the-second-app-of-the-partner',
  granularToken: 'token-of-the-partner-for-one-account',
  emptyToken: 'token-of-the-partner-for-no-account',
}

/** Both sides also have a second app, and the partner tokens that see one account and none. */
function worldWithSecondApps() {
  const world = testWorld()
  const scopes = ['msgapp_business_management']
  return {
    ...world,
    apps: [
      ...world.apps,
      { id: owners.secondApp, business_id: ids.business },
      { id: partners.secondApp, business_id: partnerIds.business, partner_kind: 'TECH_PROVIDER' },
    ],
    tokens: [
      ...world.tokens,
      { token: owners.secondToken, app_id: owners.secondApp, scopes },
      { token: partners.secondToken, app_id: partners.secondApp, scopes },
      { token: partners.granularToken, app_id: partnerIds.application, scopes, accounts: [accounts.shared] },
      { token: partners.emptyToken, app_id: partnerIds.application, scopes, accounts: [] },
    ],
  }
}

const good = {
  solution_name: 'Garden Messaging',
  partner_app_id: partnerIds.application,
  owner_permissions: [] as string[],
  partner_permissions: ['MESSAGING'],
}

onOneDatabase('multi-partner solutions', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithSecondApps() })
  const call = (row: string, path: string, options: CallOptions) =>
    server.client.callRow(server.client.row(`solutions.${row}`), `/v23.0/${path}`, options)
  const create = (json: object, token: string = tokens.owner, app: string = ids.application) =>
    call('create', `${app}/msgapp_business_solution`, { token, json })
  const read = (id: string, token: string = tokens.owner, query: Record<string, string> = {}) =>
    call('read', id, { token, query })
  const list = (app: string, token: string, query: Record<string, string> = {}) =>
    call('list', `${app}/msgapp_business_solutions`, { token, query })
  const answer = (id: string, verb: 'accept' | 'reject', token: string = tokens.partner) =>
    call(verb, `${id}/${verb}`, { token })

  async function createGood(changes: object = {}): Promise<string> {
    const created = await create({ ...good, ...changes })
    assert.equal(created.status, 200, created.text)
    return created.body.solution_id
  }

  async function countRows(): Promise<number[]> {
    const { query } = server.database.read
    const tables = ['solutions', 'solution_apps', 'nodes', 'node_shares'] as const
    return Promise.all(tables.map(async (table) => (await query.selectFrom(table).selectAll().execute()).length))
  }

  describe('create', () => {
    test('200 where the partner holds MESSAGING: INITIATED, and the owner has the default permissions', async () => {
      const id = await createGood()
      assert.deepEqual((await read(id)).body, {
        id,
        name: 'Garden Messaging',
        status: 'INITIATED',
        status_for_pending_request: 'PENDING_ACTIVATION',
        owner_app: { id: ids.application, name: 'Shrub CRM' },
        owner_permissions: defaultPermissions,
      })
    })

    test('200 where the owner holds MESSAGING, which is shown besides the default permissions', async () => {
      const id = await createGood({ owner_permissions: ['MESSAGING'], partner_permissions: [] })
      const { body } = await read(id, tokens.owner, { fields: 'owner_permissions' })
      assert.deepEqual(body, { owner_permissions: [...defaultPermissions, 'MESSAGING'] })
    })

    test('200 for a form whose arrays are JSON text, with arguments in the query', async () => {
      const { solution_name, partner_app_id } = good
      const created = await call('create', `${ids.application}/msgapp_business_solution`, {
        token: tokens.owner,
        query: { solution_name, partner_app_id },
        form: { owner_permissions: '[]', partner_permissions: '["MESSAGING"]' },
      })
      assert.equal(created.status, 200, created.text)
    })

    test('200 for a granular token of the app itself', async () => {
      assert.equal((await create(good, tokens.granular)).status, 200)
    })

    for (const [name, changes, expected] of [
      ['both hold MESSAGING', { owner_permissions: ['MESSAGING'] }, messagingHeldTwice()],
      ['neither holds MESSAGING', { partner_permissions: [] }, messagingHeldByNobody()],
      ['the partner is the owner', { partner_app_id: ids.application }, partnerIsOwner()],
      ['the partner app does not exist', { partner_app_id: '3999999999999999' }, partnerUnknown()],
      ['the partner app is not an id', { partner_app_id: 'app' }, partnerUnknown()],
      ['the partner app is another kind of thing', { partner_app_id: ids.account }, partnerUnknown()],
      ['the partner app is not a partner', { partner_app_id: strangerIds.application }, partnerUnknown()],
    ] as const) {
      test(`422 when ${name}, and nothing is kept`, async () => {
        const before = await countRows()
        const refused = await create({ ...good, ...changes })
        assertError(refused, expected)
        assert.deepEqual(await countRows(), before)
      })
    }

    for (const member of Object.keys(good)) {
      test(`multi-partner solutions, create: 400 without ${member}`, async () => {
        const refused = await create({ ...good, [member]: undefined })
        assertError(refused, like(argumentMissing, { argument: member }))
      })
    }

    for (const [name, changes, expected] of [
      [
        'a permission that there is not',
        { owner_permissions: ['MANAGE'] },
        argumentWrong('owner_permissions[0]', { expected: 'one of MESSAGING' }),
      ],
      [
        'a permission twice',
        { partner_permissions: ['MESSAGING', 'MESSAGING'] },
        argumentWrong('partner_permissions', { expected: 'an array of at most 1 item without repeats' }),
      ],
    ] as const) {
      test(`multi-partner solutions, create: 400 with ${name}`, async () =>
        assertError(await create({ ...good, ...changes }), expected))
    }

    for (const [name, solution_name, status] of [
      ['1 character', 'G', 400],
      ['2 characters', 'Ga', 200],
      ['75 characters', '🌱'.repeat(75), 200],
      ['76 characters', 'G'.repeat(76), 400],
      ['blanks alone', '   ', 400],
    ] as const) {
      test(`${status} for a name of ${name}`, async () => {
        const answered = await create({ ...good, solution_name })
        assert.equal(answered.status, status, answered.text)
        if (status === 400) {
          assertError(
            answered,
            argumentWrong('solution_name', { expected: 'a string of 2 to 75 characters that are not all blanks' }),
          )
        } else {
          assert.equal((await read(answered.body.solution_id)).body.name, solution_name)
        }
      })
    }

    test("multi-partner solutions, create: 403 with the token of another app of the same business, 404 with another business's", async () => {
      const refused = await create(good, owners.secondToken)
      assertError(refused, notOwnApplication())
      assert.equal((await create(good, tokens.partner)).status, 404)
    })

    test('multi-partner solutions, create: 200 between two apps of one business', async () => {
      const created = await create(
        { ...good, partner_app_id: partnerIds.application },
        partners.secondToken,
        partners.secondApp,
      )
      assert.equal(created.status, 200, created.text)
      assert.equal((await answer(created.body.solution_id, 'accept')).status, 200)
    })
  })

  describe('read and list', () => {
    test('multi-partner solutions, read and list: 200 with the fields that are asked for, 400 for one that there is not', async () => {
      const id = await createGood()
      assert.deepEqual((await read(id, tokens.owner, { fields: 'status,owner_app' })).body, {
        status: 'INITIATED',
        owner_app: { id: ids.application, name: 'Shrub CRM' },
      })
      const refused = await read(id, tokens.owner, { fields: 'partner_app' })
      assertError(
        refused,
        fieldUnknown({
          field: '"partner_app"',
          available: 'id, name, status, status_for_pending_request, owner_app, owner_permissions',
        }),
      )
    })

    test('200 page by page, newest first, forward and back', async () => {
      const made: string[] = []
      for (const solution_name of ['First', 'Second', 'Third']) {
        server.clock.advance(1000)
        made.unshift(
          (await create({ ...good, solution_name }, partners.secondToken, partners.secondApp)).body.solution_id,
        )
      }
      const pageOne = await list(partners.secondApp, partners.secondToken, { limit: '2', fields: 'id' })
      assert.deepEqual(
        pageOne.body.data,
        made.slice(0, 2).map((id) => ({ id })),
      )
      assert.ok(!('previous' in pageOne.body.paging))
      const pageTwo = await fetchLink(pageOne.body.paging.next, partners.secondToken)
      assert.equal(pageTwo.data[0].id, made[2])
      const back = await fetchLink(pageTwo.paging.previous, partners.secondToken)
      assert.deepEqual(back.data, pageOne.body.data)
    })

    async function fetchLink(url: string, token: string) {
      const { pathname, search } = new URL(url)
      return (await server.client.get(pathname + search, { token })).body
    }

    test('multi-partner solutions, read and list: 200 by role: what the app owns, what it was invited into, and both when no role is asked for', async () => {
      const own = await createGood({ partner_app_id: partners.secondApp })
      const idsOf = async (query: Record<string, string>) => {
        const { body } = await list(ids.application, tokens.owner, { limit: '100', fields: 'id', ...query })
        return body.data.map(({ id }: { id: string }) => id)
      }
      const [owned, invited, both] = [await idsOf({ role: 'OWNER' }), await idsOf({ role: 'PARTNER' }), await idsOf({})]
      assert.ok(owned.includes(own))
      assert.deepEqual(invited, [ids.solution])
      assert.deepEqual(both.toSorted(), [...owned, ...invited].toSorted())
    })

    test("multi-partner solutions, read and list: 200 with every field in the list, also of another business's solution that the app was invited into", async () => {
      const { body } = await list(ids.application, tokens.owner, { role: 'PARTNER' })
      assert.deepEqual(body.data, [
        {
          id: ids.solution,
          name: 'Invitation',
          status: 'INITIATED',
          status_for_pending_request: 'PENDING_ACTIVATION',
          owner_app: { id: partnerIds.application, name: 'Partner Suite' },
          owner_permissions: [...defaultPermissions, 'MESSAGING'],
        },
      ])
    })

    test('200 with an empty list for an app without solutions', async () => {
      const { body } = await list(owners.secondApp, tokens.owner)
      assert.deepEqual(body, { data: [], paging: { cursors: {} } })
    })

    for (const [query, expected] of [
      [{ role: 'owner' }, argumentWrong('role', { expected: 'one of OWNER, PARTNER' })],
      [{ limit: '0' }, argumentWrong('limit', { expected: 'an integer from 1 to 100' })],
      [{ limit: '101' }, argumentWrong('limit', { expected: 'an integer from 1 to 100' })],
    ] as const) {
      test(`multi-partner solutions, read and list: 400 for ${JSON.stringify(query)}`, async () => {
        assertError(await list(ids.application, tokens.owner, query), expected)
      })
    }
  })

  describe('accept and reject', () => {
    for (const [verb, status, other] of [
      ['accept', 'ACTIVE', 'reject'],
      ['reject', 'REJECTED', 'accept'],
    ] as const) {
      test(`multi-partner solutions, accept and reject: 200 for the partner app's ${verb}: ${status}, seen by both sides, and 422 ever after`, async () => {
        const id = await createGood()
        assert.deepEqual((await answer(id, verb)).body, { success: true })
        for (const token of [tokens.owner, tokens.partner]) {
          const { body } = await read(id, token, { fields: 'status,status_for_pending_request' })
          assert.deepEqual(body, { status, status_for_pending_request: 'NONE' })
        }
        for (const again of [verb, other] as const) {
          const refused = await answer(id, again)
          assertError(refused, solutionAnswered())
        }
        assert.equal((await read(id)).body.status, status)
      })

      for (const [name, token] of [
        ['the owner', tokens.owner],
        ['another app of the owner', owners.secondToken],
        ['another app of the partner', partners.secondToken],
      ] as const) {
        test(`multi-partner solutions, accept and reject: 403 for the ${verb} of ${name}, also when it has been answered`, async () => {
          const id = await createGood()
          const refused = await answer(id, verb, token)
          assert.deepEqual([refused.status, refused.body.error.code], [403, 200])
          assert.equal((await read(id)).body.status, 'INITIATED')
          await answer(id, verb)
          assert.equal((await answer(id, verb, token)).status, 403)
        })
      }
    }

    test('one answer counts when twenty come at the same moment', async () => {
      const id = await createGood()
      const verbs = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'accept' : 'reject'))
      const answered = await Promise.all(verbs.map((verb) => answer(id, verb)))
      const statuses = answered.map(({ status }) => status)
      assert.deepEqual(statuses.toSorted(), [200, ...Array.from({ length: 19 }, () => 422)])
      const winner = verbs[statuses.indexOf(200)]
      assert.equal((await read(id)).body.status, winner === 'accept' ? 'ACTIVE' : 'REJECTED')
    })
  })

  describe('who sees what', () => {
    test('a solution is seen by the businesses of both apps, granular tokens included, and by nobody else', async () => {
      const id = await createGood()
      for (const token of [
        tokens.owner,
        owners.secondToken,
        tokens.granular,
        tokens.partner,
        partners.secondToken,
        partners.granularToken,
        partners.emptyToken,
      ]) {
        assert.equal((await read(id, token)).status, 200, token)
      }
      for (const verb of ['accept', 'reject'] as const)
        assert.equal((await answer(id, verb, tokens.stranger)).status, 404)
      assert.equal((await read(id, tokens.stranger)).status, 404)
      assert.equal((await read(id)).body.status, 'INITIATED')
    })

    test('200 for the answer of a granular token of the partner app', async () => {
      assert.equal((await answer(await createGood(), 'accept', partners.granularToken)).status, 200)
    })

    test("multi-partner solutions, who sees what: 404 on the solutions of another business's app, also for the other side of a solution", async () => {
      await createGood()
      for (const token of [tokens.partner, tokens.stranger]) {
        assert.equal((await list(ids.application, token)).status, 404)
      }
    })

    test('multi-partner solutions, who sees what: 404 on everything else of the business that shares a solution, in both directions', async () => {
      assert.equal((await read(strangerIds.solution, tokens.partner)).status, 200)
      const { business, application, account, phone_number, bot } = strangerIds
      for (const id of [business, application, account, phone_number, bot]) {
        assert.equal((await server.client.get(`/v23.0/${id}`, { token: tokens.partner })).status, 404, id)
      }
      for (const id of [partnerIds.business, partnerIds.application, accounts.shared]) {
        assert.equal((await server.client.get(`/v23.0/${id}`, { token: tokens.stranger })).status, 404, id)
      }
    })

    test('a list holds nothing of solutions that the app is not in', async () => {
      await createGood()
      const { body } = await list(strangerIds.application, tokens.stranger, { limit: '100', fields: 'id' })
      assert.deepEqual(body.data, [{ id: strangerIds.solution }])
    })

    test('multi-partner solutions, who sees what: 404 for a granular token without accounts on a business that its own business sees', async () => {
      const seen = await server.client.get(`/v23.0/${ids.business}`, { token: partners.granularToken })
      assert.equal(seen.status, 200)
      const unseen = await server.client.get(`/v23.0/${ids.business}`, { token: partners.emptyToken })
      assert.equal(unseen.status, 404)
    })
  })
})

onOneDatabase('the limit of solution creation', 'postgres', (engine) => {
  const env = { RATE_LIMITS: 'on', RATE_LIMIT_SOLUTION_CREATION: '2/1h' }
  const server = useTestServer({ engine, env })

  test('the limit of solution creation: 429 for one creation too many of an app, while another app still may and reading goes on', async () => {
    const create = (token: string, app: string, partner_app_id: string) =>
      server.client.post(`/v23.0/${app}/msgapp_business_solution`, { token, json: { ...good, partner_app_id } })
    const own = () => create(tokens.owner, ids.application, partnerIds.application)
    assert.deepEqual([(await own()).status, (await own()).status], [200, 200])
    const refused = await own()
    assert.deepEqual([refused.status, refused.body.error.error_subcode], [429, 2446080])
    assert.equal((await create(tokens.partner, partnerIds.application, ids.application)).status, 200)
    const path = `/v23.0/${ids.application}/msgapp_business_solutions`
    assert.equal((await server.client.get(path, { token: tokens.owner })).body.data.length, 4)
  })
})

describe('solutions in the other vocabulary', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })

  test('solutions in the other vocabulary: 200 under its names, 404 under the others', async () => {
    const path = `/v23.0/${ids.application}`
    const options = { token: tokens.owner, json: good }
    assert.equal((await server.client.post(`${path}/whatsapp_business_solution`, options)).status, 200)
    const { token } = options
    assert.equal((await server.client.get(`${path}/whatsapp_business_solutions`, { token })).body.data.length, 2)
    assert.equal((await server.client.post(`${path}/msgapp_business_solution`, options)).status, 404)
  })
})
