import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { hashToken } from '../src/auth/tokens.ts'
import type { CacheName } from '../src/db/database.ts'
import { testLong } from './harness/form.ts'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

const attempts = 4
const path = `/v23.0/${ids.phone_number}?fields=name_status`

/** What the embedded store remembers between two commits must be neither old nor large. */
describe('what is remembered of tokens and nodes', () => {
  // The last requests are kept for operators, whole, up to a number of them: not what is looked for here.
  const server = useTestServer({ engine: 'sqlite', env: { REQUEST_LOG: '0' } })

  test('a token that another process has revoked is refused at once, whenever this one last asked for commits', async (t) => {
    const other = new DatabaseSync(join(server.dataDir, 'switchboard.db'))
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    t.after(() => {
      other.close()
      socket.destroy()
    })
    const send = () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.partner}\r\n\r\n`)
    const cacheName: CacheName<string> = { name: 'a test' }
    await once(socket, 'connect')
    send()
    assert.match((await once(socket, 'data'))[0], /^HTTP\/1\.1 404 /)

    // Behind the end of a turn, as after a commit of our own: what is asked for there is asked before requests are read.
    setImmediate(() => {
      server.database.read.cached(cacheName)
      other
        .prepare('UPDATE tokens SET revoked_time = 1 WHERE hash = ?')
        .run(hashToken(server.database.read, tokens.partner))
      send()
    })
    assert.match((await once(socket, 'data'))[0], /^HTTP\/1\.1 401 /)
  })

  for (const [name, addressOf, tokenOf] of [
    ['headers', () => path, (text: string) => `${' '.repeat(14_000)}${' '.repeat(Number(text))}${tokens.owner}`],
    ['ids', (text: string) => `/v23.0/upload:${text.padStart(14_000, 'a')}`, () => tokens.owner],
    [
      'addresses',
      (text: string) =>
        `/message/${text.padStart(14, 'A').replaceAll(/\d/g, (digit) => 'ABCDEFGHIJ'[Number(digit)] ?? '')}?x=${'b'.repeat(14_000)}`,
      () => '',
    ],
  ] as const) {
    testLong(`long ${name} that callers make up are not kept`, async (t) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      t.after(() => agent.destroy())
      const ask = (index: number) =>
        get(agent, server.url + addressOf(String(index)), `Bearer ${tokenOf(String(index))}`)
      for (let index = 0; index < 20; index++) await ask(index)
      // What is kept grows each time; what else goes on in this process does not.
      const kept: number[] = []
      for (let attempt = 0; attempt < attempts && !(Number(kept.at(-1)) < 1.5e6); attempt++) {
        const before = measureHeap()
        const first = 20 + 300 * attempt
        for (let index = first; index < first + 300; index++) await ask(index)
        kept.push(measureHeap() - before)
      }
      assert.ok(Number(kept.at(-1)) < 1.5e6, `each 300 requests of 14 kB left so many bytes behind: ${kept}`)
    })
  }
})

async function get(agent: Agent, url: string, authorization: string): Promise<void> {
  const sent = request(url, { agent, headers: { authorization } }).end()
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
}

function measureHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
