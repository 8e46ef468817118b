import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exampleOffer as phoneOffer } from '../../../../../testing/src/phones/session.ts'
import { goodDescriptions } from '../../../../test/harness/session-descriptions.ts'
import { writeSession } from '../../../cli/simulate/simulated-sessions.ts'
import { exampleAnswer, exampleOffer } from '../examples.ts'
import { findingCodes, findingKinds } from './finding-kinds.ts'
import { findFindings, inspectDescription } from './findings.ts'

const inspectOffer = (sdp: string) => inspectDescription({ sdp, isOffer: true })
const inspectAnswer = (sdp: string, offer?: string) => inspectDescription({ sdp, isOffer: false, offer })
const codesOf = (found: readonly { readonly code: string }[]) => found.map(({ code }) => code)

/** A description with another line in the place of each line that begins so; `undefined` leaves these lines out. */
function change(sdp: string, start: string, ...lines: readonly string[]): string {
  const before = sdp.split('\r\n')
  const place = before.findIndex((line) => line.startsWith(start))
  assert.ok(place >= 0, `no line begins with ${start}`)
  const others = before.filter((line) => !line.startsWith(start))
  return [...others.slice(0, place), ...lines, ...others.slice(place)].join('\r\n')
}
const lineOf = (sdp: string, line: string) => sdp.split('\r\n').indexOf(line) + 1

describe("the platform's own descriptions have no finding", () => {
  const drawn = Buffer.alloc(32, 7)
  for (const [name, sdp, isOffer] of [
    ['the offer of the examples', exampleOffer, true],
    ['the answer of the examples', exampleAnswer, false],
    ['the offer of a simulated phone', writeSession('offer', drawn).sdp, true],
    ['the answer of a simulated phone', writeSession('answer', drawn).sdp, false],
    ["the offer of the testing library's phones", phoneOffer, true],
  ] as const) {
    test(name, () => assert.deepEqual(inspectDescription({ sdp, isOffer, offer: exampleOffer }), []))
  }
})

describe('descriptions of browsers and of stacks in servers', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    "Chromium's offer": [],
    "Chromium's answer": ['no_candidates', 'wrong_dtmf'],
    "Firefox's offer": [],
    "Firefox's answer": ['no_candidates'],
    "Safari's offer": ['no_candidates'],
    "Safari's answer": [],
    "werift's offer": [],
    "aiortc's offer": ['no_dtmf'],
    "pion's offer": [],
    'one with LF alone': [],
    'one whose last line has no end': ['no_line_end'],
  }
  for (const [name, codes] of Object.entries(expected)) {
    test(`${name}: ${codes.join(', ') || 'nothing'}`, () => {
      const found = goodDescriptions.find((description) => description.name === name)
      assert.ok(found)
      assert.deepEqual(codesOf(inspectDescription({ sdp: found.sdp, isOffer: !name.includes('answer') })), codes)
    })
  }
})

