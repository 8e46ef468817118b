import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { makeDnsResolve, resolveBySystem } from './resolve.ts'

const types = { a: 1, aaaa: 28 }
const codes = { fine: 0, failed: 2, unknown: 3 }

interface Zone {
  readonly [name: string]: {
    readonly a?: readonly number[]
    readonly aaaa?: readonly number[]
    readonly code?: number
    readonly isSilent?: boolean
  }
}

/** A name server on loopback, which knows just so much of the protocol as one answer takes. */
async function startNameServer(t: TestContext, zone: Zone): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = []
  const socket: Socket = createSocket('udp4')
  socket.on('message', (query, { port }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(name)
    const known = zone[name] ?? { code: codes.unknown }
    const address = type === types.a ? known.a : type === types.aaaa ? known.aaaa : undefined
    if (known.isSilent && !address) return
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (known.code ?? codes.fine), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(address ? 1 : 0, 6)
    // A pointer to the name of the question, the type, the class, a time to live of 60 s, and the address.
    const record = address
      ? Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address])
      : Buffer.alloc(0)
    socket.send(Buffer.concat([header, query.subarray(12, end), record]), port, '127.0.0.1')
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const sixteen = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

describe('names are resolved by the DNS', () => {
  test('names are resolved by the DNS with those of one kind where the server is silent on the other, without waiting for its end', async (t) => {
    const { address } = await startNameServer(t, { 'half.example': { a: [93, 184, 216, 34], isSilent: true } })
    const begun = performance.now()
    const found = await makeDnsResolve({ timeout: 600_000, servers: [address] })('half.example')
    assert.deepEqual(found, [{ address: '93.184.216.34', family: 4 }])
    assert.ok(performance.now() - begun < 60_000)
  })

  test('names are resolved by the DNS with the addresses of both kinds', async (t) => {
    const { address } = await startNameServer(t, { 'both.example': { a: [93, 184, 216, 34], aaaa: sixteen } })
    assert.deepEqual(await makeDnsResolve({ timeout: 60_000, servers: [address] })('both.example'), [
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
  })

  test('names are resolved by the DNS with those of one kind where there is no other', async (t) => {
    const { address } = await startNameServer(t, {
      'four.example': { a: [1, 2, 3, 4] },
      'six.example': { aaaa: sixteen },
    })
    const resolve = makeDnsResolve({ timeout: 60_000, servers: [address] })
    assert.deepEqual(await resolve('four.example'), [{ address: '1.2.3.4', family: 4 }])
    assert.deepEqual(await resolve('six.example'), [{ address: '2606:4700::1', family: 6 }])
  })

  for (const [name, code] of [
    ['unknown.example', 'ENOTFOUND'],
    ['empty.example', 'ENODATA'],
    ['broken.example', 'ESERVFAIL'],
  ] as const) {
    test(`names are resolved by the DNS and ${name} fails with ${code}`, async (t) => {
      const zone = { 'empty.example': {}, 'broken.example': { code: codes.failed } }
      const { address, asked } = await startNameServer(t, zone)
      await assert.rejects(makeDnsResolve({ timeout: 60_000, servers: [address] })(name), { code })
      assert.ok(asked.includes(name))
    })
  }

  test('names are resolved by the DNS and a server that is silent ends in a failure', async (t) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    t.after(() => socket.close())
    const resolve = makeDnsResolve({ timeout: 100, servers: [`127.0.0.1:${socket.address().port}`] })
    await assert.rejects(resolve('slow.example'), { code: 'ETIMEOUT' })
  })
})

test('names are resolved by the system with its hosts file', async () => {
  const addresses = await resolveBySystem('localhost')
  assert.ok(addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'))
})
