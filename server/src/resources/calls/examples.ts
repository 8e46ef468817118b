/** Session descriptions in the profile of the platform, for the rows' examples. */
export const exampleOffer = writeExample({
  sessionId: '2890844526',
  setup: 'actpass',
  address: '192.0.2.17',
  ufrag: 'Qb3x',
  password: 'Zt8m+2kVqR4/uNdW0yJcPh1L',
  fingerprint: '5A:0E:91:C2:7B:44:D8:1F:60:B3:2C:E7:98:0D:F1:36:AA:58:C9:13:7E:4F:02:D6:8B:BD:35:E0:67:91:2A:FC',
  source: '2914057836',
})
export const exampleAnswer = writeExample({
  sessionId: '2890844730',
  setup: 'active',
  address: '192.0.2.18',
  ufrag: 'wK7s',
  password: 'nE5hYx0uBq9TrAj3+VdLmC6p',
  fingerprint: '19:E2:1C:3B:4B:9F:81:E6:B8:5C:F4:A5:A8:D8:73:04:BB:05:2F:70:9F:04:A9:0E:05:E9:26:33:E8:70:88:A2',
  source: '1188420937',
})

interface Example {
  readonly sessionId: string
  readonly setup: string
  /** Of the block that is reserved for documentation. */
  readonly address: string
  readonly ufrag: string
  readonly password: string
  readonly fingerprint: string
  readonly source: string
}

function writeExample({ sessionId, setup, address, ufrag, password, fingerprint, source }: Example): string {
  const lines = [
    'v=0',
    `o=- ${sessionId} 2 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    'a=group:BUNDLE 0',
    'm=audio 54213 UDP/TLS/RTP/SAVPF 111 126',
    `c=IN IP4 ${address}`,
    `a=candidate:1 1 udp 2122260223 ${address} 54213 typ host`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${password}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${setup}`,
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=rtpmap:126 telephone-event/8000',
    `a=ssrc:${source} cname:phone`,
  ]
  return `${lines.join('\r\n')}\r\n`
}
