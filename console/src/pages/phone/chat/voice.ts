import { openMicrophone } from '../microphone.ts'
import { toOgg } from './ogg.ts'

/** A voice message while it is recorded. */
export interface Recording {
  readonly startedAt: number
  /** Ends it; the file as phones send it, Opus in Ogg. Undefined when nothing was recorded. */
  stop(): Promise<File | undefined>
}

const ogg = 'audio/ogg;codecs=opus'
const webm = 'audio/webm;codecs=opus'

/** Records from the microphone. Browsers that cannot write Ogg write WebM, out of which the same sound is put into Ogg. */
export async function startRecording(): Promise<Recording> {
  const stream = await openMicrophone()
  const type = MediaRecorder.isTypeSupported(ogg) ? ogg : webm
  const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: 24_000 })
  const parts: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
  recorder.start()
  return {
    startedAt: Date.now(),
    async stop() {
      const ended = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }))
      recorder.stop()
      await ended
      for (const track of stream.getTracks()) track.stop()
      const recorded = new Uint8Array(await new Blob(parts).arrayBuffer())
      if (recorded.length === 0) return undefined
      const bytes = type === ogg ? recorded : toOgg(recorded)
      return new File([bytes as BlobPart], 'voice.ogg', { type: 'audio/ogg' })
    },
  }
}
