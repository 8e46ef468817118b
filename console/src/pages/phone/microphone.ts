import { describeRefusal, insecure } from './microphone-words.ts'

/** Asks for the microphone; throws in words when the browser does not give it. */
export async function openMicrophone(): Promise<MediaStream> {
  if (!navigator.mediaDevices) throw new Error(insecure)
  return navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } }).catch((error: DOMException) => {
    throw new Error(describeRefusal(error.name, error.message))
  })
}
