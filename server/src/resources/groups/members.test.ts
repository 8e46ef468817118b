import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, assertSentence, like } from '../../../test/harness/errors.ts'
import { freshUsers, groupCalls } from '../../../test/harness/group-calls.ts'
import { countStatuses } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { groupIsFull, notAnInviteLink } from './errors.ts'

const ada = '16505551111'
const bob = '16505552222'
const approval = { join_approval_mode: 'approval_required' }

onOneDatabase('members of groups', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const calls = groupCalls(server)
  const now = () => String(server.clock.now() / 1000)
  const metadata = { display_phone_number: '16315551001', phone_number_id: numbers.main }

  describe('joining', () => {
    test('200 joined by the link of a group that takes everybody, and reported', async () => {
      const { id, link } = await calls.make()
      const events = await calls.eventsOf(id, async () => {
        const answer = await calls.join(link, ada, 'Ada')
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(answer.body, { group_id: id, status: 'joined' })
      })
      assert.deepEqual(events, [
        {
          field: 'group_participants_update',
          value: {
            messaging_product: 'msgapp',
            metadata,
            contacts: [{ profile: { name: 'Ada' }, wa_id: ada }],
            groups: [
              {
                timestamp: now(),
                group_id: id,
                type: 'group_participants_add',
                reason: 'invite_link',
                added_participants: [{ input: ada, wa_id: ada }],
              },
            ],
          },
        },
      ])
      server.clock.advance(1000)
      await calls.join(link, bob)
      const { participants, total_participant_count } = (await calls.read(id)).body
      assert.deepEqual(participants, [{ wa_id: ada }, { wa_id: bob }])
      assert.equal(total_participant_count, 2)
    })

    test('a user who joins a group without a name is no contact in the event', async () => {
      const { id, link } = await calls.make()
      const [event] = await calls.eventsOf(id, () => calls.join(link, ada))
      assert.deepEqual(Object.keys(event?.value), ['messaging_product', 'metadata', 'groups'])
    })

    test('members of groups, joining: 200 joined again for who is in it, and nothing is reported a second time', async () => {
      const { id, link } = await calls.make()
      await calls.join(link, ada)
      const events = await calls.eventsOf(id, async () => {
        assert.deepEqual((await calls.join(link, ada)).body, { group_id: id, status: 'joined' })
      })
      assert.deepEqual(events, [])
      assert.deepEqual(await calls.users(id), [ada])
    })

    test('one user who joins ten times at the same moment is in it once, and reported once', async () => {
      const { id, link } = await calls.make()
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => calls.join(link, ada)))
        assert.deepEqual(countStatuses(answers), { 200: 10 })
      })
      assert.equal(events.length, 1)
      assert.deepEqual(await calls.users(id), [ada])
    })

    test('the eighth user joins, the ninth gets 422', async () => {
      const { id, link } = await calls.make()
      const [ninth = '', ...eight] = freshUsers(9)
      for (const user of eight) assert.equal((await calls.join(link, user)).status, 200)
      const events = await calls.eventsOf(id, async () => {
        assertError(await calls.join(link, ninth), groupIsFull({ max: 8 }))
      })
      assert.deepEqual(events, [])
      assert.equal((await calls.join(link, eight[0] ?? '')).status, 200, 'who is in it stays in it')
      await calls.remove(id, eight[0] ?? '')
      assert.equal((await calls.join(link, ninth)).status, 200, 'a place that is free again is taken')
    })

    test('of many who join a group at the same moment as many are let in as there are places', async () => {
      const { id, link } = await calls.make()
      await calls.join(link, ada)
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all(freshUsers(20).map((user) => calls.join(link, user)))
        assert.deepEqual(countStatuses(answers), { 200: 7, 422: 13 })
      })
      assert.equal(events.length, 7)
      assert.equal((await calls.users(id)).length, 8)
    })

    test('of two who want the last place in a group at the same moment one gets it', async () => {
      const { id, link } = await calls.make()
      const [one = '', other = '', ...seven] = freshUsers(9)
      for (const user of seven) await calls.join(link, user)
      const answers = await Promise.all([calls.join(link, one), calls.join(link, other)])
      assert.deepEqual(countStatuses(answers), { 200: 1, 422: 1 })
      assert.equal((await calls.users(id)).length, 8)
    })

    test('whoever joins while the link is deleted is in it or gets 404', async () => {
      const { id, link } = await calls.make()
      const [gone, ...joins] = await Promise.all([
        calls.deleteLink(id),
        ...freshUsers(6).map((user) => calls.join(link, user)),
      ])
      assert.equal(gone?.status, 200)
      const joined = joins.filter(({ status }) => status === 200).length
      assert.ok(joins.every(({ status }) => status === 200 || status === 404))
      assert.equal((await calls.users(id)).length, joined)
      assert.equal((await calls.join(link, ada)).status, 404)
    })

    for (const [name, body, expected] of [
      [
        'no link',
        { user_wa_id: ada },
        argumentMissing('invite_link', { expected: 'a string of 1 to 2000 characters' }),
      ],
      ['what is no link', { invite_link: 'hello', user_wa_id: ada }, notAnInviteLink()],
      ['no user', { invite_link: 'http://x/invite/y' }, like(argumentMissing, { argument: 'user_wa_id' })],
      [
        'a user who is no number',
        { invite_link: 'http://x/invite/y', user_wa_id: 'ada' },
        like(argumentWrong, { argument: 'user_wa_id' }),
      ],
      [
        'an empty name',
        { invite_link: 'http://x/invite/y', user_wa_id: ada, name: '' },
        argumentWrong('name', { expected: 'a string of 1 to 255 characters' }),
      ],
    ] as const) {
      test(`members of groups, joining: 400 with ${name}`, async () => {
        assertError(await server.client.post('/gateway/groups/join', { token: tokens.gateway, json: body }), expected)
      })
    }

    test('401 without a token, 403 without the scope of the gateway', async () => {
      const { link } = await calls.make()
      const json = { invite_link: link, user_wa_id: ada }
      assert.equal((await server.client.post('/gateway/groups/join', { json })).status, 401)
      assert.equal((await server.client.post('/gateway/groups/join', { json, token: tokens.owner })).status, 403)
    })
  })

  describe('requests to join', () => {
    test('members of groups, requests to join: 200 requested where the business has to approve: reported, listed, and nobody is in it yet', async () => {
      const { id, link } = await calls.make(approval)
      const events = await calls.eventsOf(id, async () => {
        assert.deepEqual((await calls.join(link, ada, 'Ada')).body, { group_id: id, status: 'requested' })
      })
      const join_request_id = (await calls.waiting(id))[ada]
      assert.ok(join_request_id)
      assert.deepEqual(events, [
        {
          field: 'group_participants_update',
          value: {
            messaging_product: 'msgapp',
            metadata,
            contacts: [{ profile: { name: 'Ada' }, wa_id: ada }],
            groups: [
              { timestamp: now(), group_id: id, type: 'group_join_request_created', join_request_id, wa_id: ada },
            ],
          },
        },
      ])
      const { body } = await calls.requests(id)
      assert.deepEqual(body.data, [{ join_request_id, wa_id: ada, creation_timestamp: now() }])
      assert.deepEqual(await calls.users(id), [])
    })

    test('asking again, also many times at the same moment, makes no second request and reports nothing', async () => {
      const { id, link } = await calls.make(approval)
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => calls.join(link, ada)))
        for (const { body } of answers) assert.deepEqual(body, { group_id: id, status: 'requested' })
      })
      assert.equal(events.length, 1)
      assert.equal((await calls.requests(id)).body.data.length, 1)
    })

    test('the list is newest first and in pages', async () => {
      const { id, link } = await calls.make(approval)
      const users = freshUsers(5)
      for (const user of users) {
        server.clock.advance(1000)
        await calls.join(link, user)
      }
      const first = (await calls.requests(id, { limit: '3' })).body
      const second = (await calls.requests(id, { limit: '3', after: first.paging.cursors.after })).body
      const listed = [...first.data, ...second.data].map(({ wa_id }: { wa_id: string }) => wa_id)
      assert.deepEqual(listed, users.toReversed())
      assert.equal(second.paging.next, undefined)
      assertError(
        await calls.requests(id, { limit: '1025' }),
        argumentWrong('limit', { expected: 'an integer from 1 to 1024' }),
      )
    })

    test('approving lets them in, all in one event, and ends the requests', async () => {
      const { id, link } = await calls.make(approval)
      await calls.join(link, ada, 'Ada')
      await calls.join(link, bob)
      const waiting = await calls.waiting(id)
      const approved = [waiting[bob] ?? '', waiting[ada] ?? '']
      const events = await calls.eventsOf(id, async () => {
        const answer = await calls.approve(id, [...approved, ...approved])
        assert.deepEqual(answer.body, { messaging_product: 'msgapp', approved_join_requests: approved })
      })
      assert.equal(events.length, 1)
      assert.deepEqual(events[0]?.value.contacts, [{ profile: { name: 'Ada' }, wa_id: ada }])
      assert.deepEqual(events[0]?.value.groups, [
        {
          timestamp: now(),
          group_id: id,
          type: 'group_participants_add',
          reason: 'invite_link',
          added_participants: [
            { input: bob, wa_id: bob },
            { input: ada, wa_id: ada },
          ],
        },
      ])
      assert.deepEqual(await calls.users(id), [ada, bob])
      assert.deepEqual(await calls.waiting(id), {})
      assert.deepEqual((await calls.join(link, ada)).body, { group_id: id, status: 'joined' })
    })

    test('what is no request of the group fails by itself, and the others are approved', async () => {
      const { id, link } = await calls.make(approval)
      const another = await calls.make(approval)
      await calls.join(link, ada)
      await calls.join(another.link, bob)
      const own = (await calls.waiting(id))[ada] ?? ''
      const foreign = (await calls.waiting(another.id))[bob] ?? ''
      const { status, body } = await calls.approve(id, ['nothing', own, foreign])
      assert.equal(status, 200)
      assert.deepEqual(body.approved_join_requests, [own])
      assert.deepEqual(
        body.failed_join_requests.map((failed: { join_request_id: string; errors: { code: number }[] }) => [
          failed.join_request_id,
          failed.errors[0]?.code,
        ]),
        [
          ['nothing', 803],
          [foreign, 803],
        ],
      )
      assert.deepEqual(Object.keys(await calls.waiting(another.id)), [bob])
    })

    test('a request to join that finds no place at the limit fails, and stays in the list', async () => {
      const { id, link } = await calls.make(approval)
      const users = freshUsers(10)
      for (const user of users) await calls.join(link, user)
      const waiting = await calls.waiting(id)
      const requests = users.map((user) => waiting[user] ?? '')
      const { body } = await calls.approve(id, requests)
      assert.deepEqual(body.approved_join_requests, requests.slice(0, 8))
      assert.deepEqual(
        body.failed_join_requests.map(({ join_request_id }: { join_request_id: string }) => join_request_id),
        requests.slice(8),
      )
      assertSentence(body.failed_join_requests[0].errors[0].error_data.details, groupIsFull({ max: 8 }))
      assert.deepEqual(Object.keys(await calls.waiting(id)).sort(), users.slice(8).sort())
      const events = await calls.eventsOf(id, () => calls.approve(id, requests.slice(8)))
      assert.deepEqual(events, [], 'what did not happen is not reported')
    })

    test('approvals at the same moment never let in more than there are places, nor anybody twice', async () => {
      const { id, link } = await calls.make(approval)
      const users = freshUsers(10)
      for (const user of users) await calls.join(link, user)
      const requests = Object.values(await calls.waiting(id))
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all([...requests, ...requests].map((request) => calls.approve(id, [request])))
        assert.equal(answers.flatMap(({ body }) => body.approved_join_requests).length, 8)
      })
      assert.equal(events.length, 8)
      assert.equal((await calls.users(id)).length, 8)
      assert.equal(Object.keys(await calls.waiting(id)).length, 2)
    })

    test('one that is approved and rejected at the same moment is one of them', async () => {
      const { id, link } = await calls.make(approval)
      await calls.join(link, ada)
      const request = (await calls.waiting(id))[ada] ?? ''
      const [approved, rejected] = await Promise.all([calls.approve(id, [request]), calls.reject(id, [request])])
      const [{ approved_join_requests }, { rejected_join_requests }] = [approved?.body, rejected?.body]
      assert.deepEqual([...approved_join_requests, ...rejected_join_requests], [request])
      assert.equal((await calls.users(id)).length, approved_join_requests.length)
    })

    test('rejecting ends the requests, each reported; the users may ask again', async () => {
      const { id, link } = await calls.make(approval)
      await calls.join(link, ada)
      await calls.join(link, bob)
      const waiting = await calls.waiting(id)
      const requests = [waiting[ada] ?? '', waiting[bob] ?? '']
      const events = await calls.eventsOf(id, async () => {
        const { body } = await calls.reject(id, [...requests, 'nothing'])
        assert.deepEqual(body.rejected_join_requests, requests)
        assert.deepEqual(body.failed_join_requests.length, 1)
      })
      const common = { timestamp: now(), group_id: id, type: 'group_join_request_revoked' }
      assert.deepEqual(
        events.map(({ value }) => value.groups),
        [
          [
            { ...common, join_request_id: requests[0], wa_id: ada },
            { ...common, join_request_id: requests[1], wa_id: bob },
          ],
        ],
      )
      assert.deepEqual(await calls.users(id), [])
      assert.deepEqual((await calls.join(link, ada)).body.status, 'requested')
      assert.notEqual((await calls.waiting(id))[ada], requests[0])
    })

    for (const row of ['approve', 'reject'] as const) {
      test(`400 when nothing is there to ${row}, or too much, or not in a list`, async () => {
        assertError(
          await calls[row](ids.group, []),
          argumentWrong('join_requests', { expected: 'an array of 1 to 1024 items' }),
        )
        const tooMany = Array.from({ length: 1025 }, (_, index) => String(index))
        assertError(
          await calls[row](ids.group, tooMany),
          argumentWrong('join_requests', { expected: 'an array of 1 to 1024 items' }),
        )
        assertError(
          await calls[row](ids.group, ['']),
          argumentWrong('join_requests[0]', { expected: 'a string of 1 to 255 characters' }),
        )
        assert.equal((await calls[row](ids.group, tooMany.slice(1))).status, 200)
      })
    }

    test('who asked to join before everybody was let in joins, and the request ends', async () => {
      const { id, link } = await calls.make(approval)
      await calls.join(link, ada)
      const groups = [{ id, subject: 'Gardeners', join_approval_mode: 'auto_approve' }]
      const phone_numbers = [{ id: numbers.main, display_phone_number: '+1 631-555-1001', groups }]
      const accounts = [{ id: ids.account, business_id: ids.business, name: 'Lucky Shrub Retail', phone_numbers }]
      const world = readWorld(JSON.stringify({ accounts }), 'w')
      await applyWorld(server.database, server.clock, systemRandom, world)
      assert.deepEqual((await calls.join(link, ada)).body.status, 'joined')
      assert.deepEqual(await calls.waiting(id), {})
    })
  })

  describe('removing', () => {
    test('members of groups, removing: 200 with who was removed and who was not in it, and one event', async () => {
      const { id, link } = await calls.make()
      await calls.join(link, ada)
      await calls.join(link, bob)
      const events = await calls.eventsOf(id, async () => {
        const { status, body } = await calls.remove(id, '+1 (650) 555-1111', '16505559999', ada)
        assert.equal(status, 200)
        assert.deepEqual(body.removed_participants, [{ input: ada, wa_id: ada }])
        assert.deepEqual(
          body.failed_participants.map(({ input, errors }: { input: string; errors: { code: number }[] }) => [
            input,
            errors[0]?.code,
          ]),
          [['16505559999', 803]],
        )
      })
      const { request_id } = events[0]?.value.groups[0] ?? {}
      assert.equal(typeof request_id, 'string')
      assert.deepEqual(
        events.map(({ field, value }) => [field, value.groups]),
        [
          [
            'group_participants_update',
            [
              {
                timestamp: now(),
                group_id: id,
                type: 'group_participants_remove',
                request_id,
                initiated_by: 'business',
                removed_participants: [{ input: ada, wa_id: ada }],
              },
            ],
          ],
        ],
      )
      assert.deepEqual(await calls.users(id), [bob])
    })

    test('a phone number as people write it names its user', async () => {
      const { id, link } = await calls.make()
      await calls.join(link, ada)
      const { body } = await calls.remove(id, '+1 650-555-1111')
      assert.deepEqual(body.removed_participants, [{ input: '+1 650-555-1111', wa_id: ada }])
      assert.equal(body.failed_participants, undefined)
    })

    test('removing users of whom none is in the group fails for all, and nothing is reported', async () => {
      const { id } = await calls.make()
      const events = await calls.eventsOf(id, async () => {
        const { body } = await calls.remove(id, ada)
        assert.deepEqual([body.removed_participants, body.failed_participants.length], [[], 1])
      })
      assert.deepEqual(events, [])
    })

    test('of ten who remove a user from a group at the same moment one does', async () => {
      const { id, link } = await calls.make()
      await calls.join(link, ada)
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => calls.remove(id, ada)))
        assert.equal(answers.flatMap(({ body }) => body.removed_participants).length, 1)
      })
      assert.equal(events.length, 1)
    })

    test('400 with nobody, and with what is no user', async () => {
      assertError(
        await calls.remove(ids.group),
        argumentWrong('participants', { expected: 'an array of 1 to 1024 items' }),
      )
      assertError(await calls.remove(ids.group, 'ada'), like(argumentWrong, { argument: 'participants[0].user' }))
      const path = `/v23.0/${ids.group}/participants`
      const json = { participants: [{ name: 'Ada' }] }
      assertError(
        await server.client.delete(path, { token: tokens.owner, json }),
        like(argumentMissing, { argument: 'participants[0].user' }),
      )
    })
  })
})

onOneDatabase('MAX_USERS_PER_GROUP', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { MAX_USERS_PER_GROUP: '2' } })
  const calls = groupCalls(server)

  test('MAX_USERS_PER_GROUP says how many users can be in a group', async () => {
    const { id, link } = await calls.make()
    const [one = '', two = '', three = ''] = freshUsers(3)
    assert.equal((await calls.join(link, one)).status, 200)
    assert.equal((await calls.join(link, two)).status, 200)
    assertError(await calls.join(link, three), groupIsFull({ max: 2 }))
    assert.equal((await calls.users(id)).length, 2)
  })
})
