import { readFile, stat } from 'node:fs/promises'
import { VoiceError } from '../voice-error.ts'
import { readOgg } from './ogg.ts'
import { OpusDecoder, samplesInPacket } from './opus.ts'
import { mixChannels, resample } from './resample.ts'
import { type Samples, sampleRate } from './samples.ts'
import { readWav } from './wav.ts'

/** A minute of the largest form takes about 6 MB. */
const mostBytes = 64 * 1024 * 1024
const mostMinutes = 30
/** No packet of Opus is shorter than 2.5 ms. */
const mostPackets = mostMinutes * 60 * 400
/** Far more than any sound card has. */
const mostRate = 768_000

/** Reads a sound file for a call: Ogg Opus, or WAV with 16 bits. */
export async function readSoundFile(path: string): Promise<Samples> {
  const bytes = await readBytes(path)
  const sound = readSound(bytes)
  if (typeof sound === 'string') throw new VoiceError(`${path} ${sound}: give a file in Ogg Opus or WAV (PCM, 16 bit)`)
  return sound
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path)
    if (size > mostBytes) throw new VoiceError(`${path} has ${size} bytes: give a sound file of at most ${mostBytes}`)
    return await readFile(path)
  } catch (error) {
    if (error instanceof VoiceError) throw error
    throw new VoiceError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}): give a sound file`)
  }
}

/** The sound of a file; otherwise why there is none, to follow the name of the file. */
export function readSound(bytes: Uint8Array): Samples | string {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  const sound = start.startsWith('OggS')
    ? readOggOpus(bytes)
    : start.startsWith('RIFF') && start.endsWith('WAVE')
      ? readWavSound(bytes)
      : 'is no sound file that calls can carry'
  if (typeof sound !== 'string' && sound.length === 0) return 'has no sound in it'
  return sound
}

function readWavSound(bytes: Uint8Array): Samples | string {
  const wav = readWav(bytes)
  if (typeof wav === 'string') return wav
  if (wav.rate > mostRate) return `says that it has ${wav.rate} samples a second`
  if (wav.samples.length / wav.channels / wav.rate > mostMinutes * 60) return tooLong
  return resample(mixChannels(wav.samples, wav.channels), wav.rate)
}

const tooLong = `lasts longer than ${mostMinutes} minutes`

function readOggOpus(bytes: Uint8Array): Samples | string {
  const ogg = readOgg(bytes, mostPackets + 2)
  const [head, , ...packets] = ogg?.packets ?? []
  if (!ogg || head === undefined) return 'is a broken Ogg file'
  if (Buffer.from(head.subarray(0, 8)).toString('latin1') !== 'OpusHead' || head.length < 19) {
    return 'is an Ogg file without Opus'
  }
  if (packets.length > mostPackets) return tooLong
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  if (view.getUint8(18) !== 0) return 'has more channels than a call'
  const preSkip = view.getUint16(10, true)
  const length = packets.reduce((sum, packet) => sum + (samplesInPacket(packet) ?? 0), 0)
  if (length > mostMinutes * 60 * sampleRate) return tooLong
  const all = new Int16Array(length)
  const decoder = new OpusDecoder()
  let at = 0
  for (const packet of packets) {
    const samples = decoder.decode(packet)
    if (samples) all.set(samples, at)
    at += samplesInPacket(packet) ?? 0
  }
  decoder.close()
  // The last page says where the sound ends; what the encoder added behind it is cut off.
  const end = ogg.end > 0n ? Math.min(Number(ogg.end), length) : length
  return all.subarray(Math.min(preSkip, end), end)
}
