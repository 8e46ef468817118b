import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Database } from '../src/db/database.ts'
import { rememberingTables } from '../src/resources/users/forget.ts'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, openPlace, type StorePlace, unlockPlace } from './harness/databases.ts'
import { type KeptFiles, makeKeptFiles, storageOf } from './harness/kept-files.ts'
import { pdf } from './harness/media-files.ts'
import { findSecrets, readStolenBytes, readTableFiles } from './harness/secret-search.ts'
import { startSubscriber } from './harness/subscriber.ts'
import { until } from './harness/until.ts'

const number = '4000000000000001'
const app = '3000000000000001'
const user = '16505557001'
const other = '16505557002'

/** Texts that occur nowhere else. */
const erased = {
  name: 'Zerlina Quibblewick',
  text: 'the amber zeppelin leaves at nine',
  filename: 'quokka-census.pdf',
  reply: 'your marzipan lighthouse is ready',
  long: 'a very long letter to the teapot admiral',
  button: 'Choose narwhal',
  opaque: 'order-of-the-plum-walrus',
  bytes: 'the pages of the quokka census',
  joined: 'Zerlina of the group',
  caller: 'Zerlina on the phone',
  // What the message and the user were found by.
  word: 'zeppelin',
  wordOfName: 'quibblewick',
} as const
const kept = { name: 'Mordecai Plimsoll', text: 'a card for the velvet ostrich' } as const

