import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { type TestContext, test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { png } from '../../../../test/harness/media-files.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { listenForTest } from '../../../../test/harness/sink.ts'
import { until } from '../../../../test/harness/until.ts'
import { numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { FetchSlots } from './fetch-slots.ts'

const user = '16505570001'
const owner = { number: numbers.main, token: tokens.owner }
const other = { number: strangerIds.phone_number, token: tokens.stranger }

async function startHost(t: TestContext, host: Server): Promise<string> {
  const { port } = await listenForTest(t, host)
  t.after(() => host.closeAllConnections())
  return `http://127.0.0.1:${port}`
}

onBothDatabases('the links of many tenants', (engine) => {
  // No hanging fetch ends during the test.
  const server = useTestServer({ engine, env: { LINK_FETCH_TIMEOUT: '10m' } })

  test('48 links of one to 8 hosts that never answer delay nobody else', async (t) => {
    const asked: string[] = []
    const silent: string[] = []
    for (let index = 0; index < 8; index++) {
      silent.push(
        await startHost(
          t,
          createServer(({ url = '' }) => void asked.push(`${index}${url}`)),
        ),
      )
    }
    const quick = await startHost(
      t,
      createServer((_, response) => response.end(png)),
    )
    const send = async ({ number, token }: typeof owner | typeof other, link: string) => {
      const json = { messaging_product: 'msgapp', to: user, type: 'image', image: { link } }
      const answer = await server.client.post(`/v23.0/${number}/messages`, { token, json })
      assert.equal(answer.status, 200, answer.text)
      return answer.body.messages[0].id as string
    }
    for (const { number } of [owner, other]) {
      const json = { phone_number_id: number, from: user, type: 'text', text: { body: 'Hello' } }
      const answer = await server.client.post('/gateway/messages', { token: tokens.gateway, json })
      assert.equal(answer.status, 200, answer.text)
    }
    for (let index = 0; index < 48; index++) await send(owner, `${silent[index % 8]}/${index}.png`)
    await until(() => asked.length >= 8, 'the silent hosts are asked')
    const id = await send(other, `${quick}/a.png`)
    await until(async () => {
      const { body } = await server.client.get(`/gateway/messages/${id}`, { token: tokens.gateway })
      return body.state !== 'accepted'
    }, 'the link of the other tenant is fetched')
    assert.equal(asked.length, 8, 'one account has no more than its share')
  })
})

test('the last places are for accounts with hardly any, and a host that was silent gets one', () => {
  const slots = new FetchSlots()
  const take = (account_id: string, host: string) => {
    const place = { account_id, host }
    if (!slots.hasRoomFor(place)) return false
    slots.take(place)
    return true
  }
  const takeMany = (account: string) =>
    Array.from({ length: 40 }, (_, index) => take(account, `${account}-${index}`)).filter(Boolean).length
  assert.deepEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(takeMany), [8, 8, 8, 2, 2, 2, 2, 0])
  assert.equal(slots.isFull, true)

  const hosts = new FetchSlots()
  hosts.noteSilence('silent')
  const held = { account_id: 'a', host: 'silent' }
  assert.equal(hosts.hasRoomFor(held), true)
  hosts.take(held)
  assert.equal(hosts.hasRoomFor({ ...held }), false)
  assert.equal(hosts.hasRoomFor({ account_id: 'a', host: 'another' }), true)
  hosts.release(held)
  assert.equal(hosts.hasRoomFor(held), true)
})
