import { ids, tokens } from '../harness/world.ts'
import { makeAbsurdBody } from './absurd-bodies.ts'
import type { FuzzedOperation } from './document.ts'
import type { Draw } from './draw.ts'
import { type FuzzRequest, makeRequest, type RequestSources } from './requests.ts'

/** A request that nobody would make on purpose: its body, its headers, its path, its method or its very bytes are absurd. */
export function makeAbsurdRequest(draw: Draw, operation: FuzzedOperation, sources: RequestSources): FuzzRequest {
  const usual = { ...makeRequest(draw, operation, 'valid', sources), mood: 'absurd' as const }
  const lot = draw.index(100)
  if (lot < 50 && operation.body) return withBody(draw, usual)
  if (lot < 60) return withQuery(draw, usual)
  if (lot < 72) return withHeaders(draw, usual)
  if (lot < 84) return withPath(draw, usual)
  if (lot < 91) return withMethod(draw, usual)
  return inBytes(draw, usual)
}

function withBody(draw: Draw, request: FuzzRequest): FuzzRequest {
  const { contentType, bytes, headers = [] } = makeAbsurdBody(draw)
  const others = request.headers.filter(([name]) => name !== 'Content-Type')
  const type = contentType === undefined ? [] : [['Content-Type', contentType] as const]
  return { ...request, headers: [...others, ...type, ...headers], body: bytes }
}

const queries = [
  '?',
  '?&&&&',
  '?%00=%00',
  '?limit=1&limit=2&fields=id&fields=name',
  '?fields[]=id&fields[a]=b',
  '?limit=1e3&after=%F0%9F%8C%B1',
  '?limit=-0&before=AAAA&after=AAAA',
  '?after=%ED%A0%80',
  `?fields=${'id,'.repeat(2000)}`,
  `?${'a=1&'.repeat(2000)}`,
  '?access_token=x&access_token=y',
  '?__proto__=1&__proto__[a]=1',
  '?%',
  '?filtering=[{%22a%22:%22b%22}]',
  '?hub.mode=subscribe&hub.mode=subscribe&hub.challenge=1&hub.verify_token=2',
  '?hub.mode[]=subscribe',
  '?to=%2B1&since=99999999999999999999&until=-1',
]

function withQuery(draw: Draw, request: FuzzRequest): FuzzRequest {
  return { ...request, target: (request.target.split('?', 1)[0] ?? '') + draw.pick(queries) }
}

const strangeHeaders: readonly (readonly [string, string])[] = [
  ['traceparent', '00-00000000000000000000000000000000-0000000000000000-00'],
  ['traceparent', 'x'.repeat(3000)],
  ['Range', 'bytes=-1-5,9-'],
  ['If-None-Match', '*'],
  ['Accept', 'image/*;q=x'],
  ['Accept-Encoding', 'nonsense;q=9'],
  ['Accept-Language', 'x'.repeat(5000)],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', "'; drop table"],
  ['X-Forwarded-Host', 'a b c'],
  ['Content-Encoding', 'br'],
  ['Content-Length-X', '-1'],
  ['file_offset', '-1'],
  ['file_offset', '1e99'],
  ['Origin', 'null'],
  ['Cookie', 'a=b; '.repeat(500)],
  ['Upgrade', 'websocket'],
  ['Expect', '100-continue'],
  ['Expect', 'the unexpected'],
  ['Host', '..'],
  ['Authorization', `Bearer ${'t'.repeat(9000)}`],
  ['X-Hub-Signature-256', 'sha256=zz'],
]

function withHeaders(draw: Draw, request: FuzzRequest): FuzzRequest {
  const [name, value] = draw.pick(strangeHeaders)
  const others = request.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase())
  return { ...request, headers: [...others, [name, value]] }
}

/** None of them is a path of a document. */
const paths = [
  '/',
  '//',
  '/v23.0',
  '/v23.0/',
  `/v23.0/${ids.account}/no_such_edge`,
  `/v23.0/${ids.account}/phone_numbers/1/2/3`,
  `/v23.0//${ids.account}`,
  '/v23.0/%',
  '/v23.0/%ff%fe',
  '/v23.0/%00/%00/%00/%00',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/../../../etc/passwd/x',
  '/gateway',
  '/gateway/__proto__/x',
  '/msgapp',
  '/msgapp/webhooks/more',
  '/v99999999.0/1/2/3/4',
  `/v23.0/a/b/${'c'.repeat(12_000)}`,
  '/v23.0/1/2?%',
  '/%E4%B8%AD%E6%96%87/x/y/z',
  '/docs/../openapi.json/x/y',
  '/healthz/x/y',
]

function withPath(draw: Draw, request: FuzzRequest): FuzzRequest {
  const target = draw.pick(paths)
  // The door of whoever opens it with a browser answers pages, and belongs to no document.
  const isPage = request.method === 'GET' && (target === '/' || target === '//')
  return { ...request, operation: undefined, target: isPage ? '/v23.0' : target }
}

function withMethod(draw: Draw, request: FuzzRequest): FuzzRequest {
  // The one path that is put to, by others than who may.
  const puts = request.target.startsWith('/operator/faults') ? [] : ['PUT']
  const method = draw.pick([...puts, 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'MKCOL'])
  return { ...request, operation: undefined, method }
}

/** What Node's parser refuses never becomes a request of an operation. */
function inBytes(draw: Draw, request: FuzzRequest): FuzzRequest {
  const { target } = request
  const token = `Authorization: Bearer ${tokens.owner}`
  const head = (...lines: string[]) => `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`
  const texts = [
    head(`GET ${target} HTTP/1.1`, 'Host: x', 'No colon here'),
    head(`GET ${target} HTTP/9.9`, 'Host: x'),
    head(`get ${target} HTTP/1.1`, 'Host: x', token),
    head(`FROBNICATE ${target} HTTP/1.1`, 'Host: x'),
    head(`POST ${target} HTTP/1.1`, 'Host: x', token, 'Content-Length: -5'),
    head(`POST ${target} HTTP/1.1`, 'Host: x', token, 'Content-Length: 1', 'Content-Length: 2'),
    head(`POST ${target} HTTP/1.1`, 'Host: x', token, 'Transfer-Encoding: chunked', 'Content-Length: 3'),
    `${head(`POST ${target} HTTP/1.1`, 'Host: x', token, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n{}`,
    head(`GET ${target} HTTP/1.1`, 'Host: x', `X-Long: ${'l'.repeat(20_000)}`),
    head(`GET ${target} HTTP/1.1`, 'Host: x', 'X-Bad: a\u0000b'),
    head(`GET /v23.0/\u00ff\u0001 HTTP/1.1`, 'Host: x'),
    head(`GET ${target} extra HTTP/1.1`, 'Host: x'),
    head('OPTIONS * HTTP/1.1', 'Host: x'),
    head('CONNECT 127.0.0.1:1 HTTP/1.1', 'Host: x'),
    `\u0016\u0003\u0001\u0002\u0000${'\u0001'.repeat(100)}\r\n\r\n`,
    '\r\n\r\n\r\nGARBAGE\r\n\r\n',
  ]
  return {
    ...request,
    operation: undefined,
    headers: [],
    body: undefined,
    bytes: Buffer.from(draw.pick(texts), 'latin1'),
  }
}
