import { exampleOffer } from '../../src/resources/calls/examples.ts'
import { maxSdpLines } from '../../src/resources/calls/sdp/form.ts'
import { signHubByHand } from '../harness/webhooks.ts'
import { ids, numbers, qrCodes, tokens, users } from '../harness/world.ts'
import { genericBodies, repeat } from './generic-bodies.ts'
import { bodyBytes, type WorstRequest } from './requests.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
const eventBytes = 3_145_728
/** What holds a file is read as it comes, so that what is above a megabyte makes no difference; one has all that it may. */
const mediaTextBytes = 16_777_216
const usualTextBytes = 2_097_152
const maxSdpLength = 65_536

function post(
  name: string,
  target: string,
  token: string,
  type: string,
  makeBody: (attempt: number) => Buffer,
): WorstRequest {
  return { name, method: 'POST', target, headers: { authorization: `Bearer ${token}`, 'content-type': type }, makeBody }
}

/** What the tables do not say: descriptions of sessions, keys, messages that are sent once, events, files, and heads of requests. */
export function* listSpecialRequests(): Generator<WorstRequest> {
  yield* listSessions()
  yield* listKeys()
  yield* listSentOnce()
  yield* listEvents()
  yield* listFiles()
  yield* listHeads()
}

/** With an Idempotency-Key the whole body counts: as many members that nothing else reads as it may have. */
function* listSentOnce(): Generator<WorstRequest> {
  const target = `/v23.0/${numbers.main}/messages`
  const headers = { authorization: `Bearer ${tokens.owner}`, 'content-type': json }
  const message = { messaging_product: 'msgapp', to: users.granting, text: { body: 'Hello' } }
  const members = Object.fromEntries(Array.from({ length: 19_900 }, (_, i) => [`k${i}`, 'v'.repeat(30)]))
  for (const [name, body] of [
    ['members', { ...message, ...members }],
    ['members of a member', { ...message, members }],
  ] as const) {
    const makeBody = () => Buffer.from(JSON.stringify(body))
    yield {
      name: `a message that is sent once, with many ${name}`,
      method: 'POST',
      target,
      headers: { ...headers, 'idempotency-key': name },
      makeBody,
    }
  }
}

/** Each as long as it may be: many lines of one kind, or one line with many parts. */
function* listSessions(): Generator<WorstRequest> {
  const start = exampleOffer.slice(0, exampleOffer.indexOf('m='))
  const media = exampleOffer.slice(exampleOffer.indexOf('m='))
  const lines = [
    'a=mid:0',
    'a=x',
    'a=candidate:1 1 udp 1 1.1.1.1 9 typ host',
    'a=ssrc:1 a',
    'a=rtpmap:0 a/1',
    'a=fmtp:0 a',
    'a=extmap:1 a',
    'a=fingerprint:sha-256 AA',
    'a=rtcp-fb:0 a',
    'a=ice-ufrag:a',
    'a=setup:active',
    'm=audio 9 RTP/AVP 0\r\nc=IN IP4 0.0.0.0',
  ]
  const room = maxSdpLength - exampleOffer.length
  for (const line of lines) {
    const many = (count: number) => session(`${count} lines ${line}`, `${exampleOffer}${`${line}\r\n`.repeat(count)}`)
    yield many(Math.floor((maxSdpLines - exampleOffer.split('\n').length) / line.split('\n').length))
    yield many(Math.floor(room / (line.length + 2)))
  }
  for (const [line, part] of [
    ['a=ssrc-group:FID', ' 1'],
    ['a=candidate:1', ' 1'],
    ['a=fingerprint:sha-256 AA', ':AA'],
    ['a=ptime:', '1'],
    ['m=audio 9 RTP/AVP', ' 0'],
    ['a=x:', ' '],
  ] as const) {
    const long = `${line}${part.repeat(Math.floor((room - line.length - 2) / part.length))}`
    yield session(`a long line ${line}`, `${exampleOffer}${long}\r\n`)
  }
  for (const [line, part] of [
    ['e=', ' a@'],
    ['p=1', ' 1'],
    ['u=http://a/', '%'],
    ['i=', ' '],
    ['b=AS:', '1'],
  ] as const) {
    const long = `${line}${part.repeat(Math.floor((room - line.length - 2) / part.length))}`
    yield session(`a long line ${line}`, `${start.replace('t=', `${long}\r\nt=`)}${media}`)
  }
}

