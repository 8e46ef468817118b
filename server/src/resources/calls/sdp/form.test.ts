import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { goodDescriptions } from '../../../../test/harness/session-descriptions.ts'
import { exampleAnswer, exampleOffer } from '../examples.ts'
import { findSdpProblem, maxSdpLines } from './form.ts'

describe('a session description is taken', () => {
  for (const { name, sdp } of goodDescriptions) {
    test(name, () => assert.equal(findSdpProblem(sdp), undefined))
  }

  test('the examples of the rows', () => {
    assert.equal(findSdpProblem(exampleOffer), undefined)
    assert.equal(findSdpProblem(exampleAnswer), undefined)
  })
})

/** What the broken ones are made from; the comment is the number of the line. */
const base = [
  'v=0', // 1
  'o=- 4611731400430051336 2 IN IP4 127.0.0.1', // 2
  's=-', // 3
  't=0 0', // 4
  'a=group:BUNDLE 0', // 5
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 126', // 6
  'c=IN IP4 0.0.0.0', // 7
  'a=rtpmap:111 opus/48000/2', // 8
  'a=fmtp:111 minptime=10', // 9
  'a=sendrecv', // 10
]

/** The base with one line put in another's place. */
const replace = (line: number, text: string) => base.map((old, index) => (index === line - 1 ? text : old))
const remove = (line: number) => base.filter((_, index) => index !== line - 1)
const insert = (line: number, ...texts: string[]) => base.toSpliced(line - 1, 0, ...texts)
const move = (line: number, to: number) => remove(line).toSpliced(to - 1, 0, base[line - 1] as string)
/** The base with an attribute of the media at its end, which is line 11. */
const attribute = (text: string) => [...base, `a=${text}`]