describe('what works has no finding', () => {
  const ufrag = 'a=ice-ufrag:Qb3x'
  const fingerprint = exampleOffer.split('\r\n').find((line) => line.startsWith('a=fingerprint:')) ?? ''
  const aboveMedia = (line: string, start: string) =>
    change(change(exampleOffer, start), 'm=audio', line, 'm=audio 54213 UDP/TLS/RTP/SAVPF 111 126')
  for (const [name, sdp] of [
    ['a codec in other letters', change(exampleOffer, 'a=rtpmap:111', 'a=rtpmap:111 OPUS/48000/2')],
    [
      'port 9 and no address, with candidates',
      change(exampleOffer, 'c=', 'c=IN IP4 0.0.0.0').replace('54213 UDP', '9 UDP'),
    ],
    ['a side that is ice-lite', change(exampleOffer, 'a=group', 'a=ice-lite', 'a=group:BUNDLE 0')],
    ['an attribute that nobody knows', change(exampleOffer, 'a=mid', 'a=mid:0', 'a=x-garden:ferns')],
    ['packets of 20 ms', change(exampleOffer, 'a=mid', 'a=mid:0', 'a=ptime:20', 'a=maxptime:60')],
    ['a fingerprint above the sections', aboveMedia(fingerprint, 'a=fingerprint')],
    ['the setup above the sections', aboveMedia('a=setup:actpass', 'a=setup')],
    ['the user fragment above the sections', aboveMedia(ufrag, 'a=ice-ufrag')],
    [
      'a .local candidate beside an address',
      change(
        exampleOffer,
        'a=candidate',
        'a=candidate:1 1 udp 2122260223 6d1f2c80-93ab-4e57-a0c4-1b7e95f3d826.local 54213 typ host',
        'a=candidate:2 1 udp 1686052863 198.51.100.8 54213 typ srflx raddr 0.0.0.0 rport 0',
      ),
    ],
    [
      'a source with several lines, and its repetition',
      change(
        exampleOffer,
        'a=ssrc',
        'a=ssrc-group:FID 1 2',
        'a=ssrc:1 cname:a',
        'a=ssrc:1 msid:a b',
        'a=ssrc:2 cname:a',
      ),
    ],
    [
      'keys at two clock rates',
      change(
        exampleOffer,
        'a=rtpmap:126',
        'a=rtpmap:110 telephone-event/48000',
        'a=rtpmap:126 telephone-event/8000',
      ).replace('111 126', '111 110 126'),
    ],
  ] as const) {
    test(name, () => assert.deepEqual(inspectOffer(sdp), []))
  }

  test('an answer that is passive', () => {
    assert.deepEqual(inspectAnswer(change(exampleAnswer, 'a=setup', 'a=setup:passive'), exampleOffer), [])
  })
  test('the sources of another section are its own', () => {
    const video = [
      'm=video 9 UDP/TLS/RTP/SAVPF 96',
      'c=IN IP4 0.0.0.0',
      'a=ssrc:7 cname:v',
      'a=fingerprint:sha-1 AA:BB',
    ]
    assert.deepEqual(inspectOffer(`${exampleOffer}${video.join('\r\n')}\r\n`), [])
  })
})

/** Each fault: what is sent, the code, and the line that it stands in. */
const faults: readonly (readonly [name: string, sdp: string, code: keyof typeof findingKinds, line?: string])[] = [
  ['no candidates', change(exampleOffer, 'a=candidate'), 'no_candidates'],
  [
    'candidates by .local names alone',
    change(exampleOffer, 'a=candidate', 'a=candidate:0 1 UDP 2122252543 6d1f2c80.LOCAL 51472 typ host'),
    'local_candidates',
    'a=candidate:0 1 UDP 2122252543 6d1f2c80.LOCAL 51472 typ host',
  ],
  ['no end of the last line', exampleOffer.trimEnd(), 'no_line_end', 'a=ssrc:2914057836 cname:phone'],
  ['no source', change(exampleOffer, 'a=ssrc'), 'no_ssrc'],
  [
    'two sources',
    change(exampleOffer, 'a=ssrc', 'a=ssrc:1 cname:a', 'a=ssrc:1 msid:a b', 'a=ssrc:2 cname:a'),
    'many_ssrc',
    'a=ssrc:2 cname:a',
  ],
  ['no rtcp-mux', change(exampleOffer, 'a=rtcp-mux'), 'no_rtcp_mux'],
  ['no setup', change(exampleOffer, 'a=setup'), 'no_setup'],
  ['an active offer', change(exampleOffer, 'a=setup', 'a=setup:active'), 'wrong_setup', 'a=setup:active'],
  ['no fingerprint', change(exampleOffer, 'a=fingerprint'), 'no_fingerprint'],
  [
    'a fingerprint by sha-1',
    change(exampleOffer, 'a=fingerprint', 'a=fingerprint:sha-1 5A:0E'),
    'wrong_fingerprint',
    'a=fingerprint:sha-1 5A:0E',
  ],
  [
    'a fingerprint by sha-512 beside the one by sha-256',
    change(exampleOffer, 'a=fingerprint', 'a=fingerprint:sha-256 5A:0E', 'a=fingerprint:sha-512 5A:0F'),
    'wrong_fingerprint',
    'a=fingerprint:sha-512 5A:0F',
  ],
  ['no user fragment', change(exampleOffer, 'a=ice-ufrag'), 'no_ice_credentials'],
  ['no password', change(exampleOffer, 'a=ice-pwd'), 'no_ice_credentials'],
  ['no opus', change(exampleOffer, 'a=rtpmap:111', 'a=rtpmap:111 PCMU/8000'), 'no_opus'],
  ['opus of a payload type that is not offered', exampleOffer.replace('SAVPF 111', 'SAVPF 0'), 'no_opus'],
  [
    'opus with one channel',
    change(exampleOffer, 'a=rtpmap:111', 'a=rtpmap:111 opus/48000'),
    'wrong_opus',
    'a=rtpmap:111 opus/48000',
  ],
  [
    'opus at 16000',
    change(exampleOffer, 'a=rtpmap:111', 'a=rtpmap:111 opus/16000/2'),
    'wrong_opus',
    'a=rtpmap:111 opus/16000/2',
  ],
  ['packets of 30 ms', change(exampleOffer, 'a=mid', 'a=mid:0', 'a=ptime:30'), 'wrong_ptime', 'a=ptime:30'],
  ['no keys', change(exampleOffer, 'a=rtpmap:126', 'a=rtpmap:126 CN/8000'), 'no_dtmf'],
  [
    'keys at 48000 alone',
    change(exampleOffer, 'a=rtpmap:126', 'a=rtpmap:126 telephone-event/48000'),
    'wrong_dtmf',
    'a=rtpmap:126 telephone-event/48000',
  ],
]

