import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { groupCalls } from '../../../test/harness/group-calls.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { startTestServer, testStart, useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { argumentMissing, argumentWrong, bothCursors, cursorUnknown, fieldUnknown } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { makeCreationHandler } from './creation.ts'
import { groupsNeedRegistration, noInviteLink, subjectLength } from './errors.ts'
import { insertGroup } from './store.ts'

const emoji = '🌱'

onOneDatabase('groups', 'sqlite', (engine) => {
  describe('creation', () => {
    const server = useTestServer({ engine })
    const calls = groupCalls(server)
    const subjects = async () =>
      (await calls.list({ limit: '1024' })).body.data.groups.map(({ subject }: { subject: string }) => subject)

    test('groups, creation: 200 with the id of the request; the group is there, and reported, when its time has come', async () => {
      const answer = await calls.create({
        subject: '  Spring planting\n',
        description: 'What to plant.',
        join_approval_mode: 'approval_required',
      })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(Object.keys(answer.body), ['messaging_product', 'request_id'])
      const { request_id } = answer.body
      await server.app.settle()
      assert.ok(!(await subjects()).includes('Spring planting'), 'the answer goes first')

      const before = (await calls.events()).length
      await calls.pass()
      const [event, ...others] = (await calls.events()).slice(before)
      assert.deepEqual(others, [])
      const { group_id, invite_link } = event?.value.groups[0] ?? {}
      const timestamp = String(server.clock.now() / 1000)
      assert.deepEqual(event, {
        field: 'group_lifecycle_update',
        value: {
          messaging_product: 'msgapp',
          metadata: { display_phone_number: '16315551001', phone_number_id: numbers.main },
          groups: [
            {
              timestamp,
              group_id,
              type: 'group_create',
              request_id,
              subject: 'Spring planting',
              description: 'What to plant.',
              join_approval_mode: 'approval_required',
              invite_link,
            },
          ],
        },
      })
      assert.ok(invite_link.startsWith(`${server.url}/invite/`))
      assert.equal((await calls.readLink(group_id)).body.invite_link, invite_link)
      assert.deepEqual((await calls.read(group_id)).body, {
        id: group_id,
        subject: 'Spring planting',
        description: 'What to plant.',
        join_approval_mode: 'approval_required',
        creation_timestamp: timestamp,
        participants: [],
        total_participant_count: 0,
      })
    })

    test('a group without a description and a mode: none in the event, and auto_approve', async () => {
      const { id } = await calls.make({ subject: 'Plain' })
      const told = (await calls.events()).at(-1)?.value.groups[0]
      assert.ok(!('description' in told))
      assert.equal(told.join_approval_mode, 'auto_approve')
      const { description, join_approval_mode } = (await calls.read(id)).body
      assert.deepEqual([description, join_approval_mode], ['', 'auto_approve'])
    })

    for (const [name, body] of [
      ['a subject of 1 character', { subject: 'x' }],
      ['a subject of 128 characters, counted in Unicode and without blanks', { subject: ` ${emoji.repeat(128)} ` }],
      ['a description of 2048 characters', { subject: 'Long', description: emoji.repeat(2048) }],
      ['an empty description', { subject: 'Short', description: '' }],
    ] as const) {
      test(`groups, creation: 200 with ${name}`, async () => {
        const { id } = await calls.make(body)
        const read = (await calls.read(id)).body
        assert.equal(read.subject, body.subject.trim())
        assert.equal(read.description, 'description' in body ? body.description : '')
      })
    }

    for (const [name, body, expected] of [
      [
        'no subject',
        {},
        argumentMissing('subject', { expected: 'a string of 1 to 128 characters, not counting blanks around it' }),
      ],
      ['an empty subject', { subject: '' }, subjectLength('subject')],
      ['a subject of blanks', { subject: ' \t\n ' }, subjectLength('subject')],
      ['a subject of 129 characters', { subject: 'x'.repeat(129) }, subjectLength('subject')],
      [
        'a description of 2049 characters',
        { subject: 'x', description: 'x'.repeat(2049) },
        argumentWrong('description', { expected: 'a string of at most 2048 characters' }),
      ],
      [
        'an unknown mode',
        { subject: 'x', join_approval_mode: 'anybody' },
        argumentWrong('join_approval_mode', { expected: 'one of approval_required, auto_approve' }),
      ],
      [
        'another product',
        { subject: 'x', messaging_product: 'other' },
        argumentWrong('messaging_product', { expected: '"msgapp"' }),
      ],
      [
        'no product',
        { subject: 'x', messaging_product: undefined },
        argumentMissing('messaging_product', { expected: '"msgapp"' }),
      ],
    ] as const) {
      test(`400 with ${name}, and nothing is asked for`, async () => {
        const before = await countTimers()
        assertError(await calls.create(body), expected)
        assert.equal(await countTimers(), before)
      })
    }

    test('200 as a form and as multipart', async () => {
      const path = `/v23.0/${numbers.main}/groups`
      for (const kind of ['form', 'multipart'] as const) {
        const fields = { messaging_product: 'msgapp', subject: `By ${kind}` }
        const answer = await server.client.post(path, { token: tokens.owner, [kind]: fields })
        assert.equal(answer.status, 200, answer.text)
      }
      await calls.pass()
      const known = await subjects()
      assert.ok(known.includes('By form') && known.includes('By multipart'))
    })

    test('422 for a number that is not registered', async () => {
      assertError(await calls.create({ subject: 'Early' }, numbers.fresh), groupsNeedRegistration())
    })

    test('an event with errors, and no group, when the number was deregistered meanwhile', async () => {
      const asked = await calls.create({ subject: 'Too late', description: 'Gone' }, numbers.shared)
      const deregistered = await server.client.post(`/v23.0/${numbers.shared}/deregister`, { token: tokens.owner })
      assert.equal(deregistered.status, 200, deregistered.text)
      await calls.pass()
      const event = (await calls.events()).at(-1)
      assert.equal(event?.field, 'group_lifecycle_update')
      assert.deepEqual(event?.value.groups, [
        {
          timestamp: String(server.clock.now() / 1000),
          type: 'group_create',
          request_id: asked.body.request_id,
          subject: 'Too late',
          description: 'Gone',
          join_approval_mode: 'auto_approve',
          errors: [
            {
              code: 100,
              title: 'Group not created',
              message: 'Group not created',
              error_data: {
                details: 'The phone number is not registered; register it before it can have groups.',
              },
            },
          ],
        },
      ])
      assert.deepEqual((await calls.list({}, numbers.shared)).body.data.groups, [])
    })

    test('twenty requests at the same moment make twenty groups, each reported once', async () => {
      const before = (await calls.events()).length
      const wanted = Array.from({ length: 20 }, (_, index) => `Crowd ${index}`)
      const answers = await Promise.all(wanted.map((subject) => calls.create({ subject })))
      assert.equal(new Set(answers.map(({ body }) => body.request_id)).size, 20)
      await calls.pass()
      const told = (await calls.events()).slice(before).map(({ value }) => value.groups[0].subject)
      assert.deepEqual(told.sort(), [...wanted].sort())
      assert.deepEqual(
        (await subjects()).filter((subject: string) => subject.startsWith('Crowd')).sort(),
        wanted.sort(),
      )
    })

    test('a creation that fails in the middle leaves nothing, and is done when it is tried again', async () => {
      const { database, clock } = server
      let url: string | undefined
      const handler = makeCreationHandler({
        clock,
        vocabulary: chooseVocabulary('msgapp'),
        random: systemRandom,
        publicUrl: () => {
          if (url === undefined) throw new Error('not yet')
          return url
        },
      })
      const payload = { request_id: 'asked', number: mainNumber, subject: 'Persistent' }
      const finish = () => database.transaction(async (tx) => handler.finish?.(tx, payload))
      const count = async () => (await database.read.query.selectFrom('nodes').select('id').execute()).length
      const [nodes, events] = [await count(), (await calls.events()).length]
      await assert.rejects(finish(), /not yet/)
      assert.deepEqual([await count(), (await calls.events()).length], [nodes, events])
      url = 'https://example.com'
      await finish()
      assert.deepEqual([await count(), (await calls.events()).length], [nodes + 1, events + 1])
      assert.match((await calls.events()).at(-1)?.value.groups[0].invite_link, /^https:\/\/example\.com\/invite\//)
      assert.equal(handler.retryDelay(1), 1000)
      assert.equal(handler.retryDelay(1_000_000), 60_000, 'it is never given up')
    })

    async function countTimers(): Promise<number> {
      return (await server.database.read.query.selectFrom('timers').select('id').execute()).length
    }
  })

  test('a request that was answered before the process stopped is done by those that start next, once', async (t) => {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    const calls = groupCalls(server)
    assert.equal((await calls.create({ subject: 'Survivors' })).status, 200)
    await server.app.close(1000)

    const [one, other] = [await startSecondProcess(server), await startSecondProcess(server)]
    t.after(() => Promise.all([one.app.close(1000), other.app.close(1000)]))
    server.clock.advance(1000)
    await Promise.all([one.app.settle(), other.app.settle()])
    await Promise.all([one.app.settle(), other.app.settle()])

    const { body } = await one.client.get(`/v23.0/${numbers.main}/groups`, { token: tokens.owner })
    const made = body.data.groups.filter(({ subject }: { subject: string }) => subject === 'Survivors')
    assert.equal(made.length, 1)
    const told = (await calls.events()).map(({ value }) => value.groups[0])
    assert.deepEqual(
      told.map(({ group_id, type }) => [group_id, type]),
      [[made[0].id, 'group_create']],
    )
  })

  describe('the list', () => {
    const server = useTestServer({ engine })
    const calls = groupCalls(server)
    const insert = (subject: string, created_time: number) =>
      server.database.transaction((tx) =>
        insertGroup(tx, systemRandom, mainNumber, {
          subject,
          description: '',
          join_approval_mode: 'auto_approve',
          created_time,
        }),
      )

    test('200, newest first, in pages of 25 unless asked otherwise, with the hour in Unix seconds', async () => {
      for (let index = 1; index <= 30; index++) await insert(`Group ${index}`, testStart + index * 1000)
      const first = await calls.list()
      assert.equal(first.status, 200)
      assert.equal(first.body.data.groups.length, 25)
      const [newest] = first.body.data.groups
      assert.deepEqual(Object.keys(newest), ['id', 'subject', 'created_at'])
      assert.deepEqual([newest.subject, newest.created_at], ['Group 30', String(testStart / 1000 + 30)])
      assert.equal(first.body.paging.previous, undefined)

      const next = new URL(first.body.paging.next)
      const second = await server.client.get(`${next.pathname}${next.search}`, { token: tokens.owner })
      assert.deepEqual(
        second.body.data.groups.map(({ subject }: { subject: string }) => subject),
        ['Group 5', 'Group 4', 'Group 3', 'Group 2', 'Group 1', 'Regulars'],
      )
      assert.equal(second.body.paging.next, undefined)
      const { before } = second.body.paging.cursors
      assert.deepEqual((await calls.list({ before })).body.data, first.body.data)
    })

    test('200 with a limit of 1 and of 1024; 400 with 0 and 1025', async () => {
      assert.equal((await calls.list({ limit: '1' })).body.data.groups.length, 1)
      assert.ok((await calls.list({ limit: '1024' })).body.data.groups.length > 25)
      for (const limit of ['0', '1025']) {
        assertError(await calls.list({ limit }), argumentWrong('limit', { expected: 'an integer from 1 to 1024' }))
      }
    })

    test('groups, the list: 400 with after and before together, and with a cursor of another list', async () => {
      const { after } = (await calls.list({ limit: '1' })).body.paging.cursors
      assertError(await calls.list({ after, before: after }), bothCursors())
      assertError(await calls.list({ after }, numbers.shared), cursorUnknown('after'))
    })

    test('an empty list for a number without groups', async () => {
      const { body } = await calls.list({}, numbers.shared)
      assert.deepEqual(body, { data: { groups: [] }, paging: { cursors: {} } })
    })
  })

  describe('reading and deleting', () => {
    const server = useTestServer({ engine })
    const calls = groupCalls(server)
    const apply = (world: object) =>
      applyWorld(server.database, server.clock, systemRandom, readWorld(JSON.stringify(world), 'w'))

    test('`fields` leaves what it names; 400 with an unknown one', async () => {
      const { body } = await calls.read(ids.group, { fields: 'subject,total_participant_count' })
      assert.deepEqual(body, { subject: 'Regulars', total_participant_count: 0 })
      assertError(
        await calls.read(ids.group, { fields: 'owner' }),
        fieldUnknown({
          field: '"owner"',
          available:
            'id, subject, description, join_approval_mode, creation_timestamp, participants, total_participant_count',
        }),
      )
    })

    test('groups, reading and deleting: 200 for deleting: reported, and nothing of it is left', async () => {
      const { id, link } = await calls.make({ join_approval_mode: 'approval_required' })
      await calls.join(link, '16505551111')
      const events = await calls.eventsOf(id, async () => {
        const answer = await calls.delete(id)
        assert.equal(answer.status, 200, answer.text)
        assert.equal(answer.body.success, true)
        assert.equal(answer.body.messaging_product, 'msgapp')
      })
      assert.equal(events.length, 1)
      assert.equal(events[0]?.field, 'group_lifecycle_update')
      const { request_id } = events[0]?.value.groups[0] ?? {}
      assert.deepEqual(events[0]?.value.groups, [
        { timestamp: String(server.clock.now() / 1000), group_id: id, type: 'group_delete', request_id },
      ])
      for (const answer of [
        await calls.read(id),
        await calls.delete(id),
        await calls.createLink(id),
        await calls.readLink(id),
        await calls.requests(id),
        await calls.remove(id, '16505551111'),
        await calls.join(link, '16505551112'),
      ]) {
        assert.equal(answer.status, 404, answer.text)
      }
      for (const table of ['group_invite_links', 'group_participants', 'group_join_requests'] as const) {
        const left = await server.database.read.query
          .selectFrom(table)
          .select('group_id')
          .where('group_id', '=', id)
          .execute()
        assert.deepEqual(left, [], table)
      }
    })

    test('groups, reading and deleting: 400 with another product, and the group stays', async () => {
      assertError(
        await calls.delete(ids.group, { messaging_product: 'other' }),
        argumentWrong('messaging_product', { expected: '"msgapp"' }),
      )
      assert.equal((await calls.read(ids.group)).status, 200)
    })

    test('of ten deletions of a group at the same moment one is done, and reported', async () => {
      const { id } = await calls.make()
      const events = await calls.eventsOf(id, async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => calls.delete(id)))
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(404)])
      })
      assert.equal(events.length, 1)
    })

    test('whatever happens to a group while it is deleted is done or answered 404', async () => {
      for (let round = 0; round < 5; round++) {
        const { id, link } = await calls.make()
        const answers = await Promise.all([
          calls.join(link, '16505551111'),
          calls.createLink(id),
          calls.delete(id),
          calls.deleteLink(id),
          calls.read(id),
          calls.join(link, '16505551112'),
          calls.remove(id, '16505551111'),
          calls.requests(id),
        ])
        for (const { status, text } of answers) assert.ok([200, 404].includes(status), text)
        assert.equal((await calls.read(id)).status, 404)
      }
    })

    test('a group of a world file is there, finished, without an invite link', async () => {
      const groups = [{ id: '6000000000000077', subject: ' From the file ' }]
      const phone_numbers = [{ id: numbers.main, display_phone_number: '+1 631-555-1001', groups }]
      const accounts = [{ id: ids.account, business_id: ids.business, name: 'Lucky Shrub Retail', phone_numbers }]
      await apply({ accounts })
      const { subject, description, join_approval_mode } = (await calls.read('6000000000000077')).body
      assert.deepEqual([subject, description, join_approval_mode], ['From the file', '', 'auto_approve'])
      assertError(await calls.readLink('6000000000000077'), noInviteLink())
      assert.ok(!(await calls.events()).some(({ value }) => value.groups[0].group_id === '6000000000000077'))
    })

    test('a group of the world file that was deleted comes back when the file is applied again', async () => {
      assert.equal((await calls.delete(ids.group)).status, 200)
      await apply(testWorld())
      assert.equal((await calls.read(ids.group)).body.subject, 'Regulars')
      assert.equal((await calls.readLink(ids.group)).status, 404)
      assert.equal((await calls.read(strangerIds.group)).status, 404)
    })
  })
})

describe('groups with VOCABULARY=whatsapp', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })

  test('groups with VOCABULARY=whatsapp answers and events name that product', async () => {
    const messaging_product = 'whatsapp'
    const json = { messaging_product, subject: 'Gardeners' }
    const asked = await server.client.post(`/v23.0/${numbers.main}/groups`, { token: tokens.owner, json })
    assert.equal(asked.body.messaging_product, messaging_product, asked.text)
    await groupCalls(server).pass()
    const [created] = await groupCalls(server).events()
    assert.equal(created?.value.messaging_product, messaging_product)
    const path = `/v23.0/${created?.value.groups[0].group_id}/invite_link`
    const deleted = await server.client.delete(path, { token: tokens.owner, json: { messaging_product } })
    assert.deepEqual(deleted.body, { messaging_product, success: 'true' })
  })
})

const mainNumber: Node = {
  id: numbers.main,
  kind: 'phone_number',
  business_id: ids.business,
  account_id: ids.account,
}
