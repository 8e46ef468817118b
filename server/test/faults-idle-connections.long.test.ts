import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startFuzzedServer } from './fuzz/server.ts'
import { until } from './harness/until.ts'
import { ids, tokens } from './harness/world.ts'

/** As many as were asked for, or as the machine lets a process open: Node raises its own limit to the most that is allowed. */
function countPossible(wanted: number): number {
  if (process.platform !== 'linux') return Math.min(wanted, 2000)
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const hard = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(limits)?.[1] ?? '1024'
  return hard === 'unlimited' ? wanted : Math.min(wanted, Number(hard) - 500)
}

const wanted = 5000
const possible = countPossible(wanted)
const maxResident = 400_000_000

test(`${possible} of ${wanted} idle connections: others are answered, and all is given back`, async (t) => {
  const server = await startFuzzedServer('sqlite', { env: { HEADERS_TIMEOUT: '10m' } })
  const { hostname, port } = new URL(server.url)
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  })
  const request = `GET /v23.0/${ids.account} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`

  async function timeReads(): Promise<number> {
    const times: number[] = []
    for (let i = 0; i < 40; i++) {
      const started = performance.now()
      const response = await fetch(`${server.url}/v23.0/${ids.account}`, {
        headers: { authorization: `Bearer ${tokens.owner}` },
      })
      assert.equal(response.status, 200)
      await response.arrayBuffer()
      times.push(performance.now() - started)
    }
    return times.toSorted((one, other) => one - other)[20] as number
  }

  /** Half of them are left after an answer, as clients leave them, and half never say anything. */
  async function open(index: number): Promise<void> {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    await once(socket, 'connect')
    if (index % 2 === 0) return
    socket.write(request)
    await once(socket, 'data')
    socket.pause()
  }

  await timeReads()
  const usual = await timeReads()
  const before = await server.measure()
  for (let opened = 0; opened < possible; opened += 100) {
    await Promise.all(Array.from({ length: Math.min(100, possible - opened) }, (_, i) => open(opened + i)))
  }
  const meanwhile = await timeReads()
  const full = await server.measure()
  t.diagnostic(`median read ${usual.toFixed(1)} ms, with ${possible} connections ${meanwhile.toFixed(1)} ms`)
  t.diagnostic(`resident ${before.rss / 1e6} MB, then ${full.rss / 1e6} MB`)
  // Not by how many more: of those before, timers among them, some have ended.
  assert.ok(full.handles >= possible, `${full.handles} handles are open`)
  assert.ok(full.rss < maxResident, `${full.rss} bytes are resident`)
  assert.ok(meanwhile < 3 * usual + 50, `a read took ${meanwhile} ms instead of ${usual}`)

  for (const socket of sockets) socket.destroy()
  let after = full
  await until(async () => {
    after = await server.measure()
    return after.handles <= before.handles + 5 && after.files <= before.files + 5
  }, 'every connection is given back')
  assert.ok(after.heap < before.heap + 8_000_000, `the heap is ${after.heap} bytes, and was ${before.heap}`)
  assert.equal(server.faults(), '')
})
