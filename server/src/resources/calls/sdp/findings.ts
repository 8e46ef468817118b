import type { CallsTable } from '../../../db/tables.ts'
import { type Attribute, AudioSection } from './audio-section.ts'
import { type Finding, type FindingKind, findingKinds } from './finding-kinds.ts'

/** A description that is checked. */
export interface Description {
  readonly sdp: string
  readonly isOffer: boolean
  /** Of an answer, the offer that it answers, if that is known. */
  readonly offer?: string | undefined
}

/** What is found, and the line, where there is one. */
type Fault = readonly [kind: FindingKind, line?: number]

type Check = (audio: AudioSection, description: Description) => Fault | undefined

/** A fault makes one finding, its own. */
const checks: readonly Check[] = [
  checkCandidates,
  checkLineEnd,
  checkSources,
  checkRtcpMux,
  checkSetup,
  checkFingerprints,
  checkIceCredentials,
  checkOpus,
  checkPacketTime,
  checkKeys,
]

/** What is wrong with a description of a call, which was found to be well-formed. */
export function inspectDescription(description: Description): Omit<Finding, 'side'>[] {
  const audio = new AudioSection(description.sdp)
  return checks.flatMap((check) => {
    const [kind, line] = check(audio, description) ?? []
    return kind ? [{ ...kind, ...(line !== undefined && { line }) }] : []
  })
}

type CallFacts = Pick<CallsTable, 'direction' | 'user_session' | 'business_session' | 'end_reason'>

/** What is wrong with the sound of a call: with the user's description, the business's, and what was heard. */
export function findFindings(call: CallFacts): Finding[] {
  const { user_session, business_session, end_reason } = call
  const userOffers = call.direction === 'USER_INITIATED'
  const offer = (userOffers ? user_session : business_session)?.sdp
  const inspect = (side: 'user' | 'business', sdp: string, isOffer: boolean) =>
    inspectDescription({ sdp, isOffer, offer: isOffer ? undefined : offer }).map((finding) => ({ side, ...finding }))
  return [
    ...(user_session ? inspect('user', user_session.sdp, userOffers) : []),
    ...(business_session ? inspect('business', business_session.sdp, !userOffers) : []),
    ...(end_reason === null ? [] : [{ side: 'media' as const, ...findingKinds[end_reason] }]),
  ]
}

function checkCandidates(audio: AudioSection, { offer }: Description): Fault | undefined {
  const candidates = audio.ofMedia('candidate')
  const [first] = candidates
  if (!first) {
    const offersNone = offer !== undefined && new AudioSection(offer).ofMedia('candidate').length === 0
    return [offersNone ? findingKinds.no_candidates_at_all : findingKinds.no_candidates]
  }
  // <foundation> <component> <transport> <priority> <address> …
  const isLocal = ({ value }: Attribute) => value.split(' ')[4]?.toLowerCase().endsWith('.local')
  return candidates.every(isLocal) ? [findingKinds.local_candidates, first.line] : undefined
}

function checkLineEnd(audio: AudioSection, { sdp }: Description): Fault | undefined {
  return sdp.endsWith('\n') ? undefined : [findingKinds.no_line_end, audio.lineCount]
}

/** A source and its repetition for repairs (a group FID) are one. */
function checkSources(audio: AudioSection): Fault | undefined {
  const repeated = new Map(
    audio.ofMedia('ssrc-group').flatMap(({ value }) => {
      const [semantics, first, ...others] = value.split(' ')
      return semantics === 'FID' && first !== undefined ? others.map((other) => [other, first] as const) : []
    }),
  )
  const sources = audio.ofMedia('ssrc').map(({ value, line }) => {
    const id = value.split(' ')[0] ?? ''
    return { id: repeated.get(id) ?? id, line }
  })
  const [first] = sources
  if (!first) return [findingKinds.no_ssrc]
  const second = sources.find(({ id }) => id !== first.id)
  return second && [findingKinds.many_ssrc, second.line]
}

function checkRtcpMux(audio: AudioSection): Fault | undefined {
  return audio.ofMedia('rtcp-mux').length > 0 ? undefined : [findingKinds.no_rtcp_mux]
}

function checkSetup(audio: AudioSection, { isOffer }: Description): Fault | undefined {
  const setup = audio.ofMedia('setup')[0] ?? audio.ofSession('setup')[0]
  if (!setup) return [findingKinds.no_setup]
  const right = isOffer ? ['actpass'] : ['active', 'passive']
  return right.includes(setup.value.toLowerCase()) ? undefined : [findingKinds.wrong_setup, setup.line]
}

function checkFingerprints(audio: AudioSection): Fault | undefined {
  const fingerprints = [...audio.ofSession('fingerprint'), ...audio.ofMedia('fingerprint')]
  if (fingerprints.length === 0) return [findingKinds.no_fingerprint]
  const wrong = fingerprints.find(({ value }) => !/^sha-256 /i.test(value))
  return wrong && [findingKinds.wrong_fingerprint, wrong.line]
}

function checkIceCredentials(audio: AudioSection): Fault | undefined {
  const isGiven = (name: string) => [...audio.ofMedia(name), ...audio.ofSession(name)].some(({ value }) => value !== '')
  return isGiven('ice-ufrag') && isGiven('ice-pwd') ? undefined : [findingKinds.no_ice_credentials]
}

interface Codec {
  readonly clockRate: string
  readonly channels: string | undefined
  readonly line: number
}

/** The codecs of a name that the section offers. Names are compared without case: some stacks write OPUS. */
function listCodecs(audio: AudioSection, wanted: string): Codec[] {
  return audio.ofMedia('rtpmap').flatMap(({ value, line }) => {
    const [payloadType = '', encoding = ''] = value.split(' ')
    const [name = '', clockRate = '', channels] = encoding.split('/')
    const isWanted = name.toLowerCase() === wanted && audio.formats.has(payloadType)
    return isWanted ? [{ clockRate, channels, line }] : []
  })
}

function checkOpus(audio: AudioSection): Fault | undefined {
  const found = listCodecs(audio, 'opus')
  if (found.some(({ clockRate, channels }) => clockRate === '48000' && channels === '2')) return undefined
  return found[0] ? [findingKinds.wrong_opus, found[0].line] : [findingKinds.no_opus]
}

function checkPacketTime(audio: AudioSection): Fault | undefined {
  const wrong = audio.ofMedia('ptime').find(({ value }) => Number(value) !== 20)
  return wrong && [findingKinds.wrong_ptime, wrong.line]
}

/** Keys are sent as telephone-events. */
function checkKeys(audio: AudioSection): Fault | undefined {
  const found = listCodecs(audio, 'telephone-event')
  if (found.some(({ clockRate }) => clockRate === '8000')) return undefined
  return found[0] ? [findingKinds.wrong_dtmf, found[0].line] : [findingKinds.no_dtmf]
}
