/** What a person can put right: its message is the whole of what they are shown. */
export class VoiceError extends Error {
  override name = 'VoiceError'
}