const broken: readonly [name: string, lines: readonly string[] | string, line: number, problem: RegExp][] = [
  // The form of lines
  ['nothing at all', '', 1, /^is empty/],
  ['a line end alone', '\r\n', 1, /^is empty/],
  ['an empty line', insert(5, ''), 5, /^is empty/],
  ['an empty line at the end', [...base, ''], 11, /^is empty/],
  ['prose', 'hello', 1, /^must be a lower-case letter/],
  ['JSON', '{"type":"offer"}', 1, /^must be a lower-case letter/],
  ['a line without =', replace(8, 'a rtpmap:111 opus/48000/2'), 8, /^must be a lower-case letter/],
  ['a blank before the =', replace(3, 's =-'), 3, /^must be a lower-case letter/],
  ['a blank before the letter', replace(3, ' s=-'), 3, /^must be a lower-case letter/],
  ['an upper-case letter', replace(6, 'M=audio 9 RTP/AVP 0'), 6, /^must be a lower-case letter/],
  ['a type of two letters', replace(8, 'ab=1'), 8, /^must be a lower-case letter/],
  ['a carriage return in a line', replace(8, 'a=rtpmap:111\ropus/48000/2'), 8, /^holds a carriage return/],
  ['carriage returns for line ends', base.join('\r'), 1, /^holds a carriage return/],
  // Order, and what is required
  ['no v=', remove(1), 1, /^starts with o=, but at the start must come v=\.$/],
  ['no o=', remove(2), 2, /^starts with s=, but after a line v= must come o=\.$/],
  ['no s=', remove(3), 3, /^starts with t=, but after a line o= must come s=\.$/],
  ['no t=', remove(4), 4, /^starts with a=, but after a line s= must come i=, u=, e=, p=, c=, b= or t=\.$/],
  ['v= alone', 'v=0', 1, /^is the last, but must be followed by o=\.$/],
  ['an end after s=', base.slice(0, 3), 3, /^is the last, but must be followed by i=, u=/],
  ['v= twice', insert(2, 'v=0'), 2, /^starts with v=/],
  ['o= twice', insert(3, 'o=- 1 1 IN IP4 127.0.0.1'), 3, /^starts with o=/],
  ['s= twice', insert(4, 's=-'), 4, /^starts with s=/],
  ['i= twice', insert(4, 'i=one', 'i=two'), 5, /^starts with i=/],
  ['t= before s=', move(4, 3), 3, /^starts with t=/],
  ['c= after t=', insert(5, 'c=IN IP4 0.0.0.0'), 5, /^starts with c=/],
  ['b= before c=', insert(4, 'b=AS:64', 'c=IN IP4 0.0.0.0'), 5, /^starts with c=/],
  ['r= without t=', insert(4, 'r=7d 1h 0 25h'), 4, /^starts with r=/],
  ['z= without r=', insert(5, 'z=2882844526 -1h'), 5, /^starts with z=/],
  ['a= before t=', move(5, 4), 4, /^starts with a=/],
  ['an unknown type', insert(5, 'x=1'), 5, /^starts with x=/],
  ['t= below m=', insert(7, 't=0 0'), 7, /^starts with t=, but after a line m= must come i=, c=, b=, k=, a= or m=\.$/],
  ['c= below an a= of the media', move(7, 9), 9, /^starts with c=, but after a line a= must come a= or m=\.$/],
  ['o= below m=', insert(7, 'o=- 1 1 IN IP4 127.0.0.1'), 7, /^starts with o=/],
  ['no m=', base.slice(0, 5), 5, /^is the last, but there is no m=audio line/],
  ['no m=audio', replace(6, 'm=video 9 UDP/TLS/RTP/SAVPF 96'), 10, /^is the last, but there is no m=audio line/],
  ['no c= anywhere', remove(7), 6, /^starts a media section without a c= line/],
  [
    'no c= in the second section',
    [...base, 'm=video 9 UDP/TLS/RTP/SAVPF 96', 'a=rtpmap:96 VP8/90000'],
    11,
    /^starts a media section without a c= line/,
  ],
  // Values
  ['version 1', replace(1, 'v=1'), 1, /^must be v=0\.$/],
  ['a version with a blank', replace(1, 'v= 0'), 1, /^must be v=0\.$/],
  ['an origin of five fields', replace(2, 'o=- 1 IN IP4 127.0.0.1'), 2, /^must be o=<username>/],
  ['an origin of seven fields', replace(2, 'o=- 1 1 IN IP4 127.0.0.1 x'), 2, /^must be o=<username>/],
  ['two blanks in an origin', replace(2, 'o=- 1  1 IN IP4 127.0.0.1'), 2, /^must be o=<username>/],
  ['a session id of letters', replace(2, 'o=- abc 1 IN IP4 127.0.0.1'), 2, /^must be o=<username>/],
  ['a session version below 0', replace(2, 'o=- 1 -1 IN IP4 127.0.0.1'), 2, /^must be o=<username>/],
  ['another network type', replace(2, 'o=- 1 1 ATM IP4 127.0.0.1'), 2, /^has the network type ATM; it must be IN\.$/],
  ['another address type', replace(2, 'o=- 1 1 IN IP5 127.0.0.1'), 2, /^has the address type IP5/],
  ['an octet of 256', replace(2, 'o=- 1 1 IN IP4 127.0.0.256'), 2, /^has the address 127\.0\.0\.256/],
  ['an IP6 address as IP4', replace(2, 'o=- 1 1 IN IP4 ::1'), 2, /it must be an IP4 address or a host name\.$/],
  ['an IP4 address as IP6', replace(7, 'c=IN IP6 127.0.0.1'), 7, /it must be an IP6 address or a host name\.$/],
  ['a broken IP6 address', replace(7, 'c=IN IP6 2001:db8:::1'), 7, /^has the address 2001:db8:::1/],
  ['a slash behind a unicast address', replace(7, 'c=IN IP4 198.51.100.1/127'), 7, /^has the address/],
  ['multicast without a time to live', replace(7, 'c=IN IP4 233.252.0.1'), 7, /^has a multicast address/],
  ['a time to live of 256', replace(7, 'c=IN IP4 233.252.0.1/256'), 7, /^has a multicast address/],
  ['two counts behind IP6 multicast', replace(7, 'c=IN IP6 ff15::101/3/4'), 7, /only \/<count> may follow it/],
  ['a connection of two fields', replace(7, 'c=IN 0.0.0.0'), 7, /^must be c=<nettype>/],
  ['an empty s=', replace(3, 's='), 3, /^has no value after "s="; give one/],
  ['a URI that is not one', insert(4, 'u=not a uri'), 4, /^must be u= and a URI/],
  ['a relative URI', insert(4, 'u=seminars/sdp.pdf'), 4, /^must be u= and an absolute URI/],
  ['an email address without @', insert(4, 'e=jane.example.com'), 4, /^must be e=/],
  ['a phone number of letters', insert(4, 'p=call me'), 4, /^must be p=/],
  ['a bandwidth without a colon', insert(4, 'b=AS 64'), 4, /^must be b=<bwtype>/],
  ['a bandwidth that is no number', insert(4, 'b=AS:lots'), 4, /^must be b=<bwtype>/],
  ['one time alone', replace(4, 't=0'), 4, /^must be t=<start> <stop>/],
  ['times of words', replace(4, 't=now later'), 4, /^must be t=<start> <stop>/],
  ['a time of nine digits', replace(4, 't=372439440 0'), 4, /^must be t=<start> <stop>/],
  ['repeats without offsets', insert(5, 'r=7d 1h'), 5, /^must be r=<interval>/],
  ['an unknown unit of time', insert(5, 'r=1w 1h 0'), 5, /^must be r=<interval>/],
  ['half a pair of zone offsets', insert(5, 'r=7d 1h 0', 'z=2882844526'), 6, /^must be z=/],
  ['an unknown kind of key', insert(5, 'k=secret'), 5, /^must be k=prompt/],
  // Media
  ['a port of words', replace(6, 'm=audio nine UDP/TLS/RTP/SAVPF 111'), 6, /^must be m=<media>/],
  ['a port below 0', replace(6, 'm=audio -1 UDP/TLS/RTP/SAVPF 111'), 6, /^must be m=<media>/],
  ['a port of 65536', replace(6, 'm=audio 65536 UDP/TLS/RTP/SAVPF 111'), 6, /^has the port 65536/],
  ['no ports at all', replace(6, 'm=audio 9/0 UDP/TLS/RTP/SAVPF 111'), 6, /^must be m=<media>/],
  ['no formats', replace(6, 'm=audio 9 UDP/TLS/RTP/SAVPF'), 6, /^must be m=<media>/],
  ['no protocol', replace(6, 'm=audio 9'), 6, /^must be m=<media>/],
  ['a protocol with an empty part', replace(6, 'm=audio 9 UDP//RTP 111'), 6, /^must be m=<media>/],
  ['two blanks in a media line', replace(6, 'm=audio  9 UDP/TLS/RTP/SAVPF 111'), 6, /^must be m=<media>/],
  ['a blank at the end of a media line', replace(6, 'm=audio 9 UDP/TLS/RTP/SAVPF 111 '), 6, /^must be m=<media>/],
  ['a payload type of 128', replace(6, 'm=audio 9 UDP/TLS/RTP/SAVPF 128'), 6, /^has the format 128/],
  ['a payload type of letters', replace(6, 'm=audio 9 RTP/AVP opus'), 6, /^has the format opus/],
  // Attributes
  ['an attribute without a name', attribute(':x'), 11, /^must be a=<attribute>/],
  ['an attribute whose name is no token', attribute('rtp map:111'), 11, /^must be a=<attribute>/],
  ['an attribute without its value', attribute('mid:'), 11, /^has no value after "a=mid:"; give one/],
  ['an rtpmap above the media', insert(5, 'a=rtpmap:111 opus/48000/2'), 5, /put it below an m= line/],
  ['an fmtp above the media', insert(5, 'a=fmtp:111 minptime=10'), 5, /put it below an m= line/],
  ['a charset below the media', attribute('charset:UTF-8'), 11, /put it above the first m= line/],
  ['an rtpmap without a payload type', replace(8, 'a=rtpmap:opus/48000/2'), 8, /^must be a=rtpmap:/],
  ['an rtpmap without a clock rate', replace(8, 'a=rtpmap:111 opus'), 8, /^must be a=rtpmap:/],
  ['an rtpmap with a clock rate of 0', replace(8, 'a=rtpmap:111 opus/0'), 8, /^must be a=rtpmap:/],
  ['an rtpmap of payload type 200', replace(8, 'a=rtpmap:200 opus/48000/2'), 8, /^must be a=rtpmap:/],
  ['an rtpmap without a value', replace(8, 'a=rtpmap'), 8, /^must be a=rtpmap:/],
  ['an fmtp without parameters', replace(9, 'a=fmtp:111'), 9, /^must be a=fmtp:/],
  ['a direction with a value', replace(10, 'a=sendrecv:1'), 10, /^must be a=sendrecv, without a value\.$/],
  ['a ptime of 0', attribute('ptime:0'), 11, /^must be a=ptime:/],
  ['a ptime of words', attribute('ptime:twenty'), 11, /^must be a=ptime:/],
  ['a quality of 11', attribute('quality:11'), 11, /^must be a=quality:/],
  ['an unknown orientation', attribute('orient:upside-down'), 11, /^must be a=orient:/],
  ['a candidate that breaks off', attribute('candidate:1 1 udp 2122260223 192.0.2.1'), 11, /^must be a=candidate:/],
  [
    'a candidate on port 65536',
    attribute('candidate:1 1 udp 2122260223 192.0.2.1 65536 typ host'),
    11,
    /^must be a=candidate:/,
  ],
  ['a candidate without a type', attribute('candidate:1 1 udp 1 192.0.2.1 9 typ '), 11, /^must be a=candidate:/],
  ['a candidate of component 0', attribute('candidate:1 0 udp 1 192.0.2.1 9 typ host'), 11, /^must be a=candidate:/],
  ['a fingerprint without a hash', attribute('fingerprint:sha-256'), 11, /^must be a=fingerprint:/],
  ['a fingerprint that is not hexadecimal', attribute('fingerprint:sha-256 XY:ZZ'), 11, /^must be a=fingerprint:/],
  ['a fingerprint without colons', attribute('fingerprint:sha-256 ABCDEF'), 11, /^must be a=fingerprint:/],
  ['an unknown setup', attribute('setup:maybe'), 11, /^must be a=setup:/],
  ['a mid with a comma', attribute('mid:a,b'), 11, /^must be a=mid:/],
  ['an ice-ufrag that begins with a blank', attribute('ice-ufrag: F7gI'), 11, /^must be a=ice-ufrag:/],
  ['a source of 33 bits', attribute('ssrc:4294967296 cname:x'), 11, /^must be a=ssrc:/],
  ['a source of letters', attribute('ssrc:abc cname:x'), 11, /^must be a=ssrc:/],
  ['a source without an attribute', attribute('ssrc:1234'), 11, /^must be a=ssrc:/],
  ['a group of sources with a word in it', attribute('ssrc-group:FID 1 two'), 11, /^must be a=ssrc-group:/],
  ['an extmap of 0', attribute('extmap:0 urn:x'), 11, /^must be a=extmap:/],
  ['an extmap without a URI', attribute('extmap:1'), 11, /^must be a=extmap:/],
  ['an extmap in an unknown direction', attribute('extmap:1/sideways urn:x'), 11, /^must be a=extmap:/],
  ['feedback without its kind', attribute('rtcp-fb:111 '), 11, /^must be a=rtcp-fb:/],
  ['feedback for payload type 128', attribute('rtcp-fb:128 nack'), 11, /^must be a=rtcp-fb:/],
  ['an RTCP port of 70000', attribute('rtcp:70000'), 11, /^must be a=rtcp:/],
  ['an SCTP port of words', attribute('sctp-port:five'), 11, /^must be a=sctp-port:/],
]

