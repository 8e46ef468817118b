/** A tone of some seconds as a WAV file: PCM, 16 bit, mono, 16 kHz. */
export function writeTone(hz: number, seconds: number): Uint8Array {
  const rate = 16_000
  const count = rate * seconds
  const file = Buffer.alloc(44 + count * 2)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + count * 2, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  for (const [value, place] of [
    [1, 20],
    [1, 22],
    [2, 32],
    [16, 34],
  ] as const) {
    file.writeUInt16LE(value, place)
  }
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.write('data', 36)
  file.writeUInt32LE(count * 2, 40)
  for (let i = 0; i < count; i++) {
    file.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * hz * i) / rate)), 44 + i * 2)
  }
  return file
}
