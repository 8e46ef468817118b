/** A call with sound. One of `audio`, `record`, `dtmf`, `for` and `loss` is given: a call without any of them has no sound. */
export interface SoundCallRequest {
  /** The id of the phone number that is called; the world's first when left out. */
  readonly to?: string | undefined
  /** What the user says: the path of a file, Ogg Opus or WAV (PCM, 16 bit), which is played round and round. Silence when left out. */
  readonly audio?: string | undefined
  /** Where what the user hears is written, as Ogg Opus. */
  readonly record?: string | undefined
  /** Keys that the user presses, half a second after the connection: `'42#'`. */
  readonly dtmf?: string | undefined
  /** How long the user stays, from the connection on: `'5s'`, or milliseconds. The length of `audio`, or 5 s, when left out. */
  readonly for?: string | number | undefined
  /** The share of the user's packets that is lost, in percent. */
  readonly loss?: number | undefined
  /** The addresses of this machine that the call uses: 127.0.0.1 when the server is on it, otherwise all of them. */
  readonly addresses?: readonly string[] | undefined
}

/** How a call with sound went. */
export interface SoundCallResult {
  readonly call_id: string
  /** Who ended it; `lost` when its connection was lost. */
  readonly by: 'user' | 'business' | 'lost'
  readonly connected: boolean
  /** What went wrong after the connection. */
  readonly problem?: string
  readonly sent: { readonly packets: number }
  /** `hz` is the loudest frequency of the loudest second, null for silence; `level` is how loud that second is, in dBFS. */
  readonly heard: {
    readonly packets: number
    readonly lost: number
    readonly hz: number | null
    readonly level: number
  }
}
