import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
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
    onLost: () => connected.reject(new Error('The connection was lost.')),
    onKey: (key) => keys.push(key),
    ...options,
  })
  t.after(() => side.close())
  // Only some tests wait for it.
  connected.promise.catch(() => undefined)
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

/** Lets so much sound come from now on that its loudest second is whole. */
async function hearTone(side: CallSound): Promise<void> {
  await hearPackets(side, side.heardPackets + 60)
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
  // A whole second without keys in it: between them the tone begins anew, which moves what is measured.
  await Promise.all([hearTone(one.side), hearTone(other.side)])
  const mine = await one.side.close()
  // What was sent last may be under way still.
  await hearPackets(other.side, mine.sent.packets)
  const theirs = await other.side.close()
  assertHeard(mine, 523)
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

const remove = (line: RegExp) => (sdp: string) => sdp.replaceAll(new RegExp(`^${line.source}.*\r\n`, 'gm'), '')

const noCandidates = remove(/a=candidate:/)
const noGroup = remove(/a=group:/)
const noName = remove(/a=(?:group|mid):/)

for (const [name, changes] of [
  ['an end of their last line', { offer: (sdp: string) => sdp.trimEnd(), answer: (sdp: string) => sdp.trimEnd() }],
  ['candidates in the offer', { offer: noCandidates }],
  ['candidates in the answer', { answer: noCandidates }],
  ['a source', { offer: remove(/a=ssrc:/), answer: remove(/a=ssrc:/) }],
  ['a group', { offer: noGroup, answer: noGroup }],
  ['a name of their stream', { offer: noName, answer: noName }],
] as const) {
  test(`descriptions without ${name} connect, and both sides are heard`, async (t) => {
    const one = openSide(t, { source: makeTone(440) })
    const other = openSide(t, { source: makeTone(523) })
    await meet(one.side, other.side, changes)
    await Promise.all([one.connected, other.connected])
    one.side.speak()
    other.side.speak()
    await Promise.all([hearTone(one.side), hearTone(other.side)])
    assertHeard(await one.side.close(), 523)
    assertHeard(await other.side.close(), 440)
  })
}

/** A way to the candidates of a description that hands on each packet as `pass` says; the description with its address instead. */
async function divert(t: TestContext, sdp: string, pass: (packet: Buffer, send: () => void) => void): Promise<string> {
  const [line = ''] = /^a=candidate:.*$/m.exec(sdp) ?? []
  const [, , , , address = '', port = ''] = line.split(' ')
  const entry = createSocket('udp4')
  const exits = new Map<number, Socket>()
  t.after(() => {
    for (const socket of [entry, ...exits.values()]) socket.close()
  })
  entry.on('message', (packet, from) => {
    const exit = exits.get(from.port) ?? createSocket('udp4')
    if (!exits.has(from.port))
      exit.on('message', (reply) => pass(reply, () => entry.send(reply, from.port, from.address)))
    exits.set(from.port, exit)
    pass(packet, () => exit.send(packet, Number(port), address))
  })
  entry.bind(0, '127.0.0.1')
  await once(entry, 'listening')
  return sdp.replaceAll(`${address} ${port} typ`, `127.0.0.1 ${entry.address().port} typ`)
}

const isFirstAnswer = (packet: Buffer) => packet[0] === 22 && packet[13] === 3

test('a handshake whose first answers come late, after it was asked for again, connects', async (t) => {
  const one = openSide(t)
  const other = openSide(t)
  const late: (() => void)[] = []
  let count = 0
  const pass = (packet: Buffer, send: () => void) => {
    if (!isFirstAnswer(packet)) return send()
    count += 1
    late.push(send)
    if (count >= 2) for (const sendLate of late.splice(0)) sendLate()
  }
  const offer = await divert(t, await one.side.offer(), pass)
  await one.side.takeAnswer(await divert(t, await other.side.answer(offer), pass))
  await Promise.all([one.connected, other.connected])
  assert.ok(count >= 2)
})

test('of several fingerprints that of sha-256 counts', async (t) => {
  const one = openSide(t)
  const other = openSide(t)
  const sha512 = `a=fingerprint:sha-512 ${Array.from({ length: 64 }, () => 'AA').join(':')}\r\n`
  await meet(one.side, other.side, { offer: (sdp) => sdp.replace('a=setup:', `${sha512}a=setup:`) })
  await Promise.all([one.connected, other.connected])
})

test('a program ends soon after a call that could not connect', async (t) => {
  const program = `
    import { CallSound } from './call-sound.ts'
    const lost = Promise.withResolvers()
    const open = () => new CallSound({ addresses: ['127.0.0.1'], iceServers: [], onLost: lost.resolve })
    const [one, other] = [open(), open()]
    const answer = await other.answer(await one.offer())
    await one.takeAnswer(answer.replace(/sha-256 ../, 'sha-256 ' + (answer.includes('sha-256 00') ? '01' : '00')))
    await lost.promise
    await Promise.all([one.close(), other.close()])
    process.stdout.write('closed')
    setTimeout(() => process.stdout.write(', and still there'), 20_000).unref()`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  const [code] = await once(child, 'close')
  assert.deepEqual([code, output], [0, 'closed'])
})
