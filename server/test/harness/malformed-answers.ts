/** Malformed responses of a callback: each breaks HTTP in one place, and closes the connection. */
const ok = 'HTTP/1.1 200 OK\r\n'

export const malformedAnswers: Readonly<Record<string, string>> = {
  // Status lines
  'a status of 000': 'HTTP/1.1 000\r\n\r\n',
  'a status of 000 with a length': 'HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n',
  'a status of 099': 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
  'a status of four digits': 'HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n',
  'a status of two digits': 'HTTP/1.1 20 Short\r\nContent-Length: 0\r\n\r\n',
  'a status of letters': 'HTTP/1.1 abc\r\n\r\n',
  'a status below 0': 'HTTP/1.1 -1\r\n\r\n',
  'a status that switches protocols': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'a status that switches protocols, with the header':
    'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'a hint and nothing else': 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  'hints without end': `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)}${ok}Content-Length: 2\r\n\r\nok`,
  'an unknown hint and nothing else': 'HTTP/1.1 199 X\r\n\r\n',
  'an unknown version': 'HTTP/9.9 200 OK\r\n\r\n',
  'another protocol': 'ICY 200 OK\r\n\r\n',
  'a reason that does not end': `HTTP/1.1 200 ${'x'.repeat(200_000)}`,
  'line ends of one kind': 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok',
  nothing: '',
  'a page without a head': '<html></html>',
  'bytes that are no text': '\0\x01\xff\xfe\r\n\r\n',
  // Headers
  'a header without a colon': `${ok}no colon\r\n\r\n`,
  'a header without a name': `${ok}: x\r\n\r\n`,
  'a header with a NUL': `${ok}a: b\0c\r\n\r\n`,
  'a folded header': `${ok}a: b\r\n c\r\nContent-Length: 0\r\n\r\n`,
  'headers without an end': `${ok}a: b\r\n`,
  'one huge header': `${ok}a: ${'x'.repeat(200_000)}\r\n\r\n`,
  'many headers': `${ok}${`a: ${'x'.repeat(1000)}\r\n`.repeat(200)}\r\n`,
  'a length below 0': `${ok}Content-Length: -1\r\n\r\n`,
  'a length beyond all numbers': `${ok}Content-Length: ${'9'.repeat(40)}\r\n\r\n`,
  'two lengths': `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
  'a length and chunks': `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  // Bodies
  'a body that breaks off': `${ok}Content-Length: 10\r\n\r\nabc`,
  'a chunk without a size': `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  'a chunk of an impossible size': `${ok}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(30)}\r\n`,
  'a chunk that breaks off': `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nab`,
  'trailers that are none': `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx y\r\n\r\n`,
  'an encoding that nobody asked for': `${ok}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`,
  'more than its length': `${ok}Content-Length: 2\r\n\r\nokGARBAGE`,
  'two answers': `${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n`,
}
