import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { groupCalls } from '../../../test/harness/group-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, tokens } from '../../../test/harness/world.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'
import { inviteLinkDead, noInviteLink } from './errors.ts'
import { readInviteCode } from './rules.ts'

onOneDatabase('invite links', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const calls = groupCalls(server)
  const open = (link: string, accept = 'text/html') =>
    fetch(link, { headers: { accept } }).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }))
  const path = `/v23.0/${ids.group}/invite_link`

  test('200 with a link under the public address that nobody can guess', async () => {
    const answer = await calls.createLink(ids.group)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(Object.keys(answer.body), ['messaging_product', 'invite_link'])
    const { invite_link } = answer.body
    const code = invite_link.slice(`${server.url}/invite/`.length)
    assert.equal(invite_link, `${server.url}/invite/${code}`)
    assert.equal(Buffer.from(code, 'base64url').length, 16)
    assert.deepEqual((await calls.readLink(ids.group)).body, answer.body)
  })

  test('a new link makes every earlier one invalid', async () => {
    const { id, link } = await calls.make()
    const second = (await calls.createLink(id)).body.invite_link
    const third = (await calls.createLink(id)).body.invite_link
    for (const dead of [link, second]) {
      assert.equal((await open(dead)).status, 404)
      assertError(await calls.join(dead, '16505551111'), inviteLinkDead())
    }
    assert.equal((await open(third)).status, 200)
    assert.equal((await calls.join(third, '16505551111')).status, 200)
  })

  test('of ten invite links made at the same moment one is live', async () => {
    const { id } = await calls.make()
    const made = await Promise.all(Array.from({ length: 10 }, () => calls.createLink(id)))
    const links = made.map(({ body }) => body.invite_link)
    assert.equal(new Set(links).size, 10)
    const statuses = await Promise.all(links.map(async (link) => (await open(link)).status))
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.ok(links.includes((await calls.readLink(id)).body.invite_link))
  })

  test('200 with success as text for deleting; 404 where none is live', async () => {
    const { id, link } = await calls.make()
    assert.deepEqual((await calls.deleteLink(id)).body, { messaging_product: 'msgapp', success: 'true' })
    assertError(await calls.deleteLink(id), noInviteLink())
    assertError(await calls.readLink(id), noInviteLink())
    assert.equal((await open(link)).status, 404)
    assert.equal((await calls.join(link, '16505551111')).status, 404)
    assert.equal((await calls.createLink(id)).status, 200)
  })

  test('of ten deletions of an invite link at the same moment one is done', async () => {
    const { id } = await calls.make()
    const answers = await Promise.all(Array.from({ length: 10 }, () => calls.deleteLink(id)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(404)])
  })

  test('invite links: 400 without the product and with another, for both, and the link stays', async () => {
    const { invite_link } = (await calls.createLink(ids.group)).body
    for (const method of ['POST', 'DELETE']) {
      const call = (json: object) => server.client.call(method, path, { token: tokens.owner, json })
      assertError(await call({}), argumentMissing('messaging_product', { expected: '"msgapp"' }))
      assertError(
        await call({ messaging_product: 'other' }),
        argumentWrong('messaging_product', { expected: '"msgapp"' }),
      )
    }
    assert.equal((await calls.readLink(ids.group)).body.invite_link, invite_link)
  })

  test('200 when the body of a deletion is a form, and when the product comes in the query', async () => {
    const form = { messaging_product: 'msgapp' }
    await calls.createLink(ids.group)
    assert.equal((await server.client.delete(path, { token: tokens.owner, form })).status, 200)
    await calls.createLink(ids.group)
    assert.equal((await server.client.delete(path, { token: tokens.owner, query: form })).status, 200)
  })

  test('the page shows the group and whose it is, escaped, and nobody who is in it', async () => {
    const { link } = await calls.make({ subject: '<Roses> & "friends"', description: 'Bring <shears>' })
    await calls.join(link, '16505557777', 'Ada Lovelace')
    const page = await open(link)
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.ok(page.text.includes('<h1 dir="auto">&lt;Roses&gt; &amp; &quot;friends&quot;</h1>'))
    assert.ok(page.text.includes('Bring &lt;shears&gt;'))
    assert.ok(page.text.includes('Group of Lucky Shrub, +1 631-555-1001'))
    assert.ok(!page.text.includes('<Roses>') && !page.text.includes('16505557777') && !page.text.includes('Ada'))
    assert.ok(!page.text.includes('approves'))
  })

  test('the page says when the business approves who joins', async () => {
    const { link } = await calls.make({ join_approval_mode: 'approval_required' })
    assert.match((await open(link)).text, /The business approves who joins\./)
  })

  test('404 with a page for people and the envelope for programs, whatever stands in the place of the code', async () => {
    for (const code of ['A'.repeat(22), 'short', '%00', '..%2f..', `${'A'.repeat(22)}x`]) {
      const link = `${server.url}/invite/${code}`
      const page = await open(link)
      assert.equal(page.status, 404)
      assert.match(page.text, /This link is no longer valid/)
      const program = await open(link, 'application/json')
      assert.equal(program.status, 404)
      assert.equal(JSON.parse(program.text).error.code, 803)
    }
  })
})

test('the code of a link is read whatever address stands in front of it', () => {
  const code = 'A-_z'.padEnd(22, '0')
  for (const link of [
    `http://127.0.0.1:8080/invite/${code}`,
    `https://example.com/base/invite/${code}`,
    `https://example.com/invite/invite/${code}/`,
    `https://example.com/invite/${code}?from=mail#top`,
  ]) {
    assert.equal(readInviteCode(link), code, link)
  }
  for (const link of ['https://example.com/invite/', 'https://example.com/invite/other', `http://x/invite/${code}0`]) {
    assert.equal(readInviteCode(link), undefined, link)
  }
  for (const text of [code, `/invite/${code}`, 'https://example.com', 'https://example.com/message/ABCDEFGHIJKLMN']) {
    assert.throws(() => readInviteCode(text), /^Error: invite_link: it must be the link of an invitation/, text)
  }
})
