import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { byForm } from '../../../../test/harness/form.ts'
import { isSomebodyWaiting } from '../../../../test/harness/lock-waits.ts'
import { fill, mp3, mp4, ogg, pdf, png, webp } from '../../../../test/harness/media-files.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { startSecondProcess } from '../../../../test/harness/second-process.ts'
import { sourcesOf, startTestServer, useTestServer } from '../../../../test/harness/server.ts'
import { listenForTest } from '../../../../test/harness/sink.ts'
import { body } from '../../../../test/harness/template-calls.ts'
import { until } from '../../../../test/harness/until.ts'
import { ids, numbers, testWorld, tokens } from '../../../../test/harness/world.ts'
import { minute, second } from '../../../base/time/duration.ts'

type Respond = (response: ServerResponse, request: IncomingMessage) => void

const send =
  (file: Buffer, status = 200): Respond =>
  (response) =>
    response.writeHead(status).end(file)
const redirect =
  (to: string, status = 302): Respond =>
  (response) =>
    response.writeHead(status, { location: to }).end('elsewhere')

/** A host of files: what it answers by path, and what it was asked for. */
async function startHost(t: TestContext, paths: Record<string, Respond>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    asked.push(pathname)
    const respond = paths[pathname] ?? send(Buffer.from('nothing here'), 404)
    respond(response, request)
  })
  const { port } = await listenForTest(t, server)
  return { url: `http://127.0.0.1:${port}`, port, asked }
}

/** The world of the tests with templates whose headers are files, which need an example elsewhere. */
function worldWithHeaders() {
  const world = testWorld()
  const [account, ...others] = world.accounts as unknown as { templates: object[] }[]
  const templates = ['IMAGE', 'DOCUMENT'].map((format, index) => ({
    ...{ id: `510000000000020${index}`, name: `with_${format.toLowerCase()}`, language: 'en_US', category: 'UTILITY' },
    components: [{ type: 'HEADER', format }, body],
  }))
  return { ...world, accounts: [{ ...account, templates: [...(account?.templates ?? []), ...templates] }, ...others] }
}

const env = {
  MAX_IMAGE_BYTES: '2000',
  MAX_STICKER_BYTES: '1000',
  MAX_ANIMATED_STICKER_BYTES: '1500',
}

