import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { startNameServer, type Zone } from '../../test/harness/name-server.ts'
import { until } from '../../test/harness/until.ts'
import { makeDnsResolve, resolveBySystem, useLastAddresses } from './resolve.ts'

const sixteen = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

describe('names are resolved by the DNS', () => {
  test('names are resolved by the DNS with those of one kind where the server is silent on the other, without waiting for its end', async (t) => {
    const { address } = await startNameServer(t, () => ({ a: [93, 184, 216, 34], isSilent: true }))
    const begun = performance.now()
    const found = await makeDnsResolve({ timeout: 600_000, servers: [address] })('half.example')
    assert.deepEqual(found, [{ address: '93.184.216.34', family: 4 }])
    assert.ok(performance.now() - begun < 60_000)
  })

  test('names are resolved by the DNS with the addresses of both kinds', async (t) => {
    const { address } = await startNameServer(t, () => ({ a: [93, 184, 216, 34], aaaa: sixteen }))
    assert.deepEqual(await makeDnsResolve({ timeout: 60_000, servers: [address] })('both.example'), [
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
  })

  test('names are resolved by the DNS with those of one kind where there is no other', async (t) => {
    const { address } = await startNameServer(t, (name) =>
      name === 'four.example' ? { a: [1, 2, 3, 4] } : { aaaa: sixteen },
    )
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
      const zone: Zone = (asked) =>
        asked === 'empty.example' ? {} : asked === 'broken.example' ? { code: 'failed' } : undefined
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

describe('the last addresses of a name', () => {
  const found = [{ address: '93.184.216.34', family: 4 }]
  const answer: Zone = () => ({ a: [93, 184, 216, 34] })

  async function start(t: TestContext, timeout = 60_000) {
    const server = await startNameServer(t, answer)
    let now = 0
    const resolve = useLastAddresses(makeDnsResolve({ timeout: 600_000, servers: [server.address] }), {
      ...{ timeout, patience: 50, keep: 1000 },
      now: () => now,
    })
    const pass = (milliseconds: number) => {
      now += milliseconds
    }
    return { server, resolve, pass }
  }

  for (const [what, zone] of [
    ['is silent', () => ({ isSilent: true })],
    ['fails', () => ({ code: 'failed' })],
    ['is slow', () => ({ a: [93, 184, 216, 34], delay: 2000 })],
  ] as const satisfies readonly (readonly [string, Zone])[]) {
    test(`the last addresses of a name are used while its name server ${what}, until they are too old`, async (t) => {
      const { server, resolve, pass } = await start(t, 300)
      assert.deepEqual(await resolve('known.example'), found)
      server.serve(zone)
      for (let round = 0; round < 3; round++) assert.deepEqual(await resolve('known.example'), found)
      await assert.rejects(resolve('other.example'))
      pass(1001)
      await assert.rejects(resolve('known.example'))
      server.serve(answer)
      assert.deepEqual(await resolve('known.example'), found)
    })
  }

  test('the last addresses of a name are forgotten when its name server says that there is no such name', async (t) => {
    const { server, resolve } = await start(t)
    assert.deepEqual(await resolve('known.example'), found)
    server.serve(() => undefined)
    await assert.rejects(resolve('known.example'), { code: 'ENOTFOUND' })
    server.serve(() => ({ code: 'failed' }))
    await assert.rejects(resolve('known.example'), { code: 'ESERVFAIL' })
  })

  test('the name server is waited for again some time after it was silent, and believed when there is no such name any more', async (t) => {
    const { server, resolve, pass } = await start(t)
    await resolve('known.example')
    server.serve(() => ({ code: 'failed' }))
    assert.deepEqual(await resolve('known.example'), found)
    server.serve(() => undefined)
    pass(900)
    await assert.rejects(resolve('known.example'), { code: 'ENOTFOUND' })
  })

  test('the last addresses of a name are replaced when its name server responds again with others', async (t) => {
    const { server, resolve } = await start(t)
    await resolve('known.example')
    server.serve(() => ({ code: 'failed' }))
    await resolve('known.example')
    server.serve(() => ({ a: [1, 2, 3, 4] }))
    const readAddress = async () => (await resolve('known.example'))[0]?.address
    await until(async () => (await readAddress()) === '1.2.3.4', 'the new address is used')
  })
})
