import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawMessageId } from './draw-message-id.ts'

test('a message of the phone has an id in the form of the vocabulary', () => {
  assert.match(drawMessageId('msgapp'), /^wamid\.[0-9a-f]{36}$/)
  const id = drawMessageId('whatsapp')
  const bytes = Buffer.from(id.slice('wamid.'.length), 'base64').toString('hex')
  assert.match(bytes, /^1c180b(3[1-9](?:3\d){10})150200121820((?:3\d|4[1-6]){32})00$/)
  assert.equal(new Set(Array.from({ length: 100 }, () => drawMessageId('whatsapp'))).size, 100)
})
