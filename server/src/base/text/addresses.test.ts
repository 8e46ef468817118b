import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AddressList, isLoopback, readAddress, sourceOf } from './addresses.ts'

describe('addresses', () => {
  for (const [text, address] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::FFFF:7f00:1', '127.0.0.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['localhost', undefined],
    ['', undefined],
    ['10.0.0.1:80', undefined],
    ['[::1]', undefined],
    ['0127.0.0.1', undefined],
    ['unknown', undefined],
  ] as const) {
    test(`${JSON.stringify(text)} reads as ${address}`, () => assert.equal(readAddress(text), address))
  }

  for (const [address, source] of [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:1::5:6:7:8', '2001:db8:1:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
  ] as const) {
    test(`${address} is counted under ${source}`, () => assert.equal(sourceOf(address), source))
  }

  test('loopback is 127.0.0.0/8 and ::1', () => {
    for (const address of ['127.0.0.1', '127.8.9.1', '::1']) assert.ok(isLoopback(address), address)
    for (const address of ['128.0.0.1', '::2', '10.127.0.1']) assert.ok(!isLoopback(address), address)
  })

  test('a list has its addresses and what is in its networks', () => {
    const list = new AddressList(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'])
    for (const address of ['127.0.0.1', '10.255.0.1', '2001:db8:ffff::1']) assert.ok(list.has(address), address)
    for (const address of ['127.0.0.2', '11.0.0.1', '2001:db9::1', 'localhost', ''])
      assert.ok(!list.has(address), address)
    assert.ok(!new AddressList([]).has('127.0.0.1'))
  })

  for (const entry of ['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '10.0.0.0/-1', '']) {
    test(`${JSON.stringify(entry)} is refused in a list`, () =>
      assert.throws(() => new AddressList([entry]), RangeError))
  }
})