onOneDatabase('media by link', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env, world: worldWithHeaders() })
  const sides = messageSides(server)

  /** Sends to a user with an open window, and returns the message once everything has happened. */
  async function sendTo(user: string, message: object) {
    await sides.write(user)
    const id = await sides.send(user, message)
    await server.app.settle()
    return id
  }
  const sendNew = (message: object) => sendTo(sides.newUser(), message)
  const image = (link: string) => ({ type: 'image', image: { link } })

  test('media by link: 200 first; then it is fetched, becomes a media file of the number, and is sent', async (t) => {
    const host = await startHost(t, { '/a.png': send(png) })
    const user = sides.newUser()
    await sides.write(user)
    await sides.gateway(`users/${user}`, { presence: 'offline' })
    const link = `${host.url}/a.png`
    const id = await sides.send(user, { type: 'image', image: { link, caption: 'Tulips' } })
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'sent')
    const shown = await sides.show(id)
    assert.equal(shown.state, 'sent')
    const { mime_type, file_size, caption, sha256 } = shown.image
    assert.deepEqual([mime_type, file_size, caption, shown.image.link], ['image/png', png.length, 'Tulips', link])
    const media = await server.database.read.query
      .selectFrom('media')
      .selectAll()
      .where('sha256', '=', sha256)
      .executeTakeFirstOrThrow()
    assert.equal(media.phone_number_id, numbers.main)
    const read = await server.client.get(`/v23.0/${media.id}`, { token: tokens.owner })
    assert.deepEqual([read.status, read.body.sha256], [200, sha256])
    await sides.gateway(`users/${user}`, { presence: 'online' })
    assert.equal(await sides.namesOf(id), 'sent, delivered')
    const [sent] = await sides.statusesOf(id)
    assert.deepEqual([sent.pricing.category, typeof sent.conversation.id], ['service', 'string'])
  })

  test('a link is used again for ten minutes by the same number, unless its media file was deleted', async (t) => {
    const host = await startHost(t, { '/b.png': send(png), '/c.png': send(png) })
    const link = `${host.url}/b.png`
    for (let count = 0; count < 2; count += 1)
      assert.equal(await sides.namesOf(await sendNew(image(link))), 'sent, delivered')
    assert.equal(host.asked.length, 1)
    // Another kind takes no such file, and that is known at once.
    assert.equal(await sides.namesOf(await sendNew({ type: 'document', document: { link } })), 'failed 131053')
    assert.equal(host.asked.length, 1)
    server.clock.advance(10 * minute - 1)
    await sendNew(image(link))
    assert.equal(host.asked.length, 1)
    server.clock.advance(1)
    await sendNew(image(link))
    assert.equal(host.asked.length, 2)
    const key = await server.database.read.query
      .selectFrom('fetched_links')
      .select('media_id')
      .orderBy('fetched_time', 'desc')
      .executeTakeFirstOrThrow()
    const gone = await server.client.call('DELETE', `/v23.0/${key.media_id}`, { token: tokens.owner })
    assert.equal(gone.status, 200)
    await sendNew(image(link))
    assert.equal(host.asked.length, 3)
  })

  test('messages that are sent at once share one fetch', async (t) => {
    const host = await startHost(t, { '/many.png': send(png) })
    const users = Array.from({ length: 60 }, () => sides.newUser())
    for (const user of users) await sides.write(user)
    const sent = await Promise.all(users.map((user) => sides.send(user, image(`${host.url}/many.png`))))
    await server.app.settle()
    for (const id of sent) assert.equal(await sides.namesOf(id), 'sent, delivered')
    assert.ok(host.asked.length <= 2, `${host.asked.length} fetches`)
  })

  test('the file decides its type; each kind takes its own', async (t) => {
    const host = await startHost(t, {
      '/a.bin': send(png),
      '/voice': send(ogg('OpusHead')),
      '/vorbis': send(ogg('\x01vorbis')),
      '/song': send(mp3),
      '/film': send(mp4('isom', ['vide'])),
      '/orders/may%20list.pdf': send(pdf),
      '/': send(pdf),
      '/sticker': send(webp({ animated: true })),
      '/page': send(Buffer.from('<html><body>No</body></html>')),
    })
    const at = (path: string) => `${host.url}${path}`
    const cases: [message: object, names: string][] = [
      [image(at('/a.bin')), 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/voice'), voice: true } }, 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/voice') } }, 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/voice'), voice: true } }, 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/vorbis') } }, 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/vorbis'), voice: true } }, 'failed 131053'],
      [{ type: 'audio', audio: { link: at('/song') } }, 'sent, delivered'],
      [{ type: 'audio', audio: { link: at('/song?voice'), voice: true } }, 'failed 131053'],
      [{ type: 'video', video: { link: at('/film') } }, 'sent, delivered'],
      [{ type: 'sticker', sticker: { link: at('/sticker') } }, 'sent, delivered'],
      [image(at('/film?image')), 'failed 131053'],
      [image(at('/page')), 'failed 131053'],
      [{ type: 'document', document: { link: at('/page?document') } }, 'failed 131053'],
    ]
    for (const [message, names] of cases)
      assert.equal(await sides.namesOf(await sendNew(message)), names, JSON.stringify(message))
    const nameOf = async (document: object) =>
      (await sides.show(await sendNew({ type: 'document', document }))).document.filename
    assert.equal(await nameOf({ link: at('/orders/may%20list.pdf') }), 'may list.pdf')
    assert.equal(await nameOf({ link: at('/orders/may%20list.pdf') }), 'may list.pdf')
    assert.equal(await nameOf({ link: at('/') }), 'document.pdf')
    assert.equal(await nameOf({ link: at('/?x'), filename: 'own.pdf' }), 'own.pdf')
  })

  test('a file of the largest size is taken, and one byte more is not, whatever its host announces', async (t) => {
    const chunked =
      (file: Buffer): Respond =>
      (response) => {
        response.write(file.subarray(0, 100))
        response.end(file.subarray(100))
      }
    const host = await startHost(t, {
      '/2000': send(fill(png, 2000)),
      '/2001': send(fill(png, 2001)),
      '/2001-chunked': chunked(fill(png, 2001)),
      '/empty': send(Buffer.alloc(0)),
    })
    assert.equal(await sides.namesOf(await sendNew(image(`${host.url}/2000`))), 'sent, delivered')
    for (const path of ['/2001', '/2001-chunked', '/empty']) {
      assert.equal(await sides.namesOf(await sendNew(image(`${host.url}${path}`))), 'failed 131053', path)
    }
  })

  test('three redirects are followed, four are not, nor those that lead to nowhere', async (t) => {
    const host = await startHost(t, {
      '/4': redirect('/3'),
      '/3': redirect('/2', 301),
      '/2': redirect('1?x=1#part', 307),
      '/1': redirect('/file', 308),
      '/file': send(png),
      '/nowhere': (response) => response.writeHead(302).end(),
      '/mail': redirect('mailto:ada@shrub.example'),
    })
    assert.equal(await sides.namesOf(await sendNew(image(`${host.url}/3`))), 'sent, delivered')
    for (const path of ['/4', '/nowhere', '/mail']) {
      assert.equal(await sides.namesOf(await sendNew(image(`${host.url}${path}`))), 'failed 131053', path)
    }
  })

  test('a link is tried twice after 5xx and a reset, and once after anything else', async (t) => {
    const flaky = (first: Respond): Respond => {
      let count = 0
      return (response, request) => (count++ === 0 ? first(response, request) : send(png)(response, request))
    }
    const reset: Respond = (response) => response.destroy()
    const halfway: Respond = (response) => {
      response.writeHead(200, { 'content-length': png.length })
      response.write(png.subarray(0, 30), () => response.destroy())
    }
    const host = await startHost(t, {
      '/503-once': flaky(send(png, 503)),
      '/reset-once': flaky(reset),
      '/halfway-once': flaky(halfway),
      '/503': send(png, 503),
      '/404-once': flaky(send(png, 404)),
    })
    for (const path of ['/503-once', '/reset-once', '/halfway-once']) {
      assert.equal(await sides.namesOf(await sendNew(image(`${host.url}${path}`))), 'sent, delivered', path)
    }
    for (const [path, times] of [
      ['/503', 2],
      ['/404-once', 1],
    ] as const) {
      assert.equal(await sides.namesOf(await sendNew(image(`${host.url}${path}`))), 'failed 131053', path)
      assert.equal(host.asked.filter((asked) => asked === path).length, times, path)
    }
    assert.equal(await sides.namesOf(await sendNew(image('http://127.0.0.1:9/a.png'))), 'failed 131053')
  })

  test('a slow host holds up no other, and what fails before is not fetched', async (t) => {
    // More than are fetched from one host at once.
    const count = byForm(12, 50)
    const held: ServerResponse[] = []
    const slow = await startHost(
      t,
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`/${index}`, (response) => void held.push(response)]),
      ),
    )
    const quick = await startHost(t, { '/quick.png': send(png) })
    const user = sides.newUser()
    assert.equal(await sides.namesOf(await sides.send(user, image(`${quick.url}/early.png`))), 'failed 131047')
    await sides.write(user)
    for (let index = 0; index < count; index += 1) await sides.send(user, image(`${slow.url}/${index}`))
    await until(() => held.length > 0, 'the slow host is asked')
    const id = await sides.send(user, image(`${quick.url}/quick.png`))
    await until(async () => (await sides.namesOf(id)) === 'sent, delivered', 'the quick one is delivered')
    const open = held.filter(({ destroyed }) => !destroyed)
    assert.ok(open.length <= 6, `${open.length} requests at once`)
    assert.deepEqual(quick.asked, ['/quick.png'])
    // Let them go: each finishes, and makes room for others.
    const timer = setInterval(() => {
      for (const response of held.splice(0)) response.end(png)
    }, 5)
    await server.app.settle()
    clearInterval(timer)
    const waiting = await server.database.read.query.selectFrom('link_fetches').select('message_id').execute()
    assert.deepEqual(waiting, [])
    assert.equal(new Set(slow.asked).size, count)
  })

  test('media by link in headers of interactive messages and templates', async (t) => {
    const host = await startHost(t, { '/a.png': send(png), '/a.pdf': send(pdf), '/b.png': send(png) })
    const header = { type: 'image', image: { link: `${host.url}/a.png` } }
    const action = { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] }
    const interactive = { type: 'button', header, body: { text: 'Do you like it?' }, action }
    const id = await sendNew({ type: 'interactive', interactive })
    const shown = (await sides.show(id)).interactive.header
    assert.deepEqual([shown.type, shown.image.mime_type, shown.image.link], ['image', 'image/png', header.image.link])
    assert.equal((await sides.act(id, 'press', { choice: 'yes' })).status, 200)
    const template = (name: string, parameter: object) => ({
      type: 'template',
      template: { name, language: { code: 'en_US' }, components: [{ type: 'header', parameters: [parameter] }] },
    })
    const user = sides.newUser()
    const picture = await sides.send(user, template('with_image', header))
    await server.app.settle()
    assert.equal(await sides.namesOf(picture), 'sent, delivered')
    assert.equal((await sides.show(picture)).rendered.header.image.mime_type, 'image/png')
    const document = (link: string) => ({ type: 'document', document: { link: `${host.url}${link}` } })
    const paper = await sides.send(user, template('with_document', document('/a.pdf')))
    const wrong = await sides.send(user, template('with_document', document('/b.png')))
    await server.app.settle()
    assert.deepEqual([await sides.namesOf(paper), await sides.namesOf(wrong)], ['sent, delivered', 'failed 131053'])
  })

  test('media by link to a group: sent for the group, then each participant; or failed once', async (t) => {
    const host = await startHost(t, { '/a.png': send(png) })
    const { invite_link } = (await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })).body
    const [one, other] = [sides.newUser(), sides.newUser()]
    for (const user_wa_id of [one, other]) await sides.gateway('groups/join', { invite_link, user_wa_id })
    await sides.gateway('messages', { group_id: ids.group, from: one, type: 'text', text: { body: 'Hi' } })
    const group = { recipient_type: 'group', to: ids.group, type: 'image' }
    const [good, bad] = [
      await sides.post({ ...group, image: { link: `${host.url}/a.png` } }),
      await sides.post({ ...group, image: { link: `${host.url}/none.png` } }),
    ].map(({ body: answer }) => answer.messages[0].id)
    await server.app.settle()
    assert.equal(await sides.namesOf(good), 'sent, delivered, delivered')
    assert.equal(await sides.namesOf(bad), 'failed 131053')
    const statuses = await sides.statusesOf(good)
    assert.deepEqual(
      statuses.map(({ recipient_participant_id }) => recipient_participant_id),
      [undefined, one, other],
    )
  })

  test('a user who is not sent to after all does not count for the tier; the gateway may fail what waits', async (t) => {
    const held: ServerResponse[] = []
    const host = await startHost(t, { '/wait.png': (response) => void held.push(response) })
    const user = sides.newUser()
    const header = { type: 'header', parameters: [{ type: 'image', image: { link: `${host.url}/none.png` } }] }
    const template = { name: 'with_image', language: { code: 'en_US' }, components: [header] }
    const id = await sides.send(user, { type: 'template', template })
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'failed 131053')
    const chat = await server.database.read.query
      .selectFrom('chats')
      .select('template_time')
      .where('id', '=', `${numbers.main}/${user}`)
      .executeTakeFirstOrThrow()
    assert.equal(chat.template_time, null)
    await sides.write(user)
    const waiting = await sides.send(user, image(`${host.url}/wait.png`))
    await until(() => held.length === 1, 'the host is asked')
    assert.equal((await sides.show(waiting)).state, 'accepted')
    assert.equal((await sides.act(waiting, 'deliver')).status, 200)
    assert.equal((await sides.act(waiting, 'fail', { code: 131026 })).status, 200)
    for (const response of held) response.end(png)
    await server.app.settle()
    assert.equal(await sides.namesOf(waiting), 'failed 131026')
  })

  test('two processes fetch each link once, and send each message once', async (t) => {
    const paths = Array.from({ length: 30 }, (_, index) => `/shared-${index}.png`)
    const host = await startHost(t, Object.fromEntries(paths.map((path) => [path, send(png)])))
    const other = await startSecondProcess(server, env)
    t.after(() => other.app.close(1000))
    const users = paths.map(() => sides.newUser())
    for (const user of users) await sides.write(user)
    const sent = await Promise.all(users.map((user, index) => sides.send(user, image(`${host.url}${paths[index]}`))))
    await Promise.all([server.app.settle(), other.app.settle()])
    await until(async () => {
      const waiting = await server.database.read.query.selectFrom('link_fetches').select('message_id').execute()
      return waiting.length === 0
    }, 'no link is waited for')
    for (const id of sent) assert.equal(await sides.namesOf(id), 'sent, delivered')
    assert.deepEqual(host.asked.toSorted(), paths.toSorted())
  })

  // On SQLite nothing is written beside a transaction.
  if (engine === 'postgres') {
    test('a message is sent though its lease is being renewed when its file arrives', async (t) => {
      const held: ServerResponse[] = []
      const host = await startHost(t, { '/renewed.png': (response) => void held.push(response) })
      const user = sides.newUser()
      await sides.write(user)
      const id = await sides.send(user, image(`${host.url}/renewed.png`))
      await until(() => held.length === 1, 'the host is asked')
      await server.database.transaction(async ({ query }) => {
        await query.selectFrom('link_fetches').select('claim').where('message_id', '=', id).forUpdate().execute()
        held[0]?.end(png)
        await until(() => isSomebodyWaiting(server.database), 'the worker waits for the message')
      })
      await server.app.settle()
      assert.equal(await sides.namesOf(id), 'sent, delivered')
    })
  }

  test('a link that waits is fetched after the service was stopped, and its message sent once', async (t) => {
    const held: ServerResponse[] = []
    const host = await startHost(t, { '/late.png': (response) => void held.push(response) })
    const first = await startTestServer({ engine, env })
    t.after(() => first.stop())
    const phone = messageSides(first)
    const user = phone.newUser()
    await phone.write(user)
    const id = await phone.send(user, image(`${host.url}/late.png`))
    await until(() => held.length === 1, 'the host is asked')
    await first.app.close(100)
    const rows = await first.database.read.query.selectFrom('link_fetches').selectAll().execute()
    assert.deepEqual(
      rows.map(({ message_id, leased_until }) => ({ message_id, leased_until })),
      [{ message_id: id, leased_until: 0 }],
    )
    const second = await startSecondProcess(first, env)
    await until(() => held.length === 2, 'the host is asked again')
    held[1]?.end(png)
    await second.app.settle()
    assert.equal(await phone.namesOf(id), 'sent, delivered')
    await second.app.close(100)
  })

  test('a link that was begun five times is not fetched once more, whatever became of it: its message fails', async (t) => {
    const held: ServerResponse[] = []
    const host = await startHost(t, { '/deadly.png': (response) => void held.push(response) })
    const first = await startTestServer({ engine, env })
    t.after(() => first.stop())
    const phone = messageSides(first)
    const user = phone.newUser()
    await phone.write(user)
    const id = await phone.send(user, image(`${host.url}/deadly.png`))
    await until(() => held.length === 1, 'the host is asked')
    await first.app.close(100)
    const stopped = await first.database.read.query.selectFrom('link_fetches').select('tries').executeTakeFirst()
    assert.equal(stopped?.tries, 0, 'a stop is nobody’s fault')
    // As five processes leave it that were killed while they fetched it.
    await first.database.transaction((tx) => tx.query.updateTable('link_fetches').set({ tries: 5 }).execute())
    const second = await startSecondProcess(first, env)
    await second.app.settle()
    assert.equal(await phone.namesOf(id), 'failed 131053')
    assert.equal(held.length, 1)
    await second.app.close(100)
  })
})

