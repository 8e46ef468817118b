import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/harness/properties.ts'
import { ChunkBuffer } from './chunk-buffer.ts'

test('a gatherer gathers every byte in order, again and again, and leaves the pieces as they are', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 })
  const property = fc.property(pieces, pieces, (...rounds) => {
    const gatherer = new ChunkBuffer()
    for (const round of rounds) {
      const given = round.map((piece) => Buffer.from(piece))
      for (const piece of given) gatherer.append(piece)
      const all = Buffer.concat(round)
      assert.equal(gatherer.length, all.length)
      assert.deepEqual(gatherer.take(), all)
      assert.equal(gatherer.length, 0)
      assert.deepEqual(Buffer.concat(given), all)
    }
  })
  fc.assert(property)
})
