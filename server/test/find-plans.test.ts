import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DialogBrowser } from './harness/dialog.ts'
import { messageSides } from './harness/messages.ts'
import { startTestServer } from './harness/server.ts'
import { redirectUri } from './harness/sign-up.ts'
import { ids, partnerIds, testWorld, tokens } from './harness/world.ts'

/** What may be read from end to end: lists in the statement itself, what was cut to a page, and names that are not split yet. */
const small =
  /^SCAN (CONSTANT ROW|\d+ CONSTANT ROWS|o VIRTUAL TABLE|found|cut|fitting|counted|t|walked|\(subquery|message_words VIRTUAL TABLE|message_words_end|fresh|\w+ USING INDEX searchable_names_to_split)/

/** The statements of the embedded store that a piece of work prepares. */
async function listPrepared(work: () => Promise<void>): Promise<string[]> {
  const texts = new Set<string>()
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
    texts.add(text)
    return prepare.call(this, text)
  }
  try {
    await work()
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
  return [...texts]
}

test('a search in the embedded store walks no table: plans.long.test.ts has the same for PostgreSQL', async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  const sides = messageSides(server)
  const id = await sides.write(sides.newUser(), { text: { body: 'an emerald harmonica' } })
  await server.app.sweep()
  const prepared = await listPrepared(async () => {
    for (const q of [
      id,
      '4711',
      '0123456789abcdef',
      '+1 650 555 1234',
      'emerald',
      'emerald harmonica',
      'lucky shrub',
    ]) {
      for (const token of [tokens.operator, tokens.limitedOperator]) {
        for (const query of [{ q }, { q, since: '1h', until: '0s' }] as Record<string, string>[]) {
          assert.equal((await server.client.get('/operator/find', { token, query })).status, 200)
        }
      }
    }
  })
  const searches = prepared.filter((text) => /message_words|name_words|searchable_names|trace/.test(text))
  assert.ok(searches.length > 10, `${searches.length} statements`)
  const store = new DatabaseSync(`${server.dataDir}/switchboard.db`)
  t.after(() => store.close())
  const walked = searches.flatMap((text) => {
    const plan = store.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]
    const scans = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN') && !small.test(detail))
    const sorts = plan.map(({ detail }) => detail).filter((detail) => /^USE TEMP B-TREE FOR (ORDER|LAST)/.test(detail))
    return scans.length > 0 ? [`${scans.join(', ')} ${sorts.join(', ')}: ${text.replaceAll(/\s+/g, ' ')}`] : []
  })
  assert.deepEqual(walked, [])
})

/** Tables with a row for each tenant, read from end to end: but by an index in the order of the page, which its limit ends. */
const walk =
  /^SCAN (connections|tokens|accounts|account_access|access|businesses|business_users|agreement_requests|requests|onbehalf_requests|nodes|phone_numbers)\b/
const inOrder =
  / USING (COVERING )?INDEX (connections_by_time|tokens_by_time|business_users_by_name|accounts_by_creation|onbehalf_requests_by_time)$/
/** Everything that an app or a business was given, without an end in time. */
const endless = / USING (COVERING )?INDEX \w+ \((app_id|business_id|partner_app_id)=\?\)$/

test('no list or search of a sign-up in the embedded store walks what all tenants have', async (t) => {
  const world = testWorld()
  const apps = world.apps.map((app) =>
    app.id === partnerIds.application ? { ...app, redirect_uris: [redirectUri] } : app,
  )
  const server = await startTestServer({ engine: 'sqlite', env: { SANDBOX: 'on' }, world: { ...world, apps } })
  t.after(() => server.stop())
  const asked = { client_id: partnerIds.application, redirect_uri: redirectUri, state: '1', response_type: 'code' }
  const get = async (path: string, token: string, query: Record<string, string> = {}) => {
    const answer = await server.client.get(path, { token, query })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const clients = `/v23.0/${partnerIds.application}/connected_client_businesses`
  const given = `/v23.0/${partnerIds.business}/client_msgapp_business_accounts`
  const prepared = await listPrepared(async () => {
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    for (const search of ['ada', 'nobody']) {
      await browser.go(`/dialog/person?${new URLSearchParams({ ticket: browser.ticket, search })}`)
    }
    await browser.send('person', { user_id: ids.business_user })
    assert.equal(browser.page.url, '/dialog/business')
    await browser.send('business', { business_id: ids.business })
    assert.equal(browser.page.url, '/dialog/account')
    for (const more of [{}, { user_id: ids.business_user }, { account_id: ids.account }] as Record<string, string>[]) {
      const { left } = await browser.open({ ...asked, auto: 'accept', ...more })
      assert.ok(left?.searchParams.get('code'))
    }
    for (const path of [clients, given]) {
      const { paging } = await get(path, tokens.partner, { limit: '1' })
      await get(path, tokens.partner, { after: paging.cursors.after })
      await get(path, tokens.partner, { before: paging.cursors.before })
    }
    await get(given, tokens.partner, { find: 'wholesale' })
    await get(`/v23.0/${ids.business}/owned_msgapp_business_accounts`, tokens.partner)
    for (const filter of [
      {},
      { state: 'ended' },
      { app_id: partnerIds.application },
      { app_id: partnerIds.application, state: 'ended' },
      { business_id: ids.business },
      { account_id: ids.account },
    ] as Record<string, string>[]) {
      await get('/operator/connections', tokens.operator, filter)
    }
    for (const filter of [{}, { app_id: partnerIds.application }] as Record<string, string>[]) {
      await get('/operator/tokens', tokens.operator, filter)
    }
    await get('/operator/onbehalf-requests', tokens.operator, { account_id: ids.account })
    await get(`/operator/businesses/${ids.business}/users`, tokens.operator)
  })
  const store = new DatabaseSync(`${server.dataDir}/switchboard.db`)
  t.after(() => store.close())
  const reads = prepared.filter((text) => /^\s*(select|with)\b/i.test(text))
  const lists = reads.filter((text) => / limit /i.test(text))
  assert.ok(lists.length > 20, `${lists.length} lists`)
  const walked = reads.flatMap((text) => {
    const plan = (store.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map(({ detail }) => detail)
    const isSorted = plan.some((detail) => detail.startsWith('USE TEMP B-TREE FOR ORDER BY'))
    const isGrouped = text.includes('GROUP BY')
    const faults = plan.filter(
      (detail) =>
        (walk.test(detail) && (isSorted || !inOrder.test(detail))) ||
        (isGrouped && !detail.startsWith('SEARCH accounts ') && endless.test(detail)),
    )
    return faults.length > 0 ? [`${faults.join(', ')}: ${text.replaceAll(/\s+/g, ' ')}`] : []
  })
  assert.deepEqual(walked, [])
})
