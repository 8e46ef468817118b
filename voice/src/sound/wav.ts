/** What a WAV file holds, its channels still interleaved. */
interface Wav {
  readonly rate: number
  readonly channels: number
  readonly samples: Int16Array
}

const plain = 1
const extensible = 0xfffe

/** Reads a WAV file of 16-bit samples; otherwise why it cannot be read, to follow the name of the file. */
export function readWav(file: Uint8Array): Wav | string {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  let format: { readonly rate: number; readonly channels: number } | undefined
  for (let at = 12; at + 8 <= file.length; ) {
    const name = Buffer.from(file.subarray(at, at + 4)).toString('latin1')
    const length = view.getUint32(at + 4, true)
    const from = at + 8
    if (name === 'fmt ') {
      if (length < 16 || from + length > file.length) return 'is cut off in its format'
      const kind = view.getUint16(from, true)
      const bits = view.getUint16(from + 14, true)
      const isPlain =
        kind === plain || (kind === extensible && length >= 26 && view.getUint16(from + 24, true) === plain)
      if (!isPlain || bits !== 16) return 'is a WAV file of another form than PCM with 16 bits'
      format = { channels: view.getUint16(from + 2, true), rate: view.getUint32(from + 4, true) }
    }
    if (name === 'data') {
      if (!format || format.channels === 0 || format.rate === 0) return 'is a WAV file without a format'
      // Writers into a pipe do not know the length, and say the greatest.
      const end = Math.min(from + length, file.length)
      const samples = new Int16Array((end - from) >> 1)
      for (let index = 0; index < samples.length; index++) samples[index] = view.getInt16(from + 2 * index, true)
      return { ...format, samples }
    }
    at = from + length + (length % 2)
  }
  return 'is a WAV file without sound'
}
