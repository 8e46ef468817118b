import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/harness/properties.ts'
import { ChunkBuffer } from './chunk-buffer.ts'

test('a chunk buffer collects every byte in order, again and again, and leaves the chunks as they are', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 })
  const property = fc.property(pieces, pieces, (...rounds) => {
    const buffer = new ChunkBuffer()
    for (const round of rounds) {
      const given = round.map((piece) => Buffer.from(piece))
      for (const piece of given) buffer.append(piece)
      const all = Buffer.concat(round)
      assert.equal(buffer.length, all.length)
      assert.deepEqual(buffer.take(), all)
      assert.equal(buffer.length, 0)
      assert.deepEqual(Buffer.concat(given), all)
    }
  })
  fc.assert(property)
})
