import { ids, tokens } from '../harness/world.ts'
import type { FuzzedOperation } from './document.ts'
import type { Draw } from './draw.ts'
import { makeMultipartBytes } from './multipart-bytes.ts'
import { type FuzzRequest, makeRequest, type Play, type RequestSources } from './requests.ts'

type Framing = 'length' | 'chunked'

/** A request as bytes on a connection of its own: trickled, pipelined, framed wrongly, or broken off at any byte. */
export function makeWireRequest(
  draw: Draw,
  operation: FuzzedOperation,
  operations: readonly FuzzedOperation[],
  sources: RequestSources,
): FuzzRequest {
  const make = () => makeUsual(draw, draw.chance(30) ? pickWithFile(draw, operations) : operation, sources)
  const first = make()
  const lot = draw.index(100)
  if (lot < 40) return wait(draw, first, [first], [frame(draw, first)])
  if (lot < 50) {
    const others = Array.from({ length: draw.integer(1, 4) }, make)
    const all = [first, ...others]
    return wait(
      draw,
      first,
      all,
      all.map((one) => frame(draw, one)),
    )
  }
  if (lot < 55) return expecting(draw, first)
  if (lot < 60) return wait(draw, first, [first], [frame(draw, first), Buffer.from(draw.pick(garbage))])
  if (lot < 68) return wait(draw, first, [], [write(first, draw.pick(wrongLengths), first.body ?? noBytes)])
  if (lot < 76) return breakOff(draw, first, write(first, 'Transfer-Encoding: chunked', wrongChunks(draw, first)))
  if (lot < 82) return breakOff(draw, first, tooLong(draw, first))
  if (lot < 86) return breakOff(draw, first, Buffer.from(draw.pick(strangeRequests)))
  const bytes = frame(draw, first)
  return breakOff(draw, first, bytes.subarray(0, draw.index(bytes.length + 1)))
}

const noBytes = Buffer.alloc(0)
const garbage = [
  'GARBAGE\r\n\r\n',
  '\0\0\0',
  'POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n',
  '\r\n\r\n}{\r\n\r\n',
  'GET',
]
/** What asks for another protocol, or is of one. */
const strangeRequests = [
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\nabc',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nabc',
  'GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /readyz HTTP/1.0\r\n\r\n',
  'GET /readyz\r\n',
  'OPTIONS * HTTP/1.1\r\n\r\n',
]
/** Refused at once, for whatever reason comes first. */
const wrongLengths = [
  'Content-Length: -1',
  'Content-Length: 1e3',
  'Content-Length: 0x10',
  'Content-Length: 99999999999999999999999',
  'Content-Length: 5, 6',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: nonsense',
]

/** As its document takes it or broken in one place; of a body often the bytes of a multipart one. */
function makeUsual(draw: Draw, operation: FuzzedOperation, sources: RequestSources): FuzzRequest {
  const mood = draw.chance(50) ? 'valid' : 'broken'
  const request = { ...makeRequest(draw, operation, mood, sources), mood: 'wire' as const }
  const headers = request.headers.filter(([name]) => name !== 'Content-Type')
  if (operation.body && draw.chance(50)) {
    const { contentType, bytes } = makeMultipartBytes(draw)
    return { ...request, headers: [...headers, ['Content-Type', contentType]], body: bytes }
  }
  const urls = sources.memory.recall('url').map(String).filter(isDownload)
  if (operation.method !== 'GET' || urls.length === 0 || draw.chance(90)) return request
  const { pathname, search } = new URL(draw.pick(urls))
  return {
    ...request,
    operation: undefined,
    isDownload: true,
    target: pathname + search,
    headers: [['Authorization', `Bearer ${tokens.owner}`]],
  }
}

/** Whether it is the address of a media file that was uploaded; those of the world have no bytes. */
function isDownload(url: string): boolean {
  return url.includes('/media/') && !Object.values(ids).some((id) => url.includes(id))
}

/** The operations whose bodies are files or bytes: what breaks off there could leave something. */
function pickWithFile(draw: Draw, operations: readonly FuzzedOperation[]): FuzzedOperation {
  return draw.pick(operations.filter(({ body = {} }) => /octet-stream|"binary"/.test(JSON.stringify(body))))
}