function session(name: string, sdp: string): WorstRequest {
  const body = {
    messaging_product: 'msgapp',
    action: 'connect',
    to: users.granting,
    session: { sdp_type: 'offer', sdp },
  }
  const path = `/v23.0/${ids.phone_number}/calls`
  return post(`a session: ${name}`, path, tokens.owner, json, () => Buffer.from(JSON.stringify(body)))
}

function* listKeys(): Generator<WorstRequest> {
  const path = `/v23.0/${ids.phone_number}/msgapp_business_encryption`
  for (const [name, start, repeated, end] of [
    ['many lines', '-----BEGIN PUBLIC KEY-----\n', 'A\n', '-----END PUBLIC KEY-----'],
    ['one line', '-----BEGIN PUBLIC KEY-----\n', 'MIIB', '\n-----END PUBLIC KEY-----'],
    ['many beginnings', '', '-----BEGIN ', ''],
    ['blanks', '', '\n ', ''],
  ] as const) {
    const key = repeat(start, repeated, end, 8192).toString()
    const body = Buffer.from(JSON.stringify({ business_public_key: key }))
    yield post(`a key: ${name}`, path, tokens.owner, json, () => body)
  }
}

const metadata = { display_phone_number: '1', phone_number_id: numbers.main }
const contacts = [{ profile: { name: 'A' } }]
const about = `"messaging_product":"msgapp","metadata":${JSON.stringify(metadata)},"contacts":${JSON.stringify(contacts)}`

const message = (body: string, id: string) =>
  `{"from":"1","id":"${id}","timestamp":"1","type":"text","text":{"body":"${body}"}}`
const messages = (list: string, others = '') => change('messages', `{${about},"messages":[${list}]${others}}`)
/** Of one message, with something beside it. */
const oneMessage = (name: string, others: string) =>
  event(name, (attempt) => envelope([messages(message('x', `${name} ${attempt}`), others)]))
const longMessage = (name: string, repeated: string) =>
  event(name, (attempt) => envelope([messages(message(fillEvent(repeated), `${name} ${attempt}`))]))

function fillEvent(text: string): string {
  return text.repeat(Math.floor((eventBytes - 1000) / Buffer.byteLength(text)))
}

/** Posts of events by the token of the gateway, as large as they may be, and one by a signature. */
function* listEvents(): Generator<WorstRequest> {
  const updates = (count: number) => Array(count).fill(change('account_update', '{}')).join()
  yield event('many changes', () => envelope(Array(50).fill(updates(250))))
  yield event('many entries', () => envelope(Array(1000).fill(updates(10))))
  yield event('many messages', (attempt) =>
    envelope([
      Array.from({ length: 6 }, (_, part) =>
        messages(Array.from({ length: 1000 }, (_, index) => message('x', `${attempt}.${part}.${index}`)).join()),
      ).join(),
    ]),
  )
  yield event('the same message again', () =>
    envelope([
      Array(6)
        .fill(messages(Array(1000).fill(message('x', 'same')).join()))
        .join(),
    ]),
  )
  yield event('messages that are wrong', () => envelope([messages(Array(1000).fill('{}').join())]))
  yield longMessage('a long text', 'x')
  yield longMessage('a long text beyond ASCII', 'é')
  yield longMessage('a long text of escapes', '\\u00e9')
  yield longMessage('a long text of quotes', '\\"')
  yield oneMessage('many exact numbers', `,"x":[0${',1e5'.repeat(29_000)}]`)
  yield oneMessage('one long number', `,"x":1${fillEvent('0')}`)
  const wide = Array.from({ length: 29_000 }, (_, index) => `"k${index.toString(36)}":1e5`).join()
  yield oneMessage('many members with exact numbers', `,"x":{${wide}}`)
  yield oneMessage('deep with an exact number', `,"x":${'['.repeat(8000)}1e5${']'.repeat(8000)}`)
  yield oneMessage('as deep as it may be', `,"x":${'['.repeat(50)}1e5${']'.repeat(50)}`)
  for (const { name, make } of genericBodies.filter(({ type }) => type === json)) {
    yield event(name, () => make(eventBytes).toString('latin1'))
  }
  yield signedEvent()
}

function change(field: string, value: string): string {
  return `{"field":"${field}","value":${value}}`
}

function envelope(entries: readonly string[]): string {
  const written = entries.map((changes) => `{"id":"${ids.account}","changes":[${changes}]}`)
  return `{"object":"msgapp_business_account","entry":[${written.join()}]}`
}