onOneDatabase('forget', 'sqlite', (engine) => {
  let place: StorePlace
  let files: KeptFiles
  let options: { env: Record<string, string>; cwd: string }
  let server: RunningServer
  let database: Database
  before(async () => {
    place = await makeMigratedPlace(engine)
    files = await makeKeptFiles(place.dataDir, storageOf(engine))
    const store = { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) }
    options = { env: { ...files.settings, ...store }, cwd: place.dataDir }
    server = await startCommand(['serve', '--port', '0'], options)
    database = await openPlace(place)
    await unlockPlace(place, database)
  })
  after(async () => {
    await database.close()
    await server.stop('SIGTERM')
    await files.stop()
    await place.remove()
  })

  async function call(path: string, token: string, body?: object | FormData, status = 200) {
    const isForm = body instanceof FormData
    const response = await fetch(`${server.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, status, text)
    return JSON.parse(text)
  }
  const gateway = (path: string, body?: object | FormData, status?: number) =>
    call(`/gateway/${path}`, 'demo-gateway-token', body, status)
  const send = async (to: string, body: object): Promise<string> => {
    const message = { messaging_product: 'msgapp', to, ...body }
    return (await call(`/v23.0/${number}/messages`, 'demo-token', message)).messages[0].id
  }
  const write = async (from: string, name: string, body: object): Promise<string> =>
    (await gateway('messages', { phone_number_id: number, from, name, ...body })).message_id
  const findIn = (bytes: Buffer, texts: Readonly<Record<string, string>>) =>
    Object.entries(texts)
      .filter(([, text]) => bytes.includes(text))
      .map(([name]) => name)

  async function readFiles(): Promise<Buffer> {
    const names = (await files.list()).filter((name) => !name.startsWith('incoming/'))
    return Buffer.concat(await Promise.all(names.map((name) => files.read(name.replace('/', '')))))
  }

  async function readEverything(): Promise<Buffer> {
    const bytes = [await readStolenBytes(place, database), await readFiles()]
    if (engine === 'postgres') bytes.push(await readTableFiles(database, rememberingTables))
    return Buffer.concat(bytes)
  }

  test('forget erases contents, name and settings from the rows, the free space of the database and the files; the rest stays', async (t) => {
    const subscriber = await startSubscriber(t)
    subscriber.answerWith((post, response) => {
      const isAboutUser = post.body.includes(user)
      response.writeHead(isAboutUser ? 500 : 200).end(post.body)
    })
    await call(`/v23.0/${app}/subscriptions`, 'demo-token', {
      object: 'msgapp_business_account',
      callback_url: subscriber.url,
      verify_token: 'vt',
      fields: ['messages', 'calls'],
    })
    const form = new FormData()
    form.set('phone_number_id', number)
    form.set('file', new Blob([Buffer.concat([pdf, Buffer.from(`\n%${erased.bytes}\n`)])], { type: 'application/pdf' }))
    const { id: media } = await gateway('media', form)
    const written = await write(user, erased.name, { type: 'text', text: { body: erased.text } })
    const document = await write(user, erased.name, {
      type: 'document',
      document: { id: media, filename: erased.filename },
    })
    const sent = await send(user, { text: { body: erased.reply }, biz_opaque_callback_data: erased.opaque })
    // PostgreSQL stores what is so long aside; nothing of it can be compressed.
    const letter = await send(user, { text: { body: `${erased.long} ${randomBytes(2900).toString('base64')}` } })
    const buttons = [{ type: 'reply', reply: { id: 'one', title: erased.button } }]
    const interactive = { type: 'button', body: { text: 'Which one?' }, action: { buttons } }
    const asked = await send(user, { type: 'interactive', interactive })
    await gateway(`users/${user}`, { auto_read: true, presence: 'offline' })
    await gateway(`users/${user}/chats/${number}`, { blocked: true, marketing: 'stop' })
    const othersCard = [{ name: { formatted_name: 'Z', first_name: 'Z' }, phones: [{ phone: user, wa_id: user }] }]
    const card = await write(other, kept.name, { type: 'contacts', contacts: othersCard })
    const othersText = await write(other, kept.name, { type: 'text', text: { body: kept.text } })
    await until(() => subscriber.posts.some(({ body }) => body.includes(user)), 'a post about the user')
    await until(async () => {
      const tries = await database.read.query.selectFrom('delivery_attempts').select('answer').execute()
      return tries.some(({ answer }) => answer?.includes(erased.text))
    }, 'an answer that holds the text')
    // A post of several deliveries, of which one is about somebody else: its answer stands with each of them.
    await database.transaction(async ({ query }) => {
      const find = (wa_id: string, order: 'asc' | 'desc') =>
        query
          .selectFrom('deliveries')
          .innerJoin('events', 'events.id', 'deliveries.event_id')
          .select('deliveries.id')
          .where('events.value', 'like', `%"${wa_id}"%`)
          .orderBy('deliveries.id', order)
          .executeTakeFirstOrThrow()
      const [about, beside] = [(await find(user, 'asc')).id, (await find(other, 'desc')).id]
      const shared = { number: 99, time: 1, duration: 1, status: 200, problem: null, sent_to: null, sent_headers: null }
      const answered = { answer: erased.text, answer_headers: JSON.stringify({ 'x-said': erased.text }) }
      const post = { ...shared, ...answered, sent_with: `${about},${beside}` }
      const tries = [about, beside].map((delivery_id) => ({ ...post, delivery_id }))
      await query.insertInto('delivery_attempts').values(tries).execute()
    })
    const { joined, caller, wordOfName, ...inMessages } = erased
    assert.deepEqual(findIn(await readEverything(), inMessages), Object.keys(inMessages), 'all of it is there before')

    const done = await runCommand(['forget', `+${user}`], options)
    assert.deepEqual([done.code, done.stderr], [0, ''])
    assert.match(done.stdout, /contents of 5 messages with 1 files/)

    const bytes = await readEverything()
    assert.deepEqual(findIn(bytes, erased), [])
    assert.deepEqual(findSecrets(bytes, [{ name: 'text', text: erased.text }]), [])
    assert.deepEqual(findIn(bytes, kept), ['name', 'text'], 'of another user nothing is gone')

    for (const id of [written, document, sent, letter, asked]) {
      const shown = await gateway(`messages/${id}`)
      assert.equal(shown.content_removed, true)
      assert.ok(shown.states.length > 0)
    }
    assert.ok((await gateway(`messages/${card}`)).contacts)
    assert.equal((await gateway(`messages/${othersText}`)).text.body, kept.text)
    assert.deepEqual(await gateway(`users/${user}`), {
      wa_id: user,
      presence: 'online',
      auto_read: false,
      read_receipts: true,
      reachable: true,
    })
    const [chat] = (await gateway(`users/${user}/chats`)).data
    assert.deepEqual([chat.blocked, chat.marketing, typeof chat.window_expires_at], [true, 'stop', 'string'])
    await call(`/v23.0/${media}`, 'demo-token', undefined, 404)
    const waiting = await database.read.query
      .selectFrom('deliveries')
      .innerJoin('events', 'events.id', 'deliveries.event_id')
      .select('deliveries.id')
      .where('deliveries.state', '=', 'waiting')
      .where('events.value', '=', '')
      .execute()
    assert.deepEqual(waiting, [], 'nothing empty is to be sent')

    await t.test('what was erased of the log can be neither shown nor sent again', async () => {
      const { id } = await database.read.query
        .selectFrom('deliveries')
        .innerJoin('events', 'events.id', 'deliveries.event_id')
        .select('deliveries.id')
        .where('events.value', '=', '')
        .limit(1)
        .executeTakeFirstOrThrow()
      const replayed = await runCommand(['deliveries', 'replay', String(id)], options)
      assert.deepEqual([replayed.code, replayed.stdout], [1, ''])
      assert.match(replayed.stderr, /is not sent again: its content was removed/)
      const shown = await runCommand(['deliveries', 'show', String(id)], options)
      assert.match(shown.stdout, /withdrawn: its content was removed[\s\S]*What it sent is not kept/)
      const json = await runCommand(['deliveries', 'show', String(id), '--json'], options)
      assert.equal(JSON.parse(json.stdout).request, null)
    })

    await t.test('the user can write again, and the server goes on', async () => {
      await gateway(`users/${user}/chats/${number}`, { blocked: false })
      const id = await write(user, 'A new name', { type: 'text', text: { body: 'Hello' } })
      assert.equal((await gateway(`messages/${id}`)).text.body, 'Hello')
    })
  })

  test('forget removes names in groups and of calls too', async () => {
    const at = {
      created_time: 1,
      state: 'ended',
      direction: 'USER_INITIATED',
      business_session: null,
      user_session: null,
    } as const
    await database.transaction(async ({ query }) => {
      const group = await query.selectFrom('groups').select('id').executeTakeFirstOrThrow()
      await query
        .insertInto('group_participants')
        .values({ group_id: group.id, user_wa_id: user, name: erased.joined, joined_time: 1 })
        .execute()
      await query
        .insertInto('calls')
        .values({ id: 'c', phone_number_id: number, user_wa_id: user, user_name: erased.caller, ...at })
        .execute()
    })
    const { joined, caller } = erased
    assert.deepEqual(findIn(await readStolenBytes(place, database), { joined, caller }), ['joined', 'caller'])
    assert.equal((await runCommand(['forget', user], options)).code, 0)
    assert.deepEqual(findIn(await readEverything(), { joined, caller }), [])
  })

  test('what is no number is refused', async () => {
    const { code, stderr } = await runCommand(['forget', 'Ada'], options)
    assert.equal(code, 1)
    assert.match(stderr, /"Ada" is not a user: give the phone number, digits only/)
  })
})
