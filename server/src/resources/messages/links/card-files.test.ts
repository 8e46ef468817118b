import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { jpeg, mp4, pdf, png } from '../../../../test/harness/media-files.ts'
import { carousel, publicSides, shopButton } from '../../../../test/harness/public-messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { listenForTest } from '../../../../test/harness/sink.ts'
import { until } from '../../../../test/harness/until.ts'
import { tokens } from '../../../../test/harness/world.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { silentLog } from '../../../base/log/log.ts'
import { day } from '../../../base/time/duration.ts'
import type { FileStore } from '../../../files/file-store.ts'
import { forgetUser } from '../../users/forget.ts'
import { MessageRetention } from '../retention/message-retention.ts'

const film = mp4('isom', ['vide'])

onOneDatabase('the files of cards', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const sides = publicSides(server)

  /** A host of files by path, and what it was asked for. */
  async function startHost(t: TestContext, files: Readonly<Record<string, Buffer>>) {
    const asked: string[] = []
    const host = createServer((request, response) => {
      const { url = '' } = request
      asked.push(url)
      response.writeHead(url in files ? 200 : 404).end(files[url])
    })
    const { port } = await listenForTest(t, host)
    return { asked, at: (path: string) => ({ link: `http://127.0.0.1:${port}${path}` }) }
  }

  const image = (given: object) => ({ header: { type: 'image', image: given }, action: shopButton })
  const video = (given: object) => ({ header: { type: 'video', video: given }, action: shopButton })
  const stateOf = async (id: string) => (await sides.show(id)).state
  /** Its links are fetched one after the other: what is under way may be done before the next one is taken up. */
  const whenFetched = (id: string) =>
    until(async () => {
      await server.app.settle()
      return (await stateOf(id)) !== 'accepted'
    }, 'the links of the message are fetched')
  const cardsOf = async (id: string) => (await sides.show(id)).interactive.action.cards
  const usesOf = async (id: string) => {
    const rows = await server.database.read.query.selectFrom('file_uses').select('used_by').execute()
    return rows.flatMap(({ used_by }) => (used_by.startsWith(`message:${id}`) ? [used_by] : [])).sort()
  }

  test('cards with files by id and by link, each fetched once: then the message is sent, and each can be opened', async (t) => {
    const host = await startHost(t, { '/a.jpg': jpeg, '/b.mp4': film })
    const user = await sides.meetUser()
    const cards = [
      image({ id: await sides.upload(png, 'image/png') }),
      image(host.at('/a.jpg')),
      video(host.at('/b.mp4')),
      image(host.at('/a.jpg')),
    ]
    const id = await sides.send(user, carousel(cards))
    await whenFetched(id)
    assert.equal(await sides.namesOf(id), 'sent, delivered')
    assert.deepEqual(host.asked, ['/a.jpg', '/b.mp4'])
    const shown = await cardsOf(id)
    for (const [index, [kind, type, bytes]] of (
      [
        ['image', 'image/png', png],
        ['image', 'image/jpeg', jpeg],
        ['video', 'video/mp4', film],
        ['image', 'image/jpeg', jpeg],
      ] as const
    ).entries()) {
      const file = shown[index].header[kind]
      assert.deepEqual([file.mime_type, file.file_size], [type, bytes.length])
      assert.deepEqual(await sides.load(file.url), { status: 200, bytes })
    }
    const [{ url }] = shown.map(({ header }: { header: { image: object } }) => header.image)
    assert.equal((await sides.load(url, tokens.owner)).status, 403)
    assert.equal((await sides.load(url.replace('%230?', '%231?'))).status, 404, 'each card has a link of its own')
    assert.equal((await sides.load(url.replace('%230?', '?'))).status, 404)
    assert.deepEqual(
      await usesOf(id),
      [0, 1, 2, 3].map((card) => `message:${id} ${card}`),
    )
    const again = await sides.send(user, carousel(cards.slice(1)))
    assert.equal(await stateOf(again), 'delivered', 'links that were fetched lately are not fetched again')
    assert.equal(host.asked.length, 2)
  })

  test('one card whose link leads to nothing, or to another type, fails the message', async (t) => {
    const host = await startHost(t, { '/c.jpg': jpeg, '/d.pdf': pdf })
    const user = await sides.meetUser()
    for (const bad of ['/nothing', '/d.pdf']) {
      const id = await sides.send(user, carousel([image(host.at('/c.jpg')), image(host.at(bad))]))
      assert.equal(await stateOf(id), 'accepted')
      await whenFetched(id)
      assert.equal(await sides.namesOf(id), 'failed 131053', bad)
    }
    const known = await sides.send(user, carousel([image(host.at('/c.jpg')), video(host.at('/c.jpg'))]))
    assert.equal(await sides.namesOf(known), 'failed 131053', 'a file that is known to be of another type')
  })

  test('the bytes of every card go with the content', async (t) => {
    const host = await startHost(t, { '/e.jpg': jpeg })
    const user = await sides.meetUser()
    const id = await sides.send(
      user,
      carousel([image({ id: await sides.upload(png, 'image/png') }), image(host.at('/e.jpg'))]),
    )
    await whenFetched(id)
    const [first] = await cardsOf(id)
    assert.equal((await usesOf(id)).length, 2)
    server.clock.advance(2 * day)
    const { database, clock } = server
    const rules = {
      messageKeep: 30 * day,
      messageBodyKeep: day,
      idempotencyKeep: day,
      webhookKeep: 30 * day,
      streamKeep: day,
    }
    await new MessageRetention({ database, clock, random: systemRandom, log: silentLog, rules }).sweep()
    assert.equal((await sides.show(id)).content_removed, true)
    assert.deepEqual(await usesOf(id), [])
    assert.notEqual((await sides.load(first.header.image.url)).status, 200)
  })

  test('a user who is forgotten leaves no file of a card', async () => {
    const user = await sides.meetUser()
    const cards = [mp4('mp42', ['vide']), mp4('mp41', ['vide'])].map((file) => sides.upload(file, 'video/mp4'))
    const ids = await Promise.all(cards)
    const id = await sides.send(user, carousel(ids.map((one) => video({ id: one }))))
    const { database, clock } = server
    const removed: string[] = []
    const remove = ({ sha256 }: { sha256: string }) => Promise.resolve(void removed.push(sha256))
    const store = { removesLate: false, remove } as unknown as FileStore
    for (const one of ids) await server.client.call('DELETE', `/v23.0/${one}`, { token: tokens.owner })
    const forgotten = await forgetUser({ database, clock, random: systemRandom, store }, user)
    assert.deepEqual([forgotten.files, removed.length], [2, 2])
    assert.deepEqual(await usesOf(id), [])
  })

  test('what a card says is found by its words', async () => {
    const user = await sides.meetUser()
    const file = image({ id: await sides.upload(png, 'image/png') })
    const id = await sides.send(user, carousel([file, { ...file, body: { text: 'Periwinkle hats' } }]))
    const found = await server.client.get('/operator/find', { token: tokens.operator, query: { q: 'periwinkle' } })
    assert.ok(found.text.includes(id), found.text)
  })
})
