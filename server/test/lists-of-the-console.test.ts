import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exampleOffer } from '../src/resources/calls/examples.ts'
import { onBothDatabases } from './harness/databases.ts'
import { assertArgument } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { handInText, userOf } from './harness/webhooks.ts'
import { ids, numbers, strangerIds, tokens } from './harness/world.ts'

type Item = Record<string, unknown>

interface Page {
  readonly data: readonly Item[]
  readonly paging: { readonly next?: string; readonly previous?: string }
}

onBothDatabases('lists that the console shows', (engine) => {
  const server = useTestServer({ engine })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.gateway) =>
    server.client.get(path, { token, query })

  /** Page by page to the end, and back to the beginning. */
  async function readPages(path: string, query: Record<string, string>): Promise<[there: Item[], back: Item[]]> {
    let page = (await get(path, query)).body as Page
    const there = [...page.data]
    const follow = async (link: string) => {
      page = (await get(path, Object.fromEntries(new URL(link).searchParams))).body as Page
    }
    while (page.paging.next) {
      await follow(page.paging.next)
      there.push(...page.data)
    }
    const back = [...page.data]
    while (page.paging.previous) {
      await follow(page.paging.previous)
      back.unshift(...page.data)
    }
    return [there, back]
  }

  /** A token of the gateway that sees the stranger's account alone. */
  async function makeLimited(): Promise<string> {
    const json = { app_id: ids.application, scopes: ['gateway'], accounts: [strangerIds.account] }
    return (await server.client.post('/operator/tokens', { token: tokens.operator, json })).body.token
  }

  describe('users', () => {
    test('users with a chat, a name or settings are listed once each, by number, there and back', async () => {
      for (const index of [3, 1, 2]) await handInText(server, `listed.${index}`, userOf(index))
      for (const [wa_id, name] of [
        [userOf(2), 'Ada 100%'],
        [userOf(9), 'Bilal'],
      ] as const) {
        await server.client.post(`/gateway/users/${wa_id}`, { token: tokens.gateway, json: { name, reachable: false } })
      }
      const [there, back] = await readPages('/gateway/users', { limit: '2' })
      const found = there.map(({ wa_id }) => wa_id)
      assert.deepEqual(found, [...found].sort())
      assert.equal(new Set(found).size, found.length)
      for (const index of [1, 2, 3, 9]) assert.ok(found.includes(userOf(index)), String(index))
      assert.deepEqual(back, there)
      for (const user of there) assert.deepEqual((await get(`/gateway/users/${user['wa_id']}`)).body, user)
    })

    test('a part of the name or number selects, and signs are only signs', async () => {
      const find = async (q: string, token?: string) =>
        (await get('/gateway/users', { q }, token)).body.data.map(({ wa_id }: Item) => wa_id)
      assert.deepEqual(await find('ada'), [userOf(2)])
      assert.deepEqual(await find('100%'), [userOf(2)])
      assert.deepEqual(await find('1%0'), [])
      assert.deepEqual(await find(userOf(9)), [userOf(9)])
      assertArgument(await get('/gateway/users', { q: '' }), 'q')
      assert.deepEqual(await find('ada', await makeLimited()), [])
    })
  })

  test('phone numbers are listed as each is read alone, of the accounts that the caller sees', async () => {
    const [there, back] = await readPages('/gateway/phone_numbers', { limit: '1' })
    assert.ok(there.length > 2)
    assert.deepEqual(back, there)
    for (const number of there) assert.deepEqual((await get(`/gateway/phone_numbers/${number['id']}`)).body, number)
    const accountsOf = ({ data }: Page) => [...new Set(data.map(({ account_id }) => account_id))]
    const limited = (await get('/gateway/phone_numbers', {}, await makeLimited())).body
    assert.deepEqual(accountsOf(limited), [strangerIds.account])
    assert.deepEqual(accountsOf((await get('/gateway/phone_numbers', { account_id: ids.account })).body), [ids.account])
  })

  test('calls have pages and a period, and one read alone has its times', async () => {
    const began: string[] = []
    for (const index of [1, 2, 3]) {
      const session = { sdp_type: 'offer', sdp: exampleOffer }
      const json = { phone_number_id: numbers.main, from: userOf(20 + index), session }
      const { body } = await server.client.post('/gateway/calls', { token: tokens.gateway, json })
      began.unshift(String(body.call_id))
      server.clock.advance(3_600_000)
    }
    // Nobody takes them, so they end by themselves.
    await server.app.settle()
    const [there, back] = await readPages('/gateway/calls', { limit: '1' })
    assert.deepEqual(
      there.map(({ id }) => id),
      began,
    )
    assert.deepEqual(back, there)
    const find = async (query: Record<string, string>) =>
      (await get('/gateway/calls', query)).body.data.map(({ id }: Item) => id)
    assert.deepEqual(await find({ since: '150m' }), began.slice(0, 2))
    assert.deepEqual(await find({ since: '150m', until: '90m' }), began.slice(1, 2))
    assertArgument(await get('/gateway/calls', { since: 'x' }), 'since')
    const { sdp, findings, ...shown } = (await get(`/gateway/calls/${began[0]}`)).body
    assert.deepEqual([sdp, findings], [{ user: exampleOffer }, []])
    assert.deepEqual(shown, (await get('/gateway/calls', { limit: '1' })).body.data[0])
    assert.ok(shown.created_time)
  })

  test('the audit log is selected by operation, object, period and by who did it', async () => {
    const rename = (token: string, id: string) => server.client.post(`/v23.0/${id}`, { token, json: { name: 'Named' } })
    await rename(tokens.owner, ids.account)
    await rename(tokens.stranger, strangerIds.account)
    const audit = async (query: Record<string, string>) =>
      (await get('/operator/audit', { operation: 'account.update', since: '1m', ...query }, tokens.operator)).body.data
    const [theirs, own] = await audit({})
    assert.equal((await audit({})).length, 2)
    for (const actor of [own.actor_token_id, own.actor_app_id]) assert.deepEqual(await audit({ actor }), [own])
    assert.deepEqual(await audit({ node_id: strangerIds.account }), [theirs])
    assert.deepEqual(await audit({ actor: 'Nobody' }), [])
    assert.deepEqual(await audit({ until: '1m' }), [])
  })
})
