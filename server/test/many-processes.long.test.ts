import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readMigrations } from '../src/db/schema/migrations.ts'
import { runCommand } from './harness/command.ts'
import { Fleet } from './harness/fleet.ts'

/** What the demo world calls them. */
const owner = { app: '3000000000000001', number: '4000000000000001' }
const partner = { app: '3000000000000002', number: '4000000000000004' }

describe('three processes that start at the same moment on an empty PostgreSQL', () => {
  let fleet: Fleet
  before(async () => {
    fleet = await Fleet.start({ size: 3, env: { RATE_LIMIT_PLATFORM: '20/1h' } })
  })
  after(() => fleet.end())

  async function createToken(app: string): Promise<{ id: string; secret: string }> {
    const { code, stdout, stderr } = await runCommand(['token', 'create', '--app', app], fleet.commandOptions)
    assert.equal(code, 0, stderr)
    return { id: /Token (\S+) was made/.exec(stderr)?.[1] as string, secret: stdout.trim() }
  }

  async function readNumber(turn: number, number: string, secret: string): Promise<number> {
    const headers = { authorization: `Bearer ${secret}` }
    const response = await fetch(`${fleet.url(turn)}/v23.0/${number}`, { headers })
    await response.arrayBuffer()
    return response.status
  }

  const askAll = (number: string, secret: string) => Promise.all([0, 1, 2].map((i) => readNumber(i, number, secret)))

  test('three processes that start at the same moment on an empty PostgreSQL refuse a token, all at once, that the command line has revoked', async () => {
    const { id, secret } = await createToken(owner.app)
    assert.deepEqual(await askAll(owner.number, secret), [200, 200, 200])
    const revoked = await runCommand(['token', 'revoke', id], fleet.commandOptions)
    assert.equal(revoked.code, 0, revoked.stderr)
    assert.deepEqual(await askAll(owner.number, secret), [401, 401, 401])
  })

  test('three processes that start at the same moment on an empty PostgreSQL share a limit: of 30 calls at once, whoever gets them, 20 are let in', async () => {
    const { secret } = await createToken(partner.app)
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => readNumber(i, partner.number, secret)))
    assert.equal(statuses.filter((status) => status === 200).length, 20)
    assert.equal(statuses.filter((status) => status === 429).length, 10)
    assert.deepEqual(await askAll(partner.number, secret), [429, 429, 429])
  })

  test('three processes that start at the same moment on an empty PostgreSQL send one message for an Idempotency-Key, whoever of them gets its 50 requests at once', async () => {
    const { secret } = await createToken(owner.app)
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'idempotency-key': 'one-of-fifty',
    }
    const body = JSON.stringify({ messaging_product: 'msgapp', to: '16505551234', text: { body: 'Once' } })
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, turn) => {
        const url = `${fleet.url(turn)}/v23.0/${owner.number}/messages`
        const response = await fetch(url, { method: 'POST', headers, body })
        const isReplayed = response.headers.get('idempotency-replayed') === 'true'
        return { status: response.status, isReplayed, text: await response.text() }
      }),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200], answers[0]?.text)
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers.filter(({ isReplayed }) => !isReplayed).length, 1)
    const chat = await fetch(
      `${fleet.url(0)}/gateway/users/16505551234/messages?phone_number_id=${owner.number}&limit=100`,
      { headers: { authorization: 'Bearer demo-gateway-token' } },
    )
    const { data } = (await chat.json()) as { data: { text?: { body: string } }[] }
    assert.equal(data.filter(({ text }) => text?.body === 'Once').length, 1)
  })

  test('three processes that start at the same moment on an empty PostgreSQL have migrated it once and filled it once', async () => {
    const lines = (await fleet.stop()).flatMap(({ stderr }) =>
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    const made = lines.filter(({ msg }) => msg === 'made the schema').map(({ migrations }) => migrations)
    assert.deepEqual(made, [readMigrations().length])
    const applied = lines.filter(({ msg }) => msg === 'applied a world file')
    assert.equal(applied.length, 1)
    assert.ok(applied[0].created > 0)
    assert.deepEqual([applied[0].updated, applied[0].unchanged], [0, 0])
    assert.deepEqual(
      // Nobody is where the demo world sends events.
      lines.filter(({ level, msg }) => level > 30 && !/^a (?:delivery failed|subscriber is down)/.test(msg)),
      [],
      'nobody warned of anything',
    )
  })
})
