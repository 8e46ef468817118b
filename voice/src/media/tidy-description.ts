/** A description of the other side, in the form that the library takes. */
export function tidyDescription(sdp: string): string {
  const ended = /[\r\n]$/.test(sdp) ? sdp : `${sdp}\r\n`
  return nameStream(keepOneFingerprint(awaitCandidates(ended)))
}

/** A side without candidates connects by itself, as soon as it knows ours: it must not say that it has named all that there are. */
function awaitCandidates(sdp: string): string {
  return sdp.includes('a=candidate:') ? sdp : sdp.replaceAll(/a=end-of-candidates\r?\n/g, '')
}

/** Calls go by sha-256. Of several the library would take the longest, which need not be right. */
function keepOneFingerprint(sdp: string): string {
  return /^a=fingerprint:sha-256 /im.test(sdp) ? sdp.replaceAll(/^a=fingerprint:(?!sha-256 ).*\r?\n/gim, '') : sdp
}

/** The library needs a name for each stream; whoever describes one alone may leave it out. */
function nameStream(sdp: string): string {
  return /^a=mid:/m.test(sdp) || sdp.match(/^m=/gm)?.length !== 1 ? sdp : `${sdp}a=mid:0\r\n`
}
