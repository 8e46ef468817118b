import { stackDescriptions } from './stack-descriptions.ts'

/**
 * Session descriptions in the shape of what browsers make for a voice call: bundled, with ICE, DTLS and RTP. Addresses, keys
 * and identifiers are made up.
 */
const fingerprint =
  'a=fingerprint:sha-256 5A:0E:91:C2:7B:44:D8:1F:60:B3:2C:E7:98:0D:F1:36:AA:58:C9:13:7E:4F:02:D6:8B:BD:35:E0:67:91:2A:FC'

const chromiumOffer = `v=0
o=- 5180334962780274411 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
a=extmap-allow-mixed
a=msid-semantic: WMS 7d4b1c0e-2f6a-4a8e-9c35-0b1d52e86f90
m=audio 54213 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
c=IN IP4 203.0.113.24
a=rtcp:9 IN IP4 0.0.0.0
a=candidate:2871563021 1 udp 2122260223 192.0.2.17 54213 typ host generation 0 network-id 1 network-cost 10
a=candidate:1052683349 1 udp 2122194687 2001:db8::5c1f 60144 typ host generation 0 network-id 2 network-cost 10
a=candidate:3388017264 1 udp 1685987071 203.0.113.24 54213 typ srflx raddr 192.0.2.17 rport 54213 generation 0 network-id 1 network-cost 10
a=candidate:1620754161 1 tcp 1518280447 192.0.2.17 9 typ host tcptype active generation 0 network-id 1 network-cost 10
a=ice-ufrag:Qb3x
a=ice-pwd:Zt8m+2kVqR4/uNdW0yJcPh1L
a=ice-options:trickle
${fingerprint}
a=setup:actpass
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
a=sendrecv
a=msid:7d4b1c0e-2f6a-4a8e-9c35-0b1d52e86f90 c2f7a4e1-63b9-4d50-8e1b-f59027ad3c68
a=rtcp-mux
a=rtcp-rsize
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:63 red/48000/2
a=fmtp:63 111/111
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:13 CN/8000
a=rtpmap:110 telephone-event/48000
a=rtpmap:126 telephone-event/8000
a=ssrc:2914057836 cname:hV0qTzY5uKcM1nWf
a=ssrc:2914057836 msid:7d4b1c0e-2f6a-4a8e-9c35-0b1d52e86f90 c2f7a4e1-63b9-4d50-8e1b-f59027ad3c68
`

const chromiumAnswer = `v=0
o=- 1207746538801942265 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
a=extmap-allow-mixed
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111 110
c=IN IP4 0.0.0.0
b=AS:40
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:wK7s
a=ice-pwd:nE5hYx0uBq9TrAj3+VdLmC6p
a=ice-options:trickle renomination
${fingerprint}
a=setup:active
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
a=sendrecv
a=msid:- 0c6fd81b-7a27-4f0a-b6a5-94e3a1f2d570
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:110 telephone-event/48000
a=ptime:20
a=maxptime:60
a=end-of-candidates
a=ssrc-group:FID 1188420937 3650127744
a=ssrc:1188420937 cname:9zLqR0aWmXe2TkGh
`

const firefoxOffer = `v=0
o=mozilla...THIS_IS_SDPARTA-99.0 6632097451180254873 0 IN IP4 0.0.0.0
s=-
t=0 0
a=${fingerprint.slice(2)}
a=group:BUNDLE 0
a=ice-options:trickle
a=msid-semantic:WMS *
m=audio 51472 UDP/TLS/RTP/SAVPF 109 9 0 8 101
c=IN IP4 198.51.100.8
a=candidate:0 1 UDP 2122252543 6d1f2c80-93ab-4e57-a0c4-1b7e95f3d826.local 51472 typ host
a=candidate:1 1 TCP 2105524479 6d1f2c80-93ab-4e57-a0c4-1b7e95f3d826.local 9 typ host tcptype active
a=candidate:2 1 UDP 1686052863 198.51.100.8 51472 typ srflx raddr 0.0.0.0 rport 0
a=sendrecv
a=end-of-candidates
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level
a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1
a=fmtp:101 0-15
a=ice-pwd:3f90c2e7b51d48a6e0729f4cb8d1635a
a=ice-ufrag:c41e7d20
a=mid:0
a=msid:{e20a4f6c-18d7-4b93-8f5e-70c2b9d1a384} {51b7d9e3-c046-42fa-9d18-2ea76f03c5b1}
a=rtcp:60921 IN IP4 198.51.100.8
a=rtcp-mux
a=rtpmap:109 opus/48000/2
a=rtpmap:9 G722/8000/1
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000/1
a=setup:actpass
a=ssrc:1739046285 cname:{0a8f35d1-6c92-47be-b3e4-d5701c29f68a}
`

