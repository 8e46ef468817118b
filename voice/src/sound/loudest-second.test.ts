import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoudestSecond } from './loudest-second.ts'
import { OpusDecoder, samplesInPacket, silentPacket } from './opus.ts'
import { Echo, makeBeep, makeSilence, makeTone, playRound, type SoundSource } from './sources.ts'

/** What is heard of a source that goes through Opus. */
function hear(source: SoundSource, packets = 100) {
  const loudest = new LoudestSecond()
  const decoder = new OpusDecoder()
  for (let index = 0; index < packets; index++) {
    const samples = decoder.decode(source.next())
    if (samples) loudest.add(samples, index * 960)
  }
  source.close()
  decoder.close()
  return loudest.measure()
}

for (const hz of [60, 400, 440, 523, 1234, 3001, 7777]) {
  test(`a tone of ${hz} Hz is heard as ${hz} Hz`, () => {
    const heard = hear(makeTone(hz))
    assert.equal(heard.hz, hz)
    assert.ok(heard.level > -11 && heard.level < -8, String(heard.level))
  })
}

test('a beep is heard by its frequency, and is quieter than a tone', () => {
  const heard = hear(makeBeep(440))
  assert.ok(Math.abs((heard.hz ?? 0) - 440) <= 2, String(heard.hz))
  assert.ok(heard.level > -18 && heard.level < -14, String(heard.level))
})

test('silence, nothing and what is below 50 dB have no frequency', () => {
  assert.deepEqual(hear(makeSilence()), { hz: null, level: -100 })
  assert.deepEqual(new LoudestSecond().measure(), { hz: null, level: -100 })
  const quiet = new LoudestSecond()
  quiet.add(
    Int16Array.from({ length: 48_000 }, (_, at) => 100 * Math.sin((2 * Math.PI * 440 * at) / 48_000)),
    0,
  )
  const { hz, level } = quiet.measure()
  assert.equal(hz, null)
  assert.ok(level > -54 && level < -52, String(level))
})

test('the loudest second counts, wherever it is and however long the silence beside it', () => {
  const loudest = new LoudestSecond()
  const tone = (hz: number, loudness: number) =>
    Int16Array.from({ length: 60_000 }, (_, at) => loudness * Math.sin((2 * Math.PI * hz * at) / 48_000))
  loudest.add(tone(300, 3000), 0)
  loudest.add(tone(700, 9000), 10_000_000)
  loudest.add(tone(500, 3000), 10_100_000)
  assert.equal(loudest.measure().hz, 700)
})

test('a short sound is measured with the silence around it, wherever it is in the call', () => {
  const beep = Int16Array.from({ length: 9600 }, (_, at) => 16_384 * Math.sin((2 * Math.PI * 440 * at) / 48_000))
  for (const silence of [0, 30_000, 96_000]) {
    const loudest = new LoudestSecond()
    loudest.add(new Int16Array(silence), 0)
    loudest.add(beep, silence)
    loudest.add(new Int16Array(96_000), silence + beep.length)
    // A fifth of a second at -9 dB.
    assert.deepEqual(loudest.measure(), { hz: 440, level: -16 }, `${silence} samples before it`)
  }
})

test('a sound of half a second is measured as it is', () => {
  const loudest = new LoudestSecond()
  loudest.add(
    Int16Array.from({ length: 24_000 }, (_, at) => 16_384 * Math.sin((2 * Math.PI * 440 * at) / 48_000)),
    0,
  )
  assert.deepEqual(loudest.measure(), { hz: 440, level: -9 })
})

test('a file is played round and round', () => {
  const third = Int16Array.from({ length: 16_000 }, (_, at) => 9000 * Math.sin((2 * Math.PI * 600 * at) / 48_000))
  assert.equal(hear(playRound(third), 120).hz, 600)
})

test('an echo says what it heard, and keeps no more than a fifth of a second', () => {
  const echo = new Echo()
  assert.equal(echo.next(), silentPacket)
  for (let index = 0; index < 25; index++) echo.hear(Uint8Array.of(index))
  const said = Array.from({ length: 11 }, () => echo.next())
  assert.deepEqual(
    said.slice(0, 10).map(([first]) => first),
    [15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
  )
  assert.equal(said[10], silentPacket)
})

for (const [packet, samples] of [
  [[0xf8, 0xff], 960],
  [[0xe0, 0xff], 120],
  [[0x08, 0], 960],
  [[0x18, 0], 2880],
  [[0x78, 0], 960],
  [[0xf9, 0], 1920],
  [[0xfb, 6], 5760],
  [[0xfb, 7], undefined],
  [[0xfb, 0], undefined],
  [[], undefined],
] as const) {
  test(`the packet ${JSON.stringify(packet)} lasts ${samples} samples`, () => {
    assert.equal(samplesInPacket(Uint8Array.from(packet)), samples)
  })
}

test('a broken packet is no sound, and the next one is', () => {
  const decoder = new OpusDecoder()
  assert.equal(decoder.decode(Uint8Array.of()), undefined)
  assert.equal(decoder.decode(Uint8Array.of(0xff, 0x3f, 1, 2, 3)), undefined)
  assert.equal(decoder.decode(silentPacket)?.length, 960)
})
