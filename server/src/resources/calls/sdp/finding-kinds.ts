/** What a finding is about: the description of a side, or what was heard. */
export const findingSides = ['user', 'business', 'media'] as const
export const findingLevels = ['error', 'warning'] as const

/** What can be found, in the order in which it is checked; the last two are what a phone says when it ends a call. */
export const findingCodes = [
  'no_candidates',
  'local_candidates',
  'no_line_end',
  'no_ssrc',
  'many_ssrc',
  'no_rtcp_mux',
  'no_setup',
  'wrong_setup',
  'no_fingerprint',
  'wrong_fingerprint',
  'no_ice_credentials',
  'no_opus',
  'wrong_opus',
  'wrong_ptime',
  'no_dtmf',
  'wrong_dtmf',
  'no_media',
  'lost',
] as const
type FindingCode = (typeof findingCodes)[number]

export interface FindingKind {
  readonly code: FindingCode
  /** `error`: nothing is heard, or not what was meant; `warning`: it works with some, or without keys. */
  readonly level: (typeof findingLevels)[number]
  /** What is wrong; what to do. Without a full stop, because a refusal puts the code behind it. */
  readonly message: string
}

/** A finding of a call, as callers get it. */
export interface Finding extends FindingKind {
  readonly side: (typeof findingSides)[number]
  /** The line of the description, from 1. */
  readonly line?: number
}

function warning(code: FindingCode, message: string): FindingKind {
  return { code, level: 'warning', message }
}

function error(code: FindingCode, message: string): FindingKind {
  return { code, level: 'error', message }
}

const rightSetup = 'write actpass in an offer, and active or passive in an answer'

/** THE TABLE: what is wrong, how bad that is, and what to do. A code stands in it once, but for candidates that both sides lack. */
export const findingKinds = {
  no_candidates: warning(
    'no_candidates',
    'There is no a=candidate, so this side connects only if it can reach the other one; send the description when its candidates are gathered',
  ),
  no_candidates_at_all: error(
    'no_candidates',
    'Neither the offer nor the answer has an a=candidate, so the two never connect; send a description when its candidates are gathered',
  ),
  local_candidates: warning(
    'local_candidates',
    'Every candidate is a .local name, which other machines cannot resolve; ask for the microphone before you gather candidates',
  ),
  no_line_end: warning(
    'no_line_end',
    'The last line has no end, and browsers refuse such a description; end every line with CRLF',
  ),
  no_ssrc: warning(
    'no_ssrc',
    'The audio has no a=ssrc, and some stacks hear nothing then; name the source of the audio by a=ssrc',
  ),
  many_ssrc: error('many_ssrc', 'The audio has more than one source; send one, with one id in a=ssrc'),
  no_rtcp_mux: error(
    'no_rtcp_mux',
    'The audio has no a=rtcp-mux; send RTP and RTCP on one port, and say so by a=rtcp-mux',
  ),
  no_setup: error('no_setup', `There is no a=setup, so nobody begins the handshake of DTLS; ${rightSetup}`),
  wrong_setup: error('wrong_setup', `The value of a=setup does not fit; ${rightSetup}`),
  no_fingerprint: error(
    'no_fingerprint',
    'There is no a=fingerprint, so nobody can check the certificate; give its fingerprint by sha-256',
  ),
  wrong_fingerprint: error(
    'wrong_fingerprint',
    'A fingerprint is not by sha-256, and the public platform refuses it, even beside one that is; give the one by sha-256 alone',
  ),
  no_ice_credentials: error(
    'no_ice_credentials',
    'The a=ice-ufrag or the a=ice-pwd is missing, so nobody can connect; give both',
  ),
  no_opus: error('no_opus', 'The audio has no opus among its codecs; add opus/48000/2'),
  wrong_opus: error('wrong_opus', 'The opus of the audio has another rate or number of channels; write opus/48000/2'),
  wrong_ptime: error('wrong_ptime', 'The a=ptime of the audio is not 20; send packets of 20 ms'),
  no_dtmf: warning('no_dtmf', 'The audio has no telephone-event, so keys cannot be pressed; add telephone-event/8000'),
  wrong_dtmf: error(
    'wrong_dtmf',
    'The audio has telephone-event at another clock rate than 8000 alone; add telephone-event/8000',
  ),
  no_media: error(
    'no_media',
    'The phone ended the call because no sound came from the business; send RTP from the moment the call is accepted',
  ),
  lost: error(
    'lost',
    'The phone ended the call because its connection to the business was lost; look whether the process of the business still runs and can be reached',
  ),
} as const satisfies Readonly<Record<FindingCode | 'no_candidates_at_all', FindingKind>>
