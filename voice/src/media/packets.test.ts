import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RtpHeader, RtpPacket } from 'werift'
import { silentPacket } from '../sound/opus.ts'
import { Recording } from '../sound/recording.ts'
import { readSoundFile } from '../sound/sound-file.ts'
import { makeSilence } from '../sound/sources.ts'
import { Incoming } from './incoming.ts'
import { isKey, KeyReader, writeKey } from './keys.ts'
import { Loss } from './loss.ts'
import { Outgoing } from './outgoing.ts'
import { PacketOrder } from './packet-order.ts'

const packet = (sequenceNumber: number, ssrc = 1) => ({ header: { ssrc, sequenceNumber: sequenceNumber & 0xffff } })

/** What is handed on of packets that come in this order, with how many came and how many never did. */
function order(numbers: readonly number[]) {
  const handed: number[] = []
  const packets = new PacketOrder<ReturnType<typeof packet>>(({ header }) => handed.push(header.sequenceNumber))
  for (const number of numbers) packets.add(packet(number))
  packets.flush()
  return { handed, received: packets.received, lost: packets.lost }
}

const run = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

for (const [name, numbers, expected] of [
  ['in order', run(1, 20), { handed: run(1, 20), received: 20, lost: 0 }],
  ['exchanged', [1, 3, 2, 5, 4], { handed: [1, 2, 3, 4, 5], received: 5, lost: 0 }],
  ['twice', [1, 2, 2, 1, 3], { handed: [1, 2, 3], received: 3, lost: 0 }],
  ['with a gap', [1, 2, 5, 6], { handed: [1, 2, 5, 6], received: 4, lost: 2 }],
  ['too late to be played', [1, ...run(3, 20), 2, 21], { handed: [1, ...run(3, 21)], received: 21, lost: 0 }],
  [
    'over the end of 16 bits',
    run(65_530, 65_545),
    { handed: run(65_530, 65_545).map((one) => one & 0xffff), received: 16, lost: 0 },
  ],
  [
    'of a sender that began anew',
    [...run(1, 3), ...run(30_001, 30_003)],
    { handed: [...run(1, 3), ...run(30_001, 30_003)], received: 6, lost: 0 },
  ],
] as const) {
  test(`packets that come ${name}`, () => assert.deepEqual(order(numbers), expected))
}

test('a gap is waited for, up to ten packets', () => {
  const handed: number[] = []
  const packets = new PacketOrder<ReturnType<typeof packet>>(({ header }) => handed.push(header.sequenceNumber))
  for (const number of [1, ...run(3, 12)]) packets.add(packet(number))
  assert.deepEqual(handed, [1])
  packets.add(packet(13))
  assert.deepEqual(handed, [1, ...run(3, 13)])
})

test('another source counts for itself', () => {
  const packets = new PacketOrder<ReturnType<typeof packet>>(() => undefined)
  for (const number of [1, 2, 4]) packets.add(packet(number))
  for (const number of [500, 501]) packets.add(packet(number, 2))
  assert.deepEqual([packets.received, packets.lost], [5, 1])
})

for (const percent of [0, 1, 10, 33, 100]) {
  test(`of every hundred packets ${percent} are lost`, () => {
    const loss = new Loss(percent, Math.random)
    for (let hundred = 0; hundred < 3; hundred++) {
      const lost = Array.from({ length: 100 }, () => loss.isNextLost()).filter(Boolean).length
      assert.equal(lost, percent)
    }
  })
}

test('a key is written as RFC 4733 has it, and read once however many packets it has', () => {
  assert.deepEqual([...writeKey('#', 8, true)], [11, 0x8a, 0x05, 0x00])
  assert.deepEqual([...writeKey('0', 1, false)], [0, 0x0a, 0x00, 0xa0])
  const keys: string[] = []
  const reader = new KeyReader((key) => keys.push(key))
  for (const [key, timestamp] of [
    ['4', 960],
    ['4', 960],
    ['4', 20_000],
    ['#', 40_000],
  ] as const) {
    reader.add(writeKey(key, 1, false), timestamp)
  }
  reader.add(Uint8Array.of(99, 0, 0, 0), 50_000)
  reader.add(Uint8Array.of(1), 60_000)
  assert.deepEqual(keys, ['4', '4', '#'])
})

test('what a keypad has', () => {
  assert.deepEqual([...'0123456789*#ABCD', '', 'E', 'a', '12', ' '].filter(isKey).join(''), '0123456789*#ABCD')
})

test('keys that are pressed when the call is over are not waited for', async () => {
  const outgoing = new Outgoing(makeSilence(), new Loss(0, Math.random), () => assert.fail('nothing is sent'))
  const before = outgoing.press('1')
  outgoing.stop()
  outgoing.start()
  await Promise.all([before, outgoing.press('2')])
  assert.equal(outgoing.sent, 0)
})

test('a recording keeps pauses of one sender, and joins another sender that counts from elsewhere', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'incoming-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'heard.ogg')
  const incoming = new Incoming({ recording: new Recording(path), onSound() {}, onKey() {} })
  incoming.setCodecs({ opus: new Set([111]), keys: new Set() })
  for (const [ssrc, sequenceNumber, timestamp] of [
    [1, 1, 0],
    [1, 2, 960],
    [1, 3, 960 * 12],
    [2, 7, 960 * 5000],
    [2, 8, 960 * 5001],
  ] as const) {
    const header = new RtpHeader({ ssrc, sequenceNumber, timestamp, payloadType: 111 })
    incoming.add(new RtpPacket(header, Buffer.from(silentPacket)))
  }
  const { packets, lost } = incoming.close()
  assert.deepEqual({ packets, lost }, { packets: 5, lost: 0 })
  assert.equal((await readSoundFile(path)).length / 960, 15)
})
