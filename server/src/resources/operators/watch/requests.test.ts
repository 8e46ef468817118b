import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { numbers, tokens } from '../../../../test/harness/world.ts'
import { fieldUnknown } from '../../../graph/errors.ts'

type Item = Record<string, unknown>

onOneDatabase('the log of requests', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const get = (query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get('/operator/requests', { token, query })
  const read = (path: string) => server.client.get(`/v23.0/${path}`, { token: tokens.owner })

  test('requests have pages, there and back, without what arrived meanwhile', async () => {
    for (let index = 0; index < 5; index++) await read(numbers.main)
    const first = (await get({ door: 'business', limit: '2' })).body
    const found = first.data.map(({ id }: Item) => id)
    await read(numbers.main)
    const query = (link: string) => Object.fromEntries(new URL(link).searchParams)
    let page = first
    while (page.paging.next) {
      page = (await get(query(page.paging.next))).body
      found.push(...page.data.map(({ id }: Item) => id))
    }
    assert.equal(found.length, 5)
    assert.equal(new Set(found).size, 5)
    const back = (await get(query(page.paging.previous))).body.data
    assert.deepEqual(
      back.map(({ id }: Item) => id),
      found.slice(2, 4),
    )
    assert.equal((await get({ door: 'business' })).body.data.length, 6)
  })

  test('fields leave out headers and bodies', async () => {
    await read(numbers.main)
    const [whole] = (await get({ limit: '1', door: 'business' })).body.data
    assert.ok(whole.request_headers && typeof whole.response_body === 'string' && whole.error === null)
    const fields = 'id,time,status,target,error,trace'
    const [brief] = (await get({ limit: '1', door: 'business', fields })).body.data
    const { request_headers, request_body, response_body, ...rest } = whole
    assert.ok(request_headers && response_body && request_body === null)
    assert.deepEqual(brief, rest)
    const [briefer] = (await get({ limit: '1', door: 'business', fields: 'id' })).body.data
    assert.deepEqual([briefer.target, briefer.status], [undefined, 200])
    assertError(await get({ fields: 'id,secret' }), like(fieldUnknown, { field: '"secret"' }))
  })

  test('errors, a number and a period select', async () => {
    server.clock.advance(3_600_000)
    await read(numbers.main)
    server.clock.advance(3_600_000)
    await read('4999999999999999')
    const list = async (query: Record<string, string>) =>
      (await get({ door: 'business', ...query })).body.data.map(({ status }: Item) => status)
    assert.deepEqual(await list({ errors: 'true', since: '90m' }), [404])
    assert.deepEqual(await list({ since: '90m' }), [404, 200])
    assert.deepEqual(await list({ since: '90m', until: '30m' }), [200])
    assert.deepEqual(await list({ since: '90m', phone_number_id: numbers.main }), [200])
    assertArgument(await get({ errors: 'some' }), 'errors')
    assertArgument(await get({ until: '1' }), 'until')
  })
})
