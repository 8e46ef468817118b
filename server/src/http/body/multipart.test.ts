import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { thrown } from '../../../test/harness/errors.ts'
import { byForm, testLong } from '../../../test/harness/form.ts'
import { fc } from '../../../test/harness/properties.ts'
import {
  boundaryMissing,
  delimiterGoesOn,
  headEndsInLineFeed,
  multipartEndsEarly,
  partHeadTooLong,
  partNotInCharset,
  partWithoutName,
  tooManyParts,
  tooMuchBesidesFile,
  tooMuchFraming,
} from '../errors.ts'
import { MultipartReader } from './multipart.ts'
import { readBoundary } from './part-head.ts'

type Parts = readonly (readonly [name: string, content: Buffer])[]

/** The bytes in pieces: cut at these places, all of them or those that there are. */
async function* cutAt(bytes: Buffer, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const cuts = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  )
  for (const [index, cut] of cuts.entries()) {
    const piece = Buffer.from(bytes.subarray(cut, cuts[index + 1] ?? bytes.length))
    yield piece
    // What is not copied by then is not the sender's any more.
    piece.fill('?')
  }
}

/** The parts of a body, with the content of every other one skipped when that is wanted. */
async function read(body: Buffer, boundary: string, places: readonly number[] = [], skips = false): Promise<Parts> {
  const reader = new MultipartReader(cutAt(body, places), boundary, Number.POSITIVE_INFINITY)
  const parts: [string, Buffer][] = []
  for (let part = await reader.nextPart(); part; part = await reader.nextPart()) {
    const pieces: Buffer[] = []
    if (!skips || parts.length % 2 === 0)
      for await (const piece of reader.readContent()) pieces.push(Buffer.from(piece))
    parts.push([part.name, Buffer.concat(pieces)])
  }
  return parts
}

