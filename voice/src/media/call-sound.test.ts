import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Recording } from '../sound/recording.ts'
import { readSoundFile } from '../sound/sound-file.ts'
import { makeSilence, makeTone } from '../sound/sources.ts'
import { CallSound, type CallSoundOptions } from './call-sound.ts'

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
  while (side.heardPackets < 60) await new Promise((resolve) => setTimeout(resolve, 10))
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
  const [mine, theirs] = await Promise.all([one.side.close(), other.side.close()])
  assert.equal(mine.heard.hz, 523)
  assert.equal(theirs.heard.hz, 440)
  assert.deepEqual([mine.heard.lost, theirs.heard.lost], [0, 0])
  assert.equal(theirs.heard.packets, mine.sent.packets)
  assert.deepEqual([one.keys, other.keys], [[], ['4', '#', '4']])
  const sound = await readSoundFile(path)
  assert.equal(sound.length, mine.heard.packets * 960)
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
    assert.equal((await other.side.close()).heard.hz, 440)
  })
}
