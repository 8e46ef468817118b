import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { callSides } from '../../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../../test/harness/errors.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { subscribe } from '../../../../test/harness/subscriber.ts'
import { accounts, ids, numbers, strangerIds, tokens, users } from '../../../../test/harness/world.ts'
import { day, second } from '../../../base/time/duration.ts'
import { argumentWrong } from '../../../graph/errors.ts'
import { nodeKinds } from '../../../operations.ts'
import { forgetUser } from '../../users/forget.ts'

interface Found {
  readonly kind: string
  readonly id: string
  readonly title: string
  readonly time: string | null
  readonly account_id?: string
  readonly link: string
}

onOneDatabase('find', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { MESSAGE_BODY_KEEP: '2d', MESSAGE_KEEP: '30d' } })
  const sides = messageSides(server)
  const calls = callSides(server)

  const ask = (query: Record<string, string>, token: string = tokens.operator) =>
    server.client.callRow(server.client.row('operator.find'), '/operator/find', { token, query })
  const find = async (q: string, query: Record<string, string> = {}, token?: string): Promise<Found[]> => {
    const { status, body, text } = await ask({ q, ...query }, token)
    assert.equal(status, 200, text)
    return body.data
  }
  const namesOf = (found: readonly Found[]) => found.map(({ kind, id }) => `${kind} ${id}`)
  const findNames = async (q: string, query?: Record<string, string>, token?: string) =>
    namesOf(await find(q, query, token))
  /** What the worker does every few seconds. */
  const splitNames = () => server.app.sweep()

  describe('by an id', () => {
    test('a message, with its direction, user and text, and a link to its trace or else to its chat', async () => {
      const user = sides.newUser()
      const incoming = await sides.write(user, { text: { body: 'Where  is\nmy parcel?' } })
      const outgoing = await sides.send(user, { text: { body: 'x'.repeat(300) } })
      const time = new Date(server.clock.now()).toISOString()
      const [found, other] = [await find(incoming, { kind: 'message' }), await find(` ${outgoing} `)]
      const rest = { time, account_id: ids.account }
      assert.deepEqual(
        [...found, ...other].map(({ link, ...shown }) => shown),
        [
          { kind: 'message', id: incoming, title: 'From Ada: Where is my parcel?', ...rest },
          { kind: 'message', id: outgoing, title: `To Ada: ${'x'.repeat(99)}…`, ...rest },
        ],
      )
      for (const { link } of [...found, ...other]) {
        const { status, body } = await server.client.get(`/operator${link}`, { token: tokens.operator })
        assert.deepEqual([status, body.data.length > 0], [200, true], link)
      }
      await server.database.transaction(async ({ query }) => {
        await query.updateTable('events').set({ trace: null }).where('subject_id', '=', incoming).execute()
      })
      assert.equal((await find(incoming))[0]?.link, `/?phones=${user}&chat=${numbers.main}`)
      assert.deepEqual(await find(incoming, { kind: 'call' }), [])
    })

    test('a delivery, with its field and state', async (t) => {
      await subscribe(t, server)
      await sides.write(sides.newUser())
      await server.app.settle()
      const { data } = (await server.client.get('/operator/deliveries', { token: tokens.operator })).body
      const { id } = data[0]
      const [found] = await find(id, { kind: 'delivery' })
      assert.deepEqual(
        [found?.title, found?.link, found?.account_id],
        ['messages: delivered, 1 attempt', `/deliveries/${id}`, ids.account],
      )
    })

    test('a trace: of what is stored, and of a request that was refused', async () => {
      const changed = await server.client.post(`/v23.0/${ids.account}`, {
        token: tokens.owner,
        json: { name: 'Traced' },
      })
      const refused = await server.client.get(`/v23.0/${ids.account}?fields=nonsense`, { token: tokens.owner })
      assert.deepEqual([changed.status, refused.status], [200, 400])
      const traceOf = ({ headers }: typeof changed) => headers.get('x-svctrace-id') ?? ''
      for (const trace of [traceOf(changed), traceOf(refused)]) {
        const found = await find(trace)
        assert.deepEqual(
          found.map(({ kind, id, link }) => [kind, id, link]),
          [['trace', trace, `/traces/${trace}`]],
        )
      }
      assert.equal((await find(traceOf(changed)))[0]?.title, 'account.update')
      const { data } = (await server.client.get('/operator/requests', { token: tokens.operator })).body
      const request = data.find(({ trace }: { trace: string }) => trace === traceOf(refused))
      assert.deepEqual(await findNames(request.id, { kind: 'trace' }), [`trace ${traceOf(refused)}`])
    })

    test('a call, with its user and how it ended', async () => {
      const user = calls.newUser()
      const id = await calls.callBusiness(user)
      const [found] = await find(id)
      assert.deepEqual(
        [found?.kind, found?.title, found?.link],
        ['call', `Call from ${user}: initiated`, `/calls/${id}`],
      )
    })

    for (const kind of Object.keys(ids) as (keyof typeof ids)[]) {
      test(`a node: ${kind}`, async () => {
        const found = await find(ids[kind], { kind })
        assert.deepEqual(
          found.map(({ id, link }) => [id, link]),
          [[ids[kind], `/resources/${encodeURIComponent(ids[kind])}`]],
        )
        assert.notEqual(found[0]?.title, '')
      })
    }
  })

  describe('by a phone number as people write it', () => {
    test('a user', async () => {
      await sides.write(users.unasked)
      for (const q of ['16505551239', '+1 650 555 1239', '+1 (650) 555-1239']) {
        assert.deepEqual(await findNames(q), [`user ${users.unasked}`], q)
      }
    })

    test('a number of a business', async () => {
      const number = await server.database.read.query
        .selectFrom('phone_numbers')
        .select(['display_phone_number', 'verified_name'])
        .where('id', '=', numbers.main)
        .executeTakeFirstOrThrow()
      const [found] = await find(number.display_phone_number, { kind: 'phone_number' })
      assert.deepEqual([found?.id, found?.title], [numbers.main, number.verified_name])
    })
  })

  describe('by words', () => {
    test('messages that have all of them, whole, in any case and without accents, newest first', async () => {
      const user = sides.newUser()
      const first = await sides.write(user, { text: { body: 'Crème BRÛLÉE, please!' } })
      server.clock.advance(second)
      const second_ = await sides.send(user, { text: { body: 'Our creme brulee is sold out' } })
      const both = [`message ${second_}`, `message ${first}`]
      assert.deepEqual(await findNames('crème brûlée'), both)
      assert.deepEqual(await findNames('BRULEE creme'), both)
      assert.deepEqual(await findNames('creme please'), [`message ${first}`])
      assert.deepEqual(await findNames('brule'), [], 'a part of a word is none')
      assert.deepEqual(await findNames('creme tiramisu'), [])
      assert.deepEqual(await findNames('brulee', { kind: 'user' }), [])
      const time = new Date(server.clock.now()).toISOString()
      assert.deepEqual(await findNames('brulee', { since: time }), [`message ${second_}`])
      assert.deepEqual(await findNames('brulee', { until: time }), [`message ${first}`])
    })

    for (const [said, q] of [
      ['مرحبا بالعالم الجميل', 'الجميل'],
      ['Привет, чудесный мир', 'ЧУДЕСНЫЙ'],
      ['我们在北京 见面', '见面'],
      ['👋 zwölf Boxkämpfer', 'zwolf'],
    ]) {
      test(`messages of any script: ${q}`, async () => {
        const id = await sides.write(sides.newUser(), { text: { body: said } })
        assert.deepEqual(await findNames(q as string), [`message ${id}`])
      })
    }

    test('what is not plain text: captions, places, buttons, templates that were filled in', async () => {
      const user = sides.newUser()
      await sides.write(user)
      const place = { latitude: 1, longitude: 1, name: 'Under the periwinkle arch' }
      const sent = await sides.send(user, { type: 'location', location: place })
      const caption = await sides.send(user, { type: 'image', image: { id: ids.media, caption: 'periwinkle hats' } })
      assert.deepEqual(await findNames('periwinkle arch'), [`message ${sent}`])
      assert.deepEqual(await findNames('periwinkle hats'), [`message ${caption}`])
    })

    test('names of users and of every kind of node that has one, before and after the worker has seen them', async () => {
      const named = Object.entries(nodeKinds).filter(
        ([kind, { named }]) => named && !named.isCommon && kind !== 'account_number',
      )
      const rows = await server.database.read.query
        .selectFrom('searchable_names')
        .select(['kind', 'id', 'name'])
        .execute()
      for (const [kind] of named) {
        const own = rows.find((row) => row.kind === kind && row.id === ids[kind as keyof typeof ids])
        assert.ok(own, `the names of ${kind} are searched`)
        assert.ok((await findNames(own.name, { kind })).includes(`${kind} ${own.id}`), `${kind} ${own.name}`)
      }
      const user = sides.newUser()
      const [, made] = [await sides.gateway(`users/${user}`, { name: 'Grace Hopper' }), `user ${user}`]
      assert.deepEqual(await findNames('hopper'), [made])
      await splitNames()
      assert.deepEqual(await findNames('HOPPER grace'), [made])
      const [found] = await find('hopper')
      assert.deepEqual([found?.title, found?.link], [`Grace Hopper (${user})`, `/?phones=${user}`])
      await sides.gateway(`users/${user}`, { name: 'Grace Murray' })
      for (const _ of ['before', 'after']) {
        assert.deepEqual([await findNames('hopper'), await findNames('murray')], [[], [made]])
        await splitNames()
      }
    })

    test('messages and names together, page by page, there and back', async () => {
      const user = sides.newUser()
      const expected: string[] = []
      for (let index = 0; index < 7; index++) {
        server.clock.advance(second)
        if (index % 3 === 2) {
          const named = sides.newUser()
          await sides.gateway(`users/${named}`, { name: `Quartz ${index}` })
          await splitNames()
          expected.unshift(`user ${named}`)
        } else expected.unshift(`message ${await sides.write(user, { text: { body: `quartz number ${index}` } })}`)
      }
      let { body } = await ask({ q: 'quartz', limit: '2' })
      const there = namesOf(body.data)
      const follow = async (link: string) => {
        body = (await ask(Object.fromEntries(new URL(link).searchParams))).body
        return namesOf(body.data)
      }
      while (body.paging.next) there.push(...(await follow(body.paging.next)))
      assert.deepEqual(there, expected)
      const back = namesOf(body.data)
      while (body.paging.previous) back.unshift(...(await follow(body.paging.previous)))
      assert.deepEqual(back, expected)
    })

    test('messages that an earlier version stored are found when the worker has listed their words', async () => {
      const id = await sides.write(sides.newUser(), { text: { body: 'the obsidian kettle' } })
      await server.database.transaction(async ({ query }) => {
        await query.updateTable('message_contents').set({ words: null }).where('message_id', '=', id).execute()
      })
      assert.deepEqual(await findNames('obsidian'), [])
      await splitNames()
      assert.deepEqual(await findNames('obsidian'), [`message ${id}`])
    })

    if (engine === 'sqlite') {
      test('the index holds no word, and is filled anew when the keys are others', async () => {
        const id = await sides.write(sides.newUser(), { text: { body: 'a viridian tambourine' } })
        await splitNames()
        const { query } = server.database.read
        const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM message_words_docsize`
        const before = (await count.execute(query)).rows[0]?.count ?? 0
        const { rows: blocks } = await sql<{ block: Uint8Array }>`SELECT block FROM message_words_data`.execute(query)
        assert.ok(blocks.length > 0 && before > 0)
        assert.doesNotMatch(Buffer.concat(blocks.map(({ block }) => block)).toString('latin1'), /viridian|tambourine/)
        await server.database.transaction((tx) =>
          sql`UPDATE message_words_end SET key_check = 'of other keys'`.execute(tx.query),
        )
        await splitNames()
        assert.equal((await count.execute(query)).rows[0]?.count, before, 'nothing is in it twice')
        assert.deepEqual(await findNames('viridian'), [`message ${id}`])
      })
    }
  })

  describe('what was removed', () => {
    test('contents that are not kept any more are not found by their words, and the message still by its id', async () => {
      const id = await sides.write(sides.newUser(), { text: { body: 'a chartreuse umbrella' } })
      assert.deepEqual(await findNames('chartreuse'), [`message ${id}`])
      server.clock.advance(2 * day + second)
      await server.app.sweep()
      assert.deepEqual(await findNames('chartreuse'), [])
      const [found] = await find(id)
      assert.match(found?.title ?? '', /: text message, its content was removed$/)
    })

    test('a user who was forgotten is not found by name or words', async () => {
      const user = sides.newUser()
      const id = await sides.write(user, { text: { body: 'the vermilion gramophone' } })
      const after = await sides.write(sides.newUser(), { text: { body: 'a cerulean bassoon' } })
      await sides.gateway(`users/${user}`, { name: 'Ermintrude' })
      await splitNames()
      assert.deepEqual(await findNames('vermilion'), [`message ${id}`])
      const { database, clock } = server
      const store = { remove: () => assert.fail('it has no file') } as never
      await forgetUser({ database, clock, store, random: undefined as never }, user)
      assert.deepEqual([await findNames('vermilion'), await findNames('ermintrude')], [[], []])
      assert.deepEqual(await findNames(user), [`user ${user}`], 'by the number, which stays')
      // What is left stands at another place of the file then.
      assert.deepEqual(await findNames('cerulean'), [`message ${after}`])
    })

    test('a snapshot brings back what is found, and a reset takes it away', async () => {
      const post = async (path: string, json: object = {}) => {
        const { status, text } = await server.client.post(`/operator/${path}`, { token: tokens.operator, json })
        assert.equal(status, 200, text)
      }
      const user = sides.newUser()
      const id = await sides.write(user, { text: { body: 'an indigo accordion' } })
      await sides.gateway(`users/${user}`, { name: 'Fitzwilliam' })
      await splitNames()
      const expected = [[`message ${id}`], [`user ${user}`]]
      const seen = async () => [await findNames('indigo'), await findNames('fitzwilliam')]
      assert.deepEqual(await seen(), expected)
      await post('snapshots', { name: 'found' })
      await post('reset')
      assert.deepEqual(await seen(), [[], []])
      const left = await server.database.read.query
        .selectFrom('searchable_names')
        .select('id')
        .where('kind', '=', 'user')
        .execute()
      assert.ok(!left.some((row) => row.id === user))
      await post('snapshots/found/restore')
      assert.deepEqual(await seen(), expected)
      await splitNames()
      assert.deepEqual(await seen(), expected)
    })
  })

  test('an operator with limits finds what belongs to its own tenants alone', async () => {
    const user = sides.newUser()
    const id = await sides.write(user, { text: { body: 'the ultramarine stranger' } })
    await sides.gateway(`users/${user}`, { name: 'Ultramarine' })
    const limited = (q: string) => findNames(q, {}, tokens.limitedOperator)
    for (const _ of ['before', 'after']) {
      assert.deepEqual(await limited('ultramarine'), [])
      assert.deepEqual(
        (await limited('stranger')).filter((one) => !one.includes('9')),
        [],
      )
      assert.ok((await limited('stranger')).includes(`business ${strangerIds.business}`))
      await splitNames()
    }
    for (const q of [id, user, ids.account, numbers.main, ids.business, accounts.shared]) {
      assert.deepEqual(await limited(q), [], q)
    }
    const changed = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Mine' } })
    assert.deepEqual(await limited(changed.headers.get('x-svctrace-id') ?? ''), [])
    assert.deepEqual(await limited(strangerIds.phone_number), [`phone_number ${strangerIds.phone_number}`])
  })

  describe('whatever is searched for', () => {
    for (const q of ['?!…', '👍', '"', '*', ' ']) {
      test(`${JSON.stringify(q)}: 400 that says what would be right`, async () => {
        assertError(await ask({ q }), like(argumentWrong, { argument: 'q' }))
      })
    }

    for (const q of [
      ...[
        '"open',
        'a" OR "b',
        'a AND',
        'NEAR(a b)',
        'a*',
        '-a',
        'a:b',
        '(a',
        "it's",
        'a; DROP TABLE nodes',
        '%',
        '_a_',
      ],
      ...['a\u0000b', 'a👍b', '\\', '{"a":1}', '[]a', "'a", '$1', '?1', '1e999', '٣', 'ﷺ', 'é'.repeat(1000)],
      ...['9'.repeat(300), '00', '+0', Array.from({ length: 250 }, (_, index) => `w${index}`).join(' ')],
    ]) {
      test(`${JSON.stringify(q.slice(0, 40))} is never a failure`, async () => {
        const { status, text } = await ask({ q })
        assert.ok(status === 200 || status === 400, `${status} ${text}`)
      })
    }

    test('too much of it, an unknown kind and no time are 400', async () => {
      assertArgument(await ask({ q: 'x'.repeat(10_000) }), 'q')
      assertArgument(await ask({ q: 'x', kind: 'nonsense' }), 'kind')
      assertArgument(await ask({ q: 'x', since: 'nonsense' }), 'since')
      assertArgument(await ask({}), 'q')
      assertArgument(await ask({ q: '\u0000' }), 'q')
    })
  })
})
