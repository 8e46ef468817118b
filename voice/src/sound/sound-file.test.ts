import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findFrequency } from './frequency.ts'
import { firstPage, writePage } from './ogg.ts'
import { OpusEncoder } from './opus.ts'
import { Recording } from './recording.ts'
import { readSound, readSoundFile } from './sound-file.ts'

interface WavForm {
  readonly rate: number
  readonly channels?: number
  readonly bits?: number
  readonly extensible?: boolean
  readonly seconds?: number
  readonly hz?: number
}

function writeWav({ rate, channels = 1, bits = 16, extensible = false, seconds = 1, hz = 440 }: WavForm): Buffer {
  const frames = Math.round(rate * seconds)
  const format = Buffer.alloc(extensible ? 40 : 16)
  format.writeUInt16LE(extensible ? 0xfffe : 1, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(rate, 4)
  format.writeUInt16LE(bits, 14)
  if (extensible) format.writeUInt16LE(1, 24)
  const data = Buffer.alloc(frames * channels * 2)
  for (let index = 0; index < frames * channels; index++) {
    const time = Math.floor(index / channels) / rate
    data.writeInt16LE(Math.round(10_000 * Math.sin(2 * Math.PI * hz * time)), index * 2)
  }
  // A list of notes with an odd length, as editors write it, between the format and the sound.
  const notes = Buffer.concat([Buffer.from('LIST\x03\0\0\0abc'), Buffer.alloc(1)])
  const body = Buffer.concat([chunk('fmt ', format), notes, chunk('data', data)])
  return Buffer.concat([Buffer.from('RIFF'), sizeOf(body.length + 4), Buffer.from('WAVE'), body])
}

function chunk(name: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name), sizeOf(content.length), content])
}

function sizeOf(length: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(length)
  return size
}

for (const form of [
  { rate: 48_000 },
  { rate: 44_100, channels: 2 },
  { rate: 16_000, hz: 1234 },
  { rate: 8000, channels: 2, extensible: true, hz: 3000 },
  { rate: 96_000, hz: 17 * 29 },
] as const satisfies readonly WavForm[]) {
  test(`a WAV file keeps its length and its tone: ${JSON.stringify(form)}`, () => {
    const sound = readSound(writeWav(form))
    if (typeof sound === 'string') return assert.fail(sound)
    assert.ok(Math.abs(sound.length - 48_000) <= 1, String(sound.length))
    assert.equal(findFrequency(sound), 'hz' in form ? form.hz : 440)
  })
}

test('what is too high for a call does not come back as another tone', () => {
  const sound = readSound(writeWav({ rate: 96_000, hz: 40_000 }))
  if (typeof sound === 'string') return assert.fail(sound)
  assert.ok(sound.subarray(100, -100).every((sample) => Math.abs(sample) < 50))
})

/** An Ogg file in which each page says that it has 255 packets, without a byte in them. */
function writeEmptyPackets(pages: number): Buffer {
  const head = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')
  const nothing = Array.from({ length: 255 }, () => new Uint8Array())
  return Buffer.concat(
    Array.from({ length: pages }, (_, sequence) =>
      writePage(
        { serial: 1, sequence, flags: sequence === 0 ? firstPage : 0, granule: 0n },
        sequence === 0 ? [head] : nothing,
      ),
    ),
  )
}

const wav = writeWav({ rate: 48_000 })
for (const [name, bytes, problem] of [
  ['text', Buffer.from('Hello, this is no sound'), /no sound file/],
  ['nothing', Buffer.alloc(0), /no sound file/],
  ['a WAV file of 8 bits', writeWav({ rate: 8000, bits: 8 }), /another form than PCM with 16 bits/],
  ['a WAV file without sound', wav.subarray(0, 36), /without sound|cut off/],
  ['a WAV file with an empty sound', writeWav({ rate: 8000, seconds: 0 }), /no sound in it/],
  ['an Ogg file that is cut off', Buffer.from('OggS\0\0\0\0'), /broken Ogg/],
  [
    'a WAV file of a rate that nothing has',
    writeWav({ rate: 4_000_000_000, seconds: 1e-6 }),
    /4000000000 samples a second/,
  ],
  ['an Ogg file of countless empty packets', writeEmptyPackets(3000), /30 minutes/],
  ['a WAV file of 31 minutes', writeWav({ rate: 100, seconds: 31 * 60 }), /30 minutes/],
] as const) {
  test(`${name} is refused with a reason`, () => {
    const sound = readSound(bytes)
    assert.match(typeof sound === 'string' ? sound : `${sound.length} samples`, problem)
  })
}

test('an address that leads nowhere is named', async () => {
  await assert.rejects(readSoundFile('/nowhere/hello.ogg'), /\/nowhere\/hello\.ogg cannot be read \(ENOENT\)/)
  assert.throws(() => new Recording('/nowhere/heard.ogg'), /\/nowhere\/heard\.ogg cannot be written \(ENOENT\)/)
})

function encodeTone(hz: number, packets: number): Uint8Array[] {
  const encoder = new OpusEncoder()
  let at = 0
  return Array.from({ length: packets }, () =>
    encoder.encode(Int16Array.from({ length: 960 }, () => 8000 * Math.sin((2 * Math.PI * hz * at++) / 48_000))),
  )
}

test('a recording is an Ogg Opus file with silence where no packet came, as long as the sound, and readable', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'heard.ogg')
  const recording = new Recording(path)
  const packets = encodeTone(523, 100)
  for (const [index, packet] of packets.entries()) {
    // A tenth of a second is missing, and behind it 30 ms that are no whole packet.
    const at = index * 960 + (index < 50 ? 0 : 4800 + 1440)
    recording.add(packet, at)
  }
  recording.close()
  const sound = await readSoundFile(path)
  assert.equal(sound.length, 100 * 960 + 4800 + 1440)
  assert.equal(findFrequency(sound.subarray(0, 48_000)), 523)
  const gap = sound.subarray(48_000 + 960, 48_000 + 4800)
  assert.ok(
    gap.every((sample) => Math.abs(sample) < 200),
    'silence',
  )
  assert.equal(findFrequency(sound.subarray(48_000 + 4800 + 1440)), 523)
  const bytes = await readFile(path)
  assert.equal(bytes.readUInt8(bytes.lastIndexOf('OggS') + 5) & 4, 4, 'the last page is marked')
  // One bit that is wrong is noticed.
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1
  await writeFile(path, bytes)
  await assert.rejects(readSoundFile(path), /is a broken Ogg file/)
})

test('a recording of long packets fits into its pages', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'heard.ogg')
  const recording = new Recording(path)
  // 2.5 ms each, as some send them: 400 in a second, and more bytes in each than a segment holds.
  const packet = Buffer.concat([Uint8Array.of(0xe0), Buffer.alloc(300, 0xff)])
  for (let index = 0; index < 500; index++) recording.add(packet, index * 120)
  recording.close()
  assert.equal((await readSoundFile(path)).length, 500 * 120)
})

test('the last page of a recording of whole seconds has sound', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'heard.ogg')
  const recording = new Recording(path)
  for (const [index, packet] of encodeTone(523, 100).entries()) recording.add(packet, index * 960)
  recording.close()
  const bytes = await readFile(path)
  const last = bytes.lastIndexOf('OggS')
  assert.equal(bytes.readUInt8(last + 5), 4, 'the mark of the last page')
  assert.equal(Number(bytes.readBigInt64LE(last + 6)), 96_000)
  assert.ok(bytes.readUInt8(last + 26) > 0, 'packets')
})