function event(name: string, make: (attempt: number) => string): WorstRequest {
  const request = post(`an event: ${name}`, '/msgapp/webhooks', tokens.gateway, json, (attempt) =>
    Buffer.from(make(attempt)),
  )
  return { ...request, isDelivered: true }
}

function signedEvent(): WorstRequest {
  const body = envelope([messages(message(fillEvent('x'), 'signed'))])
  const headers = { 'content-type': json, 'x-hub-signature-256': signHubByHand(body, 'shrub-app-secret') }
  const target = '/msgapp/webhooks'
  return { name: 'an event: signed', method: 'POST', target, headers, makeBody: () => Buffer.from(body) }
}

/** Files as text, as large as they may be, in every encoding. */
function* listFiles(): Generator<WorstRequest> {
  const path = `/v23.0/${ids.phone_number}/media`
  const send = (name: string, type: string, make: () => Buffer) =>
    post(`a file: ${name}`, path, tokens.owner, type, make)
  for (const [name, start, repeated] of [
    ['base64', '', 'QUJD'],
    ['base64 of lines', '', 'QUJD\\n'],
    ['base64 with blanks', '', 'Q '],
    ['base64 of escapes', '', '\\u0041'],
    ['base64 for URLs', '', '-_'],
    ['no base64', '', '!'],
    ['a data URL', 'data:;base64,', 'QUJD'],
    ['a data URL of escapes', 'data:,', '%41'],
    ['a data URL of escaped base64', 'data:;base64,', '%41'],
    ['a data URL beyond ASCII', 'data:,', 'é'],
    ['a data URL with a long type', 'data:', '; '],
  ] as const) {
    yield send(name, json, () => repeat(`{"file":"${start}`, repeated, '"}', usualTextBytes))
  }
  for (const { name, type, make } of genericBodies.filter((body) => !body.type.startsWith('multipart'))) {
    yield send(name, type, () => make(usualTextBytes))
  }
  yield send('all that it may have', json, () => repeat('{"file":"', 'QUJD', '"}', mediaTextBytes))
  yield send('base64 in a form', form, () => repeat('file=', 'QUJD', '', usualTextBytes))
  yield send('escaped base64 in a form', form, () => repeat('file=', '%2B', '', usualTextBytes))
  yield send('pluses in a form', form, () => repeat('file=', '+', '', usualTextBytes))
}

/** Paths and headers as long as they may be. */
function* listHeads(): Generator<WorstRequest> {
  const owner = `Bearer ${tokens.owner}`
  const long = (text: string) => text.repeat(Math.floor(15_000 / text.length))
  for (const [name, target] of [
    ['slashes', `/v23.0/${ids.account}/phone_numbers${long('/')}x`],
    ['slashes at the end', `/v23.0/${ids.account}/phone_numbers${long('/')}`],
    ['escapes', `/v23.0/${long('%41')}`],
    ['many parts', `/v23.0${long('/a')}`],
    ['a version of digits', `/v${long('1')}.0/${ids.account}`],
    ['an upload', `/v23.0/upload:${long('a')}`],
    ['a QR code', `/qr/${long(qrCodes.main)}.png`],
    ['a picture', `/pictures/${long('a')}`],
    ['a medium', `/media/${long('1')}?signature=${'a'.repeat(500)}`],
  ] as const) {
    yield { name: `a path of ${name}`, method: 'GET', target, headers: { authorization: owner } }
  }
  for (const [name, value] of [
    ['authorization', `Bearer ${long(' ')}x y`],
    ['content-type', `multipart/form-data; ${long('a=b; ')}boundary=b`],
    ['content-type', `application/json;${long(' ;')}`],
    ['traceparent', long('0')],
    ['accept-encoding', long('br;q=0,')],
    ['if-none-match', long('"a",')],
    ['range', `bytes=${long('1')}-`],
    ['cookie', long('a=b; ')],
  ] as const) {
    const headers = { authorization: owner, 'content-type': json, [name]: value }
    const target = `/v23.0/${ids.account}`
    yield { name: `a long header ${name}`, method: 'POST', target, headers, makeBody: () => Buffer.from('{}') }
  }
  const appended = { authorization: owner, file_offset: '0' }
  const target = `/v23.0/${ids.upload}`
  const makeBody = () => Buffer.alloc(5 * bodyBytes, 1)
  yield { name: 'bytes of an upload', method: 'POST', target, headers: appended, makeBody }
}
