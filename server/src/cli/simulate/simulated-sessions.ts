/**
 * The session description of a phone: one audio stream, bundled, with ICE, DTLS and Opus, as in browser calls. Addresses are from the
 * blocks reserved for documentation.
 */
export function writeSession(kind: 'offer' | 'answer', drawn: Buffer): { sdp_type: typeof kind; sdp: string } {
  const fingerprint = [...drawn.subarray(0, 32)]
    .map((byte) => byte.toString(16).padStart(2, '0').toUpperCase())
    .join(':')
  const text = drawn.toString('hex')
  const lines = [
    'v=0',
    `o=- ${drawn.readUInt32BE(0)} 2 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    'a=group:BUNDLE 0',
    'a=msid-semantic: WMS phone',
    'm=audio 54213 UDP/TLS/RTP/SAVPF 111 126',
    'c=IN IP4 203.0.113.24',
    'a=rtcp:9 IN IP4 0.0.0.0',
    'a=candidate:1 1 udp 2122260223 192.0.2.17 54213 typ host generation 0',
    'a=candidate:2 1 udp 1685987071 203.0.113.24 54213 typ srflx raddr 192.0.2.17 rport 54213 generation 0',
    `a=ice-ufrag:${text.slice(0, 8)}`,
    `a=ice-pwd:${text.slice(8, 32)}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${kind === 'offer' ? 'actpass' : 'active'}`,
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=rtpmap:126 telephone-event/8000',
    `a=ssrc:${drawn.readUInt32BE(4)} cname:${text.slice(32, 48)}`,
  ]
  return { sdp_type: kind, sdp: `${lines.join('\r\n')}\r\n` }
}