function wait(draw: Draw, request: FuzzRequest, whole: readonly FuzzRequest[], bytes: readonly Buffer[]): FuzzRequest {
  return withPlay(draw, request, { bytes: Buffer.concat(bytes), ending: 'wait', whole })
}

function breakOff(draw: Draw, request: FuzzRequest, bytes: Buffer): FuzzRequest {
  return withPlay(draw, request, { bytes, ending: draw.pick(['end', 'close', 'reset'] as const), whole: [] })
}

/** The head alone, and the body when the server wants it. */
function expecting(draw: Draw, request: FuzzRequest): FuzzRequest {
  const expectation = draw.pick(['100-continue', 'the unexpected'])
  const asked = { ...request, headers: [...request.headers, ['Expect', expectation] as const] }
  const bytes = frame(draw, asked)
  // An expectation that is not understood is not answered.
  const headBytes = expectation === '100-continue' ? bytes.indexOf('\r\n\r\n') + 4 : 0
  return withPlay(draw, asked, { bytes, ending: 'wait', whole: [asked], headBytes })
}

function withPlay(draw: Draw, request: FuzzRequest, play: Omit<Play, 'pieces'>): FuzzRequest {
  return { ...request, play: { ...play, pieces: cut(draw, play.bytes.length) } }
}

/** In one go, in a few pieces, or the first bytes one by one. */
function cut(draw: Draw, length: number): number[] {
  const lot = draw.index(100)
  if (lot < 50) return []
  if (lot < 85) return Array.from({ length: draw.integer(1, 6) }, () => draw.index(Math.ceil(length / 3) + 1))
  return Array.from({ length: Math.min(length, 300) }, () => 1)
}

function frame(draw: Draw, request: FuzzRequest): Buffer {
  const { body } = request
  if (!body) return write(request, undefined, noBytes)
  const framing: Framing = draw.chance(50) ? 'length' : 'chunked'
  if (framing === 'length') return write(request, `Content-Length: ${body.length}`, body)
  return write(
    request,
    'Transfer-Encoding: chunked',
    Buffer.concat([...chunk(draw, body), Buffer.from(lastChunk(draw))]),
  )
}

function lastChunk(draw: Draw): string {
  return draw.pick(['0\r\n\r\n', '0\r\n\r\n', '000;ext=1\r\n\r\n', '0\r\nX-Trailer: a\r\n\r\n'])
}

function chunk(draw: Draw, body: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length && chunks.length < 40; ) {
    const size = chunks.length === 39 ? body.length - at : draw.pick([1, 2, 3, 70, 1000, 16_384, 70_000])
    const piece = body.subarray(at, at + size)
    at += piece.length
    const extension = draw.chance(5) ? ';a="b"' : ''
    chunks.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from('\r\n'))
  }
  return chunks
}

/** Chunks whose sizes are none, or not theirs, or that never end. */
function wrongChunks(draw: Draw, { body = noBytes }: FuzzRequest): Buffer {
  const good = Buffer.concat(chunk(draw, body))
  const wrong = draw.pick([
    'zz\r\n{}\r\n0\r\n\r\n',
    '-1\r\n\r\n',
    'ffffffffffffffffff\r\nabc',
    '7fffffff\r\nabc',
    '5\r\nabc\r\n0\r\n\r\n',
    '1\r\nabc\r\n0\r\n\r\n',
    '3\nabc\n0\n\n',
    '3;a\r\nabc',
    `0${'0'.repeat(5000)}\r\n`,
    `1;${'e'.repeat(30_000)}\r\na\r\n`,
    `0\r\n${'T: t\r\n'.repeat(5000)}\r\n`,
    '',
  ])
  return Buffer.concat([draw.chance(50) ? good : noBytes, Buffer.from(wrong)])
}

function tooLong(draw: Draw, request: FuzzRequest): Buffer {
  const { body = noBytes } = request
  const length = draw.pick([body.length + 1, body.length + 1000, 900_000, 99_000_000, 2 ** 53 - 1])
  return write(request, `Content-Length: ${length}`, body)
}

function write({ method, target, headers }: FuzzRequest, framing: string | undefined, body: Buffer): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: x',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(framing === undefined ? [] : [framing]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}