test('a link is tried again after a time-out', async (t) => {
  const server = await startTestServer({ engine: 'sqlite', env: { ...env, LINK_FETCH_TIMEOUT: '3s' } })
  t.after(() => server.stop())
  let count = 0
  const host = await startHost(t, {
    '/hang-once': (response, request) => (count++ === 0 ? undefined : send(png)(response, request)),
  })
  const sides = messageSides(server)
  const user = sides.newUser()
  await sides.write(user)
  const id = await sides.send(user, { type: 'image', image: { link: `${host.url}/hang-once` } })
  await server.app.settle()
  assert.equal(await sides.namesOf(id), 'sent, delivered')
  assert.equal(host.asked.length, 2)
})

test('where internal addresses are not allowed the guard refuses loopback and internal names', async (t) => {
  const host = await startHost(t, { '/a.png': send(png) })
  const server = await startTestServer({ engine: 'sqlite', env: { ALLOW_INTERNAL_CALLBACKS: 'false' } })
  t.after(() => server.stop())
  const sides = messageSides(server)
  const user = sides.newUser()
  await sides.write(user)
  for (const link of [`${host.url}/a.png`, `http://localhost:${host.port}/a.png`, `http://[::1]:${host.port}/a.png`]) {
    const id = await sides.send(user, { type: 'image', image: { link } })
    await server.app.settle()
    assert.equal(await sides.namesOf(id), 'failed 131053', link)
  }
  assert.deepEqual(host.asked, [])
})

test('a host is asked for a file once while it responds, although the clocks of two processes are further apart than a lease is long', async (t) => {
  const held: ServerResponse[] = []
  const host = await startHost(t, {
    '/slow.png': (response, request) => (held.push(response) === 1 ? undefined : send(png)(response, request)),
  })
  const server = await startTestServer({ engine: 'postgres', env })
  t.after(() => server.stop())
  const sides = messageSides(server)
  const user = sides.newUser()
  await sides.write(user)
  const id = await sides.send(user, { type: 'image', image: { link: `${host.url}/slow.png` } })
  await until(() => held.length === 1, 'the host is asked')
  const clock = { now: () => server.clock.now() + 15 * second }
  const next = await startSecondProcess(server, env, { clock, timeSources: sourcesOf(server.clock) })
  await next.app.settle()
  await next.app.close(0)
  assert.equal(held.length, 1)
  held[0]?.end(png)
  await server.app.settle()
  assert.equal(await sides.namesOf(id), 'sent, delivered')
})
