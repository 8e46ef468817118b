import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { ids, tokens } from '../../../../test/harness/world.ts'
import { day, hour, second } from '../../../base/time/duration.ts'

onBothDatabases('tokens that ended', (engine) => {
  const server = useTestServer({ engine, env: { AUDIT_KEEP: '60d' } })
  const { operator: token } = tokens

  async function pass(milliseconds: number): Promise<void> {
    server.clock.advance(milliseconds)
    await server.app.sweep()
  }

  async function listIds(): Promise<string[]> {
    const { body } = await server.client.get('/operator/tokens?limit=100', { token })
    return body.data.map(({ id }: { id: string }) => id)
  }

  async function create(rest: object, headers: Record<string, string> = {}): Promise<string> {
    const caller = 'cookie' in headers ? { headers } : { token }
    const made = await server.client.post('/operator/tokens', { ...caller, json: { app_id: ids.application, ...rest } })
    assert.equal(made.status, 200, made.text)
    return made.body.id
  }

  async function revoke(id: string): Promise<void> {
    assert.equal((await server.client.delete(`/operator/tokens/${id}`, { token })).status, 200)
  }

  async function visit() {
    const { body, headers } = await server.client.post('/console/session')
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    return { id: body.token_id as string, headers: { cookie, 'x-console-proof': String(body.proof) } }
  }

  test('tokens that ended are listed for AUDIT_KEEP after their end, and then go; what has no end stays', async () => {
    const [expiring, revoked, late, endless] = [
      await create({ expires: '1h' }),
      await create({ expires: '1h' }),
      await create({ expires: '1h' }),
      await create({}),
    ]
    const killed = await create({})
    await revoke(revoked)
    await revoke(killed)
    await pass(hour + 60 * day - second)
    await revoke(late)
    const before = await listIds()
    for (const id of [expiring, revoked, late, endless, killed]) assert.ok(before.includes(id))
    await pass(second)
    const left = await listIds()
    assert.deepEqual(
      [expiring, revoked, late, endless, killed].map((id) => left.includes(id)),
      // Applying a world file must not revive the last one.
      [false, false, true, true, true],
    )
  })

  test('a session of the console stays while its audit records name it, and while a token is there that it made', async () => {
    const idle = await visit()
    await revoke(idle.id)
    const maker = await visit()
    const made = await create({}, maker.headers)
    await pass(50 * day)
    const { body } = await server.client.get(`/operator/audit?token_id=${maker.id}`, { token })
    assert.equal(body.data[0].actor_name, 'This machine')
    await pass(20 * day)
    const left = await listIds()
    assert.deepEqual([left.includes(idle.id), left.includes(maker.id), left.includes(made)], [false, true, true])
    await revoke(maker.id)
    assert.ok((await listIds()).includes(maker.id))
  })
})