describe('a session description is refused, with its line, for', () => {
  test('nothing while it is not broken', () => assert.equal(findSdpProblem(write(base)), undefined))

  for (const [name, lines, line, problem] of broken) {
    test(`${name} (line ${line})`, () => {
      const found = findSdpProblem(typeof lines === 'string' ? lines : write(lines))
      assert.ok(found, 'it was taken')
      assert.deepEqual({ line: found.args['line'] }, { line }, found.message)
      assert.match(found.message.slice(`session.sdp: line ${line} `.length), problem)
    })
  }
})

describe('the most lines of a session description', () => {
  const fill = (count: number) => [...base, ...Array.from({ length: count - base.length }, () => 'a=mid:0')]
  const cases: readonly [name: string, sdp: string, isTaken: boolean][] = [
    ['at the limit', write(fill(maxSdpLines)), true],
    ['at the limit, the last without an end', write(fill(maxSdpLines)).trimEnd(), true],
    ['one more', write(fill(maxSdpLines + 1)), false],
    ['one more, with LF alone', `${fill(maxSdpLines + 1).join('\n')}\n`, false],
    ['one more, without an end', write(fill(maxSdpLines + 1)).trimEnd(), false],
    ['an empty one more', `${write(fill(maxSdpLines))}\r\n`, false],
    ['as many as fit', `${write(base)}${'a=mid:0\n'.repeat(8000)}`, false],
    ['nothing but ends', '\n'.repeat(65_536), false],
    // What is wrong with a line is not looked for: each costs time.
    ['too many and the first one wrong', write(['x=1', ...fill(maxSdpLines)]), false],
  ]
  for (const [name, sdp, isTaken] of cases) {
    test(`${name}: ${isTaken ? 'taken' : 'refused'}`, () => {
      const found = findSdpProblem(sdp)
      assert.equal(found?.id, isTaken ? undefined : 'sdp_too_many_lines')
      if (!isTaken) assert.deepEqual(found?.args, { line: maxSdpLines + 1, max: maxSdpLines })
    })
  }

  test('the most lines of a session description is far above what browsers send', () => {
    for (const { name, sdp } of goodDescriptions) assert.ok(sdp.split('\n').length * 5 < maxSdpLines, name)
  })
})

