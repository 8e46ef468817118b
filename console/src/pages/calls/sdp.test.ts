import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectSession } from './sdp.ts'

const good = [
  'v=0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'a=rtcp-mux',
  'a=setup:actpass',
  'a=fingerprint:sha-256 AA:BB',
  'a=rtpmap:111 opus/48000/2',
  'a=ssrc:1 cname:x',
  'a=ssrc:1 msid:x',
  'a=candidate:1 1 udp 1 127.0.0.1 9 typ host',
]

const edit = (change: (line: string) => string[]) => good.flatMap(change).join('\r\n')
const without = (start: string) => edit((line) => (line.startsWith(start) ? [] : [line]))

const cases: readonly [name: string, sdp: string, isOffer: boolean, problems: RegExp[]][] = [
  ['a good offer', good.join('\r\n'), true, []],
  ['a good offer with line feeds alone', good.join('\n'), true, []],
  ['an offer that is sent as an answer', good.join('\r\n'), false, [/^Setup actpass: an answer says/]],
  ['no candidates', without('a=candidate'), true, [/^No candidates/]],
  ['two streams', edit((line) => (line === 'a=ssrc:1 msid:x' ? ['a=ssrc:2 msid:x'] : [line])), true, [/^2 SSRCs/]],
  ['an old hash', edit((line) => [line.replace('sha-256', 'sha-1')]), true, [/not sha-256/]],
  ['no fingerprint', without('a=fingerprint'), true, [/^No fingerprint/]],
  [
    'video too',
    edit((line) => (line.startsWith('m=') ? [line, 'm=video 9 X 96'] : [line])),
    true,
    [/^Streams: audio, video/],
  ],
  ['no Opus', without('a=rtpmap'), true, [/^Opus is missing/]],
  ['two ports', without('a=rtcp-mux'), true, [/rtcp-mux is missing/]],
  ['nothing', '', true, [/^No cand/, /^No fing/, /^Setup is missing/, /^Streams: none/, /^Opus/, /rtcp-mux/]],
]

for (const [name, sdp, isOffer, problems] of cases) {
  test(`what stands out in a session description: ${name}`, () => {
    const found = inspectSession(sdp, isOffer).filter(({ tone }) => tone !== 'good')
    assert.equal(found.length, problems.length, JSON.stringify(found))
    for (const [index, problem] of problems.entries()) assert.match(found[index]?.text ?? '', problem)
  })
}