test('a description with many formats and many codecs takes no longer than one with many formats and one with many codecs', () => {
  const timeOf = (formats: number, codecs: number) => {
    const types = ' 0'.repeat(formats)
    const lines = Array.from({ length: codecs }, () => 'a=rtpmap:99 opus/48000/2')
    const sdp = change(exampleOffer.replace('111 126', `111 126${types}`), 'a=mid', 'a=mid:0', ...lines)
    const times = Array.from({ length: 20 }, () => {
      const began = performance.now()
      assert.deepEqual(inspectOffer(sdp), [])
      return performance.now() - began
    })
    return Math.min(...times)
  }
  const [both, apart] = [timeOf(15_000, 450), timeOf(15_000, 1) + timeOf(1, 450)]
  assert.ok(both < 4 * apart, `${both} ms, ${apart} ms`)
})

describe('a fault makes one finding, its own', () => {
  for (const [name, sdp, code, line] of faults) {
    test(`${name}: ${code}`, () => {
      const place = line === undefined ? {} : { line: lineOf(sdp, line) }
      assert.deepEqual(inspectOffer(sdp), [{ ...findingKinds[code], ...place }])
    })
  }

  test('actpass in an answer, and another word', () => {
    for (const setup of ['actpass', 'holdconn']) {
      assert.deepEqual(codesOf(inspectAnswer(change(exampleAnswer, 'a=setup', `a=setup:${setup}`))), ['wrong_setup'])
    }
  })

  test('no candidates in an answer is an error if the offer has none either', () => {
    const [answer, offer] = [change(exampleAnswer, 'a=candidate'), change(exampleOffer, 'a=candidate')]
    const levelsOf = (found: readonly { readonly code: string; readonly level: string }[]) =>
      found.map(({ code, level }) => [code, level])
    assert.deepEqual(levelsOf(inspectAnswer(answer, offer)), [['no_candidates', 'error']])
    assert.deepEqual(levelsOf(inspectAnswer(answer, exampleOffer)), [['no_candidates', 'warning']])
    assert.deepEqual(levelsOf(inspectAnswer(answer)), [['no_candidates', 'warning']])
  })

  test('every code that a description can have is among these', () => {
    const tried = new Set<string>(faults.map(([, , code]) => code))
    assert.deepEqual(
      findingCodes.filter((code) => !tried.has(code)),
      ['no_media', 'lost'],
    )
  })
})

test('the findings of a call are those of both sides and of what was heard', () => {
  const call = {
    direction: 'BUSINESS_INITIATED',
    business_session: { sdp_type: 'offer', sdp: change(exampleOffer, 'a=candidate') },
    user_session: { sdp_type: 'answer', sdp: change(exampleAnswer, 'a=candidate') },
    end_reason: 'lost',
  } as const
  assert.deepEqual(
    findFindings(call).map(({ side, code, level }) => [side, code, level]),
    [
      ['user', 'no_candidates', 'error'],
      ['business', 'no_candidates', 'warning'],
      ['media', 'lost', 'error'],
    ],
  )
  assert.deepEqual(findFindings({ ...call, user_session: null, business_session: null, end_reason: null }), [])
})

test('a message is one sentence that says what to do, and leaves the full stop to whoever shows it', () => {
  for (const { message } of Object.values(findingKinds)) {
    assert.match(message, /^[A-Z][^;]+; [a-z][^;]+[^;.]$/)
    assert.doesNotMatch(message, /\. /)
  }
})
