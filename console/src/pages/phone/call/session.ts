export interface Session {
  readonly sdp_type: 'offer' | 'answer'
  readonly sdp: string
}

/**
 * What a phone says about its media: one audio stream, bundled, with ICE, DTLS and Opus, as browsers do. Addresses are of the blocks
 * for documentation, because there is no sound yet; a real connection will write this text in its place.
 */
export function describeSession(kind: Session['sdp_type']): Session {
  const drawn = crypto.getRandomValues(new Uint8Array(48))
  const hex = [...drawn].map((byte) => byte.toString(16).padStart(2, '0'))
  const fingerprint = hex.slice(0, 32).join(':').toUpperCase()
  const [ssrc = 1, session = 1] = new Uint32Array(drawn.buffer, 0, 2)
  const lines = [
    'v=0',
    `o=- ${session} 2 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    'a=group:BUNDLE 0',
    'a=msid-semantic: WMS phone',
    'm=audio 54213 UDP/TLS/RTP/SAVPF 111 126',
    'c=IN IP4 203.0.113.24',
    'a=rtcp:9 IN IP4 0.0.0.0',
    'a=candidate:1 1 udp 2122260223 192.0.2.17 54213 typ host generation 0',
    `a=ice-ufrag:${hex.slice(0, 4).join('')}`,
    `a=ice-pwd:${hex.slice(4, 16).join('')}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${kind === 'offer' ? 'actpass' : 'active'}`,
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=rtpmap:126 telephone-event/8000',
    `a=ssrc:${ssrc} cname:${hex.slice(40, 48).join('')}`,
  ]
  return { sdp_type: kind, sdp: `${lines.join('\r\n')}\r\n` }
}
