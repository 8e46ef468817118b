import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, tokens } from '../../../test/harness/world.ts'
import { type Log, silentLog } from '../../base/log/log.ts'

interface Line {
  readonly level: string
  readonly msg?: string
  readonly operation: string
  readonly status: number
  readonly remote_address: string
  readonly trace: string
  readonly err?: unknown
}

describe('lines of requests', () => {
  const lines: Line[] = []
  const log: Log = Object.assign(Object.create(silentLog), {
    isLevelEnabled: () => true,
    line: (members: string) => void lines.push({ level: 'info', ...JSON.parse(`{${members}}`) }),
    error: (about: object, msg: string) => void lines.push({ level: 'error', msg, ...(about as Omit<Line, 'level'>) }),
  })
  const server = useTestServer({ engine: 'sqlite', env: { TRUST_PROXY: '127.0.0.1' }, log })
  const forwarded = { 'x-forwarded-for': '203.0.113.7' }

  /** The only line of a request. */
  function findLine(trace: string | null): Line {
    const [line, ...others] = lines.filter((one) => one.trace === trace)
    assert.deepEqual(others, [])
    return line ?? assert.fail('it is not logged')
  }

  test('have the address of the client as TRUST_PROXY decides, as the audit log has, and the level of their status', async () => {
    for (const [path, status] of [
      [`/v23.0/${ids.account}`, 200],
      ['/v23.0/1', 404],
      ['/nothing/of/this/kind', 400],
    ] as const) {
      const answer = await server.client.get(path, { token: tokens.owner, headers: forwarded })
      assert.equal(answer.status, status, path)
      const { level, remote_address } = findLine(answer.headers.get('x-svctrace-id'))
      assert.deepEqual([level, remote_address], ['info', '203.0.113.7'], path)
    }
    const json = { name: 'Named' }
    const written = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json, headers: forwarded })
    const trace = written.headers.get('x-svctrace-id') ?? ''
    const audit = await server.client.get('/operator/audit', { token: tokens.operator })
    const record = audit.body.data.find((one: { trace: string }) => one.trace === trace)
    assert.equal(record.remote_address, findLine(trace).remote_address)
  })

  test('a fault of the service is one line at the level of errors, with its cause', async (t) => {
    const broken = new Error('broken on purpose')
    t.mock.method(server.database.read, 'first', () => Promise.reject(broken))
    t.mock.method(server.database.read, 'list', () => Promise.reject(broken))
    const answer = await server.client.get(`/v23.0/${ids.account}?fields=name`, {
      token: 'unknown',
      headers: forwarded,
    })
    assert.equal(answer.status, 500, answer.text)
    const { level, msg, status, err, remote_address } = findLine(answer.headers.get('x-svctrace-id'))
    assert.deepEqual([level, msg, status, remote_address], ['error', 'a request failed', 500, '203.0.113.7'])
    assert.equal(err, broken)
  })
})
