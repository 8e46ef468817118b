/** What is known of the media of a call. */
export interface MediaFacts {
  /** Why there is none, or no more, in words. */
  readonly refusal: string | undefined
  /** Whether one of the two sides, once both are known, has named an address. */
  readonly hasCandidates: boolean
  /** As the browser calls it. */
  readonly link: 'new' | 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed'
  /** For how long the business has sent nothing. */
  readonly silentSeconds: number
  /** After how much of that the phone ends the call, if it does. */
  readonly timeout: number | undefined
}

/** After so much silence somebody wonders. */
const silenceSeconds = 20

export const noOffer = 'The business sent no session description: this call has no sound.'

/** What stands in the way of hearing each other, in words. */
export function findMediaProblem({
  refusal,
  hasCandidates,
  link,
  silentSeconds,
  timeout,
}: MediaFacts): string | undefined {
  if (refusal !== undefined) return refusal
  if (!hasCandidates) return 'The business sent no candidates, and neither could this phone.'
  if (link === 'disconnected' || link === 'failed') return 'The connection to the business was lost.'
  const shown = Math.min(silenceSeconds, timeout ?? silenceSeconds)
  return silentSeconds >= shown ? `No sound from the business for ${shown} seconds.` : undefined
}

/** Why the phone ends the call by itself, if it has to. */
export function findReasonToEnd({ link, silentSeconds, timeout }: MediaFacts): 'lost' | 'no_media' | undefined {
  if (link === 'failed') return 'lost'
  return timeout !== undefined && silentSeconds >= timeout ? 'no_media' : undefined
}

/** Counts how long nothing has come, from how many packets have come so far. */
export class SilenceWatch {
  #packets = 0
  #since: number

  constructor(now: number) {
    this.#since = now
  }

  /** The seconds since the last packet, or since the beginning; the times are milliseconds. */
  note(packets: number, now: number): number {
    if (packets !== this.#packets) {
      this.#packets = packets
      this.#since = now
    }
    return (now - this.#since) / 1000
  }
}

/** A browser refuses a description whose last line has no end, which others send. */
export function endLastLine(sdp: string): string {
  return sdp.endsWith('\n') ? sdp : `${sdp}\r\n`
}

export function hasCandidate(sdp: string | undefined): boolean {
  return sdp !== undefined && /^a=candidate:/m.test(sdp)
}
