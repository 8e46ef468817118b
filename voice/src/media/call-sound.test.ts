import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Recording } from '../sound/recording.ts'
import { readSoundFile } from '../sound/sound-file.ts'
import { makeSilence, makeTone } from '../sound/sources.ts'
import { CallSound, type CallSoundOptions, type CallSummary } from './call-sound.ts'

/** One side of a call on this machine alone. */
function openSide(t: TestContext, options: Partial<CallSoundOptions> = {}) {
  const keys: string[] = []
  const connected = Promise.withResolvers<void>()
  const side = new CallSound({
    addresses: ['127.0.0.1'],
    iceServers: [],
    source: makeSilence(),
    onConnected: connected.resolve,
    onKey: (key) => keys.push(key),
    ...options,
  })
  t.after(() => side.close())
  return { side, keys, connected: connected.promise }
}

/** Has two sides meet by descriptions that are changed on the way. */
async function meet(
  caller: CallSound,
  called: CallSound,
  { offer = (sdp: string) => sdp, answer = (sdp: string) => sdp } = {},
): Promise<void> {
  await caller.takeAnswer(answer(await called.answer(offer(await caller.offer()))))
}

/** Lets so much sound come that its loudest second is whole. */
async function hearTone(side: CallSound): Promise<void> {
  await hearPackets(side, 60)
}

async function hearPackets(side: CallSound, count: number): Promise<void> {
  while (side.heardPackets < count) await new Promise((resolve) => setTimeout(resolve, 10))
}

function assertHeard({ heard }: CallSummary, hz: number): void {
  assert.ok(heard.hz !== null && Math.abs(heard.hz - hz) <= 3, `${hz} Hz: ${JSON.stringify(heard)}`)
}

test('two sides hear the tones of each other, keys that are pressed, and record what they hear', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'call-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'heard.ogg')
  const one = openSide(t, { source: makeTone(440), recording: new Recording(path) })
  const other = openSide(t, { source: makeTone(523) })
  await meet(one.side, other.side)
  await Promise.all([one.connected, other.connected])
  one.side.speak()
  other.side.speak()
  await one.side.press('4#4')
  await Promise.all([hearTone(one.side), hearTone(other.side)])
  const mine = await one.side.close()
  // What was sent last may be under way still.
  await hearPackets(other.side, mine.sent.packets)
  const theirs = await other.side.close()
  assertHeard(mine, 523)
  // Between keys the tone begins anew, which moves what is measured.
  assertHeard(theirs, 440)
  assert.deepEqual([mine.heard.lost, theirs.heard.lost], [0, 0])
  assert.equal(theirs.heard.packets, mine.sent.packets)
  assert.deepEqual([one.keys, other.keys], [[], ['4', '#', '4']])
  const sound = await readSoundFile(path)
  // A side that comes to nothing for half a second leaves out what is too late: then there is silence in between.
  assert.ok(sound.length >= mine.heard.packets * 960, `${sound.length} of ${mine.heard.packets} packets`)
})

test('nothing is said before the call is taken', async (t) => {
  const one = openSide(t, { source: makeTone(440) })
  const other = openSide(t, { source: makeTone(523) })
  await meet(one.side, other.side)
  await Promise.all([one.connected, other.connected])
  one.side.speak()
  await hearTone(other.side)
  assert.equal((await one.side.close()).heard.packets, 0)
})

test('a description names the addresses that were given, one source and one fingerprint, and nothing of another machine', async (t) => {
  const { side } = openSide(t)
  const sdp = await side.offer()
  const find = (start: string) => sdp.split('\r\n').filter((line) => line.startsWith(start))
  assert.deepEqual(
    find('a=candidate:').map((line) => line.split(' ')[4]),
    ['127.0.0.1'],
  )
  assert.equal(find('a=fingerprint:sha-256 ').length, 1)
  assert.equal(new Set(find('a=ssrc:').map((line) => line.split(' ')[0])).size, 1)
  for (const line of [
    'a=setup:actpass',
    'a=rtcp-mux',
    'a=rtpmap:126 telephone-event/8000',
    'a=group:BUNDLE 0',
    'a=sendrecv',
  ]) {
    assert.deepEqual(find(line), [line])
  }
  assert.match(sdp, /a=rtpmap:111 opus\/48000\/2\r\n/i)
  assert.match(sdp, /\r\n$/)
})

for (const [name, change] of [
  ['without an end of its last line', (sdp: string) => sdp.trimEnd()],
  ['without candidates on one side', (sdp: string) => sdp.replaceAll(/a=candidate:.*\r\n/g, '')],
  ['without a source', (sdp: string) => sdp.replaceAll(/a=ssrc:.*\r\n/g, '')],
] as const) {
  test(`an offer ${name} connects, and is heard`, async (t) => {
    const one = openSide(t, { source: makeTone(440) })
    const other = openSide(t)
    await meet(one.side, other.side, { offer: change })
    await Promise.all([one.connected, other.connected])
    one.side.speak()
    await hearTone(other.side)
    assertHeard(await other.side.close(), 440)
  })
}