test('a line end of either kind counts as one line', () => {
  const found = findSdpProblem(`${base.slice(0, 5).join('\n')}\r\n${replace(6, 'm=audio').slice(5).join('\n')}`)
  assert.equal(found?.args['line'], 6)
})

test('what is quoted of a long value is short', () => {
  const found = findSdpProblem(write(replace(2, `o=- 1 1 IN IP4 ${'9.'.repeat(20_000)}`)))
  assert.ok(found && found.message.length < 200)
})

test('long and hostile values are judged at once', () => {
  const long = 60_000
  const values = [
    insert(4, `e=${' '.repeat(long)}`),
    insert(4, `p=1${' '.repeat(long)}x`),
    replace(6, `m=audio 9 ${'RTP/'.repeat(long / 4)}`),
    insert(5, `r=${'1 '.repeat(long / 2)}`),
    attribute(`candidate:${' 1'.repeat(long / 2)}`),
    attribute(`ptime:${'1.'.repeat(long / 2)}`),
    attribute(`ssrc-group:${'1 '.repeat(long / 2)}`),
    Array.from({ length: long / 6 }, () => 'a=mid:'),
  ]
  const before = process.cpuUsage()
  for (const lines of values) assert.ok(findSdpProblem(write(lines)))
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 2_000_000, `it took ${user + system} µs of the processor`)
})

function write(lines: readonly string[]): string {
  return lines.map((line) => `${line}\r\n`).join('')
}