function write(parts: Parts, boundary: string): Buffer {
  const written = parts.flatMap(([name, content]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name.replaceAll(/["\\]/g, '\\$&')}"\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)])
}

const boundary = 'bo-un'
/** Full of what a delimiter is made of, and seldom one. */
const content = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n', '\r\n-', '\r\n--', '\r\n--bo-u', 'bo-un', 'n', 'é', '\0'), {
    maxLength: 12,
  })
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\r\n${text}\r\n--`.slice(0, -4).includes(`\r\n--${boundary}`))
  .map((text) => Buffer.from(text))
const places = fc.array(fc.nat(400), { maxLength: 20 })
const name = fc.string({
  unit: fc.constantFrom('a', '"', '\\', ';', '=', ' ', 'é', '🌱', ':'),
  minLength: 1,
  maxLength: 6,
})
const parts = fc.array(fc.tuple(name, content), { maxLength: 4 })

describe('a multipart body', () => {
  test('a multipart body is read as it was written, wherever it is cut', async () => {
    const property = fc.asyncProperty(parts, places, async (written, cuts) => {
      assert.deepEqual(await read(write(written, boundary), boundary, cuts), written)
    })
    await fc.assert(property, { numRuns: byForm(100, 500) })
  })

  test('a multipart body is read so when it comes byte by byte, and when contents are skipped', async () => {
    const property = fc.asyncProperty(parts, async (written) => {
      const body = write(written, boundary)
      const everywhere = Array.from({ length: body.length }, (_, index) => index)
      assert.deepEqual(await read(body, boundary, everywhere), written)
      const some = written.map(([name, content], index) => [name, index % 2 === 0 ? content : Buffer.alloc(0)] as const)
      assert.deepEqual(await read(body, boundary, everywhere, true), some)
    })
    await fc.assert(property, { numRuns: 100 })
  })

  test('a multipart body that is broken in any way is read or refused, the same wherever it is cut', async () => {
    const body = fc.tuple(parts, fc.nat(400), fc.nat(20), content).map(([written, start, length, put]) => {
      const whole = write(written, boundary)
      const at = start % (whole.length + 1)
      return Buffer.concat([whole.subarray(0, at), put, whole.subarray(at + length)])
    })
    const outcome = (bytes: Buffer, cuts: readonly number[]) =>
      read(bytes, boundary, cuts).catch((error: { status: number; message: string }) => {
        assert.equal(error.status, 400, error.message)
        return error.message
      })
    const property = fc.asyncProperty(body, places, async (bytes, cuts) => {
      assert.deepEqual(await outcome(bytes, cuts), await outcome(bytes, []))
    })
    await fc.assert(property, { numRuns: byForm(200, 1000) })
  })

  const head = 'Content-Disposition: form-data; name="a"'
  const part = `--x\r\n${head}\r\n\r\n`
  for (const [what, body, names] of [
    ['only its last delimiter', '--x--', []],
    ['something before and behind', `hello\r\n${part}1\r\n--x--\r\nbye\r\n--x\r\n`, ['a']],
    ['blank space behind delimiters', `--x \t\r\n${head}\r\n\r\n1\r\n--x-- \t`, ['a']],
    ['headers in any case and order', '--x\r\nX-A: b\r\ncontent-disposition:FORM-DATA;Name=a\r\n\r\n1\r\n--x--', ['a']],
    ['a header over two lines', '--x\r\nContent-Disposition: form-data;\r\n\tname="a b"\r\n\r\n1\r\n--x--', ['a b']],
    ['a file name with quotes in it', `--x\r\n${head}; filename="b"c"\r\n\r\n1\r\n--x--`, ['a']],
    ['an empty name', '--x\r\nContent-Disposition: form-data; name=""\r\n\r\n1\r\n--x--', ['']],
  ] as const) {
    test(`a multipart body is taken with ${what}`, async () => {
      assert.deepEqual(
        (await read(Buffer.from(body), 'x')).map(([name]) => name),
        names,
      )
    })
  }

  const early = multipartEndsEarly()
  const unnamed = partWithoutName()
  for (const [what, body, expected] of [
    ['nothing', '', early],
    ['no delimiter', 'hello\r\n', early],
    ['no last delimiter', `${part}1\r\n`, early],
    ['half of its last delimiter', `${part}1\r\n--x-`, early],
    ['an end within a head', `--x\r\n${head}\r\n`, early],
    ['a head that never ends', '--x\r\nabc\r\n--x--\r\n', early],
    ['delimiters alone', '--x\r\n'.repeat(1100), early],
    ['empty heads alone', '--x\r\n\r\n\r\n'.repeat(1100), unnamed],
    ['a part without a head', '--x\r\n\r\n1\r\n--x--', unnamed],
    ['a part that is an attachment', '--x\r\nContent-Disposition: attachment; name="a"\r\n\r\n1\r\n--x--', unnamed],
    ['a name that does not end', '--x\r\nContent-Disposition: form-data; name="a\r\n\r\n1\r\n--x--', unnamed],
    ['a delimiter that goes on', '--xy\r\n', delimiterGoesOn()],
    ['a delimiter with one dash', `${part}1\r\n--x-y`, delimiterGoesOn()],
    ['line feeds alone', `--x\n${head}\n\n1\n--x--\n`, headEndsInLineFeed()],
    ['too many parts', `${`${part}1\r\n`.repeat(1001)}--x--`, tooManyParts({ max: 1000 })],
    [
      'a head that is too long',
      `--x\r\nA: ${'b'.repeat(16_384)}\r\n${head}\r\n\r\n1\r\n--x--`,
      partHeadTooLong({ max: 16_384 }),
    ],
    [
      'too many headers',
      `--x\r\n${'A: b\r\n'.repeat(4000)}${head}\r\n\r\n1\r\n--x--`,
      partHeadTooLong({ max: 16_384 }),
    ],
    ['too much behind it', `--x--${'b'.repeat(1_048_577)}`, tooMuchFraming({ max: 1_048_576 })],
    ['too much before it', `${'b'.repeat(1_048_577)}\r\n--x--`, tooMuchFraming({ max: 1_048_576 })],
  ] as const) {
    test(`a multipart body is 400 with ${what}`, async () => {
      await assert.rejects(read(Buffer.from(body), 'x'), thrown(expected))
    })
  }

  test('a multipart body holds text in the encoding that a part names', async () => {
    const body = (type: string, bytes: Buffer) =>
      Buffer.concat([Buffer.from(`--x\r\n${head}\r\nContent-Type: ${type}\r\n\r\n`), bytes, Buffer.from('\r\n--x--')])
    const readText = async (bytes: Buffer) => {
      const reader = new MultipartReader(cutAt(bytes, []), 'x', 3)
      const first = await reader.nextPart()
      return first && reader.readText(first)
    }
    assert.equal(await readText(body('text/plain', Buffer.from('é'))), 'é')
    assert.equal(await readText(body('text/plain; charset="ISO-8859-1"', Buffer.from([0xe9]))), 'é')
    const wrong = (charset: string) => thrown(partNotInCharset({ part: '"a"', charset }))
    await assert.rejects(readText(body('text/plain', Buffer.from([0xe9]))), wrong('"utf-8"'))
    await assert.rejects(readText(body('text/plain; charset=klingon', Buffer.from('e'))), wrong('"klingon"'))
    const tooMuch = thrown(tooMuchBesidesFile({ max: 3 }))
    await assert.rejects(readText(body('text/plain', Buffer.from('four'))), tooMuch)
  })

  test('a multipart body names its boundary', () => {
    assert.equal(readBoundary('multipart/form-data; charset=utf-8; BOUNDARY="a b;c"'), 'a b;c')
    assert.equal(readBoundary(`multipart/form-data;boundary=${'b'.repeat(70)}`), 'b'.repeat(70))
    for (const type of [
      '',
      '; boundary',
      '; boundary=',
      '; boundary=""',
      `; boundary=${'b'.repeat(71)}`,
      '; boundary=é',
    ]) {
      assert.throws(() => readBoundary(`multipart/form-data${type}`), thrown(boundaryMissing({ max: 70 })))
    }
  })

  const long = 'a'.repeat(70)
  for (const [what, boundary, unit] of [
    ['near-delimiters', long, `\r\n--${long.slice(1)}b`],
    ['the letter of its boundary', long, 'a'],
    ['carriage returns', long, '\r'],
    ['beginnings of delimiters', long, '\r\n--'],
    ['a boundary that repeats itself', 'ab'.repeat(35), 'ab'],
    ['ends of its boundary', `b${'a'.repeat(69)}`, 'a'],
  ] as const) {
    test(`a multipart body is read whole with ${what}`, async () => {
      const content = Buffer.from(unit.repeat(1000))
      assert.deepEqual(await read(write([['a', content]], boundary), boundary), [['a', content]])
    })

    testLong(`a multipart body is read in a time that its length alone decides, also with ${what}`, async () => {
      const measure = async (content: Buffer) => {
        const body = write([['a', content]], boundary)
        const times: number[] = []
        for (let round = 0; round < 5; round++) {
          const started = performance.now()
          await read(body, boundary)
          times.push(performance.now() - started)
        }
        return Math.min(...times)
      }
      const bytes = 4 << 20
      const [usual, hostile] = [
        await measure(Buffer.alloc(bytes, 'usual text ')),
        await measure(Buffer.from(unit.repeat(bytes / unit.length))),
      ]
      // What is not linear takes hours.
      assert.ok(hostile < usual * 30 + 100, `${usual} ms, but ${hostile} ms`)
    })
  }
})
