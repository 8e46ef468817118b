import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isPublicAddress } from './public-address.ts'

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:830::200e',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
  '::8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
  // Teredo by the server 65.54.227.120 to the client 192.0.43.8.
  '2001:0:4136:e378:8000:63bf:3fff:d4f7',
  // ISATAP to 8.8.8.8, and interfaces that only look like it.
  '2001:470::5efe:808:808',
  '2001:470::200:5efe:808:808',
  '2001:470::1:5efe:7f00:1',
  '2001:470::5eff:7f00:1',
  '2001:470::5efe:7f00:1:1',
]

const internalAddresses = [
  // Unspecified and "this network".
  '0.0.0.0',
  '0.1.2.3',
  '::',
  // Loopback.
  '127.0.0.1',
  '127.255.255.255',
  '::1',
  // Private.
  '10.0.0.0',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  'fc00::1',
  'fd00:ec2::254',
  'fdff:ffff::1',
  // Link-local, with the metadata of cloud machines.
  '169.254.0.1',
  '169.254.169.254',
  'fe80::1',
  'febf::1',
  'fec0::1',
  // Shared by carriers.
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  // Multicast and broadcast.
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  'ff02::1',
  // Reserved, documentation and benchmarking.
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '240.0.0.1',
  '100::1',
  '2001:2::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  // Not given out.
  '4000::1',
  '::1:0:0:1',
  // The platform of Azure.
  '168.63.129.16',
  '::ffff:168.63.129.16',
  // IPv4 inside IPv6.
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '::10.0.0.1',
  '::2',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::10.0.0.1',
  '64:ff9b:1::8.8.8.8',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2002:c0a8:101::1',
  // Teredo to the client 127.0.0.1, and by the server 10.0.0.1.
  '2001:0:4136:e378:8000:63bf:80ff:fffe',
  '2001:0:a00:1:8000:63bf:3fff:d4f7',
  // ISATAP to 127.0.0.1, 10.0.0.1 and 169.254.169.254, with either bit of the interface set, and below prefixes that carry IPv4 too.
  '2001:470::5efe:7f00:1',
  '2001:470::5efe:127.0.0.1',
  '2606:4700:1:2:200:5efe:a00:1',
  '2606:4700:1:2:100:5efe:a00:1',
  '2606:4700:1:2:300:5efe:a9fe:a9fe',
  '2001:470::5efe:168.63.129.16',
  '2002:808:808::5efe:7f00:1',
  '2002:7f00:1::5efe:808:808',
  'fe80::5efe:808:808',
  'fd00::5efe:808:808',
  // IPv4-translated (SIIT), whatever it leads to.
  '::ffff:0:8.8.8.8',
  // Teredo to the client 8.8.8.8 by the server 127.0.0.1.
  '2001:0:7f00:1:0:0:f7f7:f7f7',
  // With the interface of this machine.
  'fe80::1%eth0',
  '2606:4700:4700::1111%1',
  // No addresses.
  '',
  'localhost',
  '1.2.3.4.5',
  '1.2.3.256',
]

describe('public addresses', () => {
  for (const address of publicAddresses) {
    test(`${address} is public`, () => assert.equal(isPublicAddress(address), true))
  }
  for (const address of internalAddresses) {
    test(`${JSON.stringify(address)} is not public`, () => assert.equal(isPublicAddress(address), false))
  }
})