const firefoxAnswer = `v=0
o=mozilla...THIS_IS_SDPARTA-128.0 2208614973350718846 1 IN IP4 0.0.0.0
s=-
t=0 0
a=sendrecv
a=${fingerprint.slice(2)}
a=group:BUNDLE 0
a=ice-options:trickle
a=msid-semantic:WMS *
m=audio 9 UDP/TLS/RTP/SAVPF 109 101
c=IN IP4 0.0.0.0
a=sendrecv
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1
a=fmtp:101 0-15
a=ice-pwd:ad07c3f1e85b29d46c10f7a2b9438e5d
a=ice-ufrag:07f3b9a1
a=mid:0
a=msid:{bd518c04-27ea-4f36-90d7-c3e1a5f8b629} {9f02d4c7-b185-4e3a-a6c0-7d18e52f93ba}
a=rtcp-mux
a=rtpmap:109 opus/48000/2
a=rtpmap:101 telephone-event/8000
a=setup:active
a=ssrc:3095218467 cname:{c7e09b52-3d14-48fa-8b6d-e1f05a2794c3}
`

const safariOffer = `v=0
o=- 8034517720961385527 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0 1
a=extmap-allow-mixed
a=msid-semantic: WMS a3c95e70-481b-4fd2-b60e-1d72f8c3a954
m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 102 0 8 105 13 110 113 126
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:4tUy
a=ice-pwd:kR8vGd2+ZsN0xJmQ5bLfHa7W
a=ice-options:trickle
${fingerprint}
a=setup:actpass
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
a=sendrecv
a=msid:a3c95e70-481b-4fd2-b60e-1d72f8c3a954 e7d1b480-95c6-4a2f-83be-60f9d27c51ea
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:63 red/48000/2
a=fmtp:63 111/111
a=rtpmap:9 G722/8000
a=rtpmap:102 ILBC/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:105 CN/16000
a=rtpmap:13 CN/8000
a=rtpmap:110 telephone-event/48000
a=rtpmap:113 telephone-event/16000
a=rtpmap:126 telephone-event/8000
a=ssrc:684120953 cname:Lx3bWvE8dRtYq0Zc
a=ssrc:684120953 msid:a3c95e70-481b-4fd2-b60e-1d72f8c3a954 e7d1b480-95c6-4a2f-83be-60f9d27c51ea
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=ice-ufrag:4tUy
a=ice-pwd:kR8vGd2+ZsN0xJmQ5bLfHa7W
a=ice-options:trickle
${fingerprint}
a=setup:actpass
a=mid:1
a=sctp-port:5000
a=max-message-size:262144
`

const safariAnswer = `v=0
o=- 3376190842257710984 2 IN IP6 ::1
s=-
t=0 0
a=group:BUNDLE 0
a=msid-semantic: WMS
m=audio 61118 UDP/TLS/RTP/SAVPF 111 126
c=IN IP6 2001:db8:0:3f::a2
a=rtcp:61119 IN IP6 2001:db8:0:3f::a2
a=candidate:842163049 1 udp 2122262783 2001:db8:0:3f::a2 61118 typ host generation 0 ufrag 9mPe network-cost 999
a=ice-ufrag:9mPe
a=ice-pwd:Tb6yQx1VnA4/hKsJ+0dEuR3c
${fingerprint}
a=setup:active
a=mid:0
a=sendrecv
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:126 telephone-event/8000
a=ssrc:2250719384 cname:7GqKzP5nXwB2mHdV
`

/** Every type of line that there is, in its place. */
const everyLine = `v=0
o=jdoe 3724394400 3724394405 IN IP4 host.atlanta.example
s= 
i=A seminar on plants
u=https://www.example.com/seminars/sdp.pdf
e=j.doe@example.com (Jane Doe)
e=Jane Doe <j.doe@example.com>
p=+1 617 555-6011
p=Jane Doe <+1 617 555-6011>
c=IN IP4 233.252.0.1/127/3
b=AS:128
b=X-YZ:64
t=3724394400 3724398000
r=604800 3600 0 90000
r=7d 1h 0 25h
z=3724394400 -1h 3725000000 0
t=0 0
k=prompt
a=cat:plants.indoor
a=keywds:succulents shrubs
a=tool:switchboard 1
a=type:meeting
a=charset:UTF-8
a=sdplang:en
a=lang:de-CH
a=recvonly
m=audio 49170/2 RTP/AVP 0 96
i=The speaker
c=IN IP4 198.51.100.4
c=IN IP6 ff15::101/3
b=TIAS:64000
k=base64:c2VjcmV0
a=rtpmap:96 L16/48000/2
a=ptime:0.125
a=quality:10
m=video 0 RTP/AVP 99
a=orient:landscape
a=framerate:29.97
a=rtpmap:99 h263-1998/90000
m=text 49180 TCP/custom any thing
`

export const goodDescriptions: readonly { readonly name: string; readonly sdp: string }[] = [
  { name: "Chromium's offer", sdp: withCrlf(chromiumOffer) },
  { name: "Chromium's answer", sdp: withCrlf(chromiumAnswer) },
  { name: "Firefox's offer", sdp: withCrlf(firefoxOffer) },
  { name: "Firefox's answer", sdp: withCrlf(firefoxAnswer) },
  { name: "Safari's offer", sdp: withCrlf(safariOffer) },
  { name: "Safari's answer", sdp: withCrlf(safariAnswer) },
  ...stackDescriptions,
  { name: 'one with every type of line', sdp: withCrlf(everyLine) },
  { name: 'one with LF alone', sdp: chromiumOffer },
  { name: 'one whose last line has no end', sdp: withCrlf(chromiumOffer).trimEnd() },
]

function withCrlf(text: string): string {
  return text.replaceAll('\n', '\r\n')
}
