/** Session descriptions in the shape of what stacks in servers make. Addresses, keys and identifiers are made up. */
const fingerprint =
  'a=fingerprint:sha-256 BB:44:B5:4A:2B:7D:A1:CB:E5:09:84:B1:CF:5C:0C:9D:96:4A:FA:15:A1:9C:DD:27:75:36:9D:64:03:53:7C:19'

const weriftOffer = `v=0
o=- 47673112 0 IN IP4 0.0.0.0
s=-
t=0 0
a=group:BUNDLE 0
a=extmap-allow-mixed
a=msid-semantic:WMS *
m=audio 9 UDP/TLS/RTP/SAVPF 96 126
c=IN IP4 0.0.0.0
a=candidate:0f6f4e3a 1 udp 2130706431 192.0.2.31 41720 typ host generation 0 ufrag e296
a=end-of-candidates
a=ice-ufrag:e296
a=ice-pwd:17f23bf884d756dc8cfd73
a=ice-options:trickle
${fingerprint}
a=setup:actpass
a=sendrecv
a=mid:0
a=rtcp:9 IN IP4 0.0.0.0
a=rtcp-mux
a=ssrc:3964013389 cname:097fe521-5a0a-4f8b-a24c-e6455133017c
a=rtpmap:96 OPUS/48000/2
a=rtpmap:126 telephone-event/8000
`

const aiortcOffer = `v=0
o=- 3902934834 3902934834 IN IP4 0.0.0.0
s=-
t=0 0
a=group:BUNDLE 0
a=msid-semantic:WMS *
m=audio 47713 UDP/TLS/RTP/SAVPF 96 0 8
c=IN IP4 192.0.2.32
a=sendrecv
a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=mid:0
a=msid:4be2b2b1-0c9f-4a4c-9df5-d7cb4bb0a7c9 8a1dd6d2-5f1b-4b0b-9a27-6e7b3e6ae3d6
a=rtcp:9 IN IP4 0.0.0.0
a=rtcp-mux
a=ssrc:3119862893 cname:7a14c0f2-58de-4dd9-8ac2-61d6f7f0b6b5
a=rtpmap:96 opus/48000/2
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=candidate:d6f4f0ad1e2a2b0b5b1bd1e6f5a2d6ef 1 udp 2130706431 192.0.2.32 47713 typ host
a=end-of-candidates
a=ice-ufrag:Lq2Z
a=ice-pwd:8vNwB4xTz0KcYh3RfJm1Qs
${fingerprint}
a=setup:actpass
`

const pionOffer = `v=0
o=- 6312849502385768413 1735040723 IN IP4 0.0.0.0
s=-
t=0 0
a=msid-semantic:WMS*
${fingerprint}
a=extmap-allow-mixed
a=group:BUNDLE 0
m=audio 9 UDP/TLS/RTP/SAVPF 111 9 0 8 126
c=IN IP4 0.0.0.0
a=setup:actpass
a=mid:0
a=ice-ufrag:TqQmzCsXJbWdEvRf
a=ice-pwd:mJcUoZxKsNvQfGhYtReWlPaDbViHnLrA
a=rtcp-mux
a=rtcp-rsize
a=rtpmap:111 opus/48000/2
a=fmtp:111 minptime=10;useinbandfec=1
a=rtcp-fb:111 transport-cc
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:126 telephone-event/8000
a=ssrc:2306712245 cname:pion
a=ssrc:2306712245 msid:pion audio
a=ssrc:2306712245 mslabel:pion
a=ssrc:2306712245 label:audio
a=msid:pion audio
a=sendrecv
a=candidate:1966762134 1 udp 2130706431 192.0.2.33 52100 typ host ufrag TqQmzCsXJbWdEvRf
a=candidate:1966762134 2 udp 2130706431 192.0.2.33 52100 typ host ufrag TqQmzCsXJbWdEvRf
a=end-of-candidates
`

export const stackDescriptions = [
  { name: "werift's offer", sdp: withCrlf(weriftOffer) },
  { name: "aiortc's offer", sdp: withCrlf(aiortcOffer) },
  { name: "pion's offer", sdp: withCrlf(pionOffer) },
] as const

function withCrlf(text: string): string {
  return text.replaceAll('\n', '\r\n')
}
