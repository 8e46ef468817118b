export interface Finding {
  readonly tone: 'good' | 'bad' | 'warn'
  readonly text: string
}

/** What stands out in a description of media, in words. */
export function inspectSession(sdp: string, isOffer: boolean): Finding[] {
  const lines = sdp.split(/\r?\n/)
  const find = (start: string) => lines.filter((line) => line.startsWith(start))
  const findings: Finding[] = []
  const add = (isGood: boolean, good: string, bad: string, tone: Finding['tone'] = 'bad') =>
    findings.push(isGood ? { tone: 'good', text: good } : { tone, text: bad })
  const candidates = find('a=candidate:')
  add(
    candidates.length > 0,
    `${candidates.length} ICE ${candidates.length === 1 ? 'candidate' : 'candidates'}`,
    'No candidates: the other side does not know where to connect. Wait until they are gathered before you send it.',
  )
  const ssrcs = new Set(find('a=ssrc:').map((line) => /^a=ssrc:(\d+)/.exec(line)?.[1]))
  add(
    ssrcs.size <= 1,
    ssrcs.size === 1 ? 'One SSRC' : 'No SSRC is named',
    `${ssrcs.size} SSRCs: one audio stream has one.`,
  )
  const [fingerprint] = find('a=fingerprint:')
  add(
    fingerprint?.toLowerCase().startsWith('a=fingerprint:sha-256') === true,
    'Fingerprint with sha-256',
    fingerprint ? 'The fingerprint is not sha-256.' : 'No fingerprint: DTLS cannot be set up.',
  )
  const setup = find('a=setup:')[0]?.slice(8)
  add(
    isOffer ? setup === 'actpass' : setup === 'active' || setup === 'passive',
    `Setup ${setup}`,
    `Setup ${setup ?? 'is missing'}: an ${isOffer ? 'offer says actpass' : 'answer says active or passive'}. Is it of the wrong type?`,
  )
  const media = find('m=').map((line) => line.slice(2).split(' ')[0])
  add(
    media.length === 1 && media[0] === 'audio',
    'One audio stream',
    `Streams: ${media.join(', ') || 'none'}; a call has one of audio.`,
  )
  add(/a=rtpmap:\d+ opus\//i.test(sdp), 'Opus is offered', 'Opus is missing.')
  add(lines.includes('a=rtcp-mux'), 'RTP and RTCP share one port', 'a=rtcp-mux is missing.', 'warn')
  return findings
}
