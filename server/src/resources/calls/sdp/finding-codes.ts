/** What a finding is about: the description of a side, or what was heard. */
export const findingSides = ['user', 'business', 'media'] as const
export const findingLevels = ['error', 'warning'] as const
type FindingLevel = (typeof findingLevels)[number]

interface FindingKind {
  readonly level: FindingLevel
  /** What is wrong, and what to do. */
  readonly message: string
}

/** THE TABLE: what can be wrong with the sound of a call. */
const kinds = {
  no_candidates: {
    level: 'warning',
    message:
      'The description has no candidates, so this side is found only if it reaches the other one first; gather candidates before you send it.',
  },
  local_candidates: {
    level: 'warning',
    message:
      'Every candidate is a .local name, which other machines cannot resolve; ask for the microphone before you gather candidates, or offer addresses.',
  },
  no_line_end: {
    level: 'warning',
    message: 'The last line has no end, and some stacks refuse that; end every line with CRLF.',
  },
  no_ssrc: {
    level: 'warning',
    message: 'The audio has no a=ssrc, and some stacks then hear nothing; name the source of the audio by a=ssrc.',
  },
  many_ssrc: {
    level: 'error',
    message: 'The audio has more than one source; send one source, with one a=ssrc.',
  },
  no_rtcp_mux: {
    level: 'error',
    message: 'The audio has no a=rtcp-mux; send RTP and RTCP over one port, and say so by a=rtcp-mux.',
  },
  no_setup: {
    level: 'error',
    message:
      'The description has no a=setup, so nobody begins the DTLS handshake; write actpass in an offer, and active or passive in an answer.',
  },
  wrong_setup: {
    level: 'error',
    message: 'The a=setup does not fit; write actpass in an offer, and active or passive in an answer.',
  },
  no_fingerprint: {
    level: 'error',
    message:
      'The description has no a=fingerprint, so nobody can trust its certificate; write its sha-256 fingerprint.',
  },
  wrong_fingerprint: {
    level: 'error',
    message: 'A fingerprint is not sha-256; write the sha-256 fingerprint of the certificate, and no other.',
  },
  no_ice_credentials: {
    level: 'error',
    message: 'The a=ice-ufrag or the a=ice-pwd is missing, so no connection is possible; write both.',
  },
  no_opus: {
    level: 'error',
    message: 'The audio has no opus among its codecs; offer opus/48000/2.',
  },
  wrong_opus: {
    level: 'error',
    message: 'The opus of the audio is not 48000/2; write opus/48000/2.',
  },
  wrong_ptime: {
    level: 'error',
    message: 'The a=ptime is not 20; send packets of 20 ms.',
  },
  no_dtmf: {
    level: 'warning',
    message: 'The audio has no telephone-event, so no keys can be pressed; offer telephone-event/8000.',
  },
  wrong_dtmf: {
    level: 'error',
    message: 'No telephone-event of the audio has a clock of 8000; offer telephone-event/8000.',
  },
  no_media: {
    level: 'error',
    message: 'The phone ended the call because no sound came; send RTP as soon as the call is accepted.',
  },
  lost: {
    level: 'error',
    message:
      'The phone ended the call because its connection to the business was lost; check the network, and that the process of the business still runs.',
  },
} as const satisfies Readonly<Record<string, FindingKind>>

export type FindingCode = keyof typeof kinds

export const findingCodes = Object.keys(kinds) as FindingCode[]

export interface Finding {
  readonly side: (typeof findingSides)[number]
  readonly code: FindingCode
  readonly level: FindingLevel
  /** The line of the description, from 1. */
  readonly line?: number
  readonly message: string
}

export function makeFinding(side: Finding['side'], code: FindingCode, line?: number): Finding {
  return { side, code, level: kinds[code].level, ...(line !== undefined && { line }), message: kinds[code].message }
}
