import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRefusal } from './microphone-words.ts'

test('why there is no microphone is said in words, and what is not known as the browser says it', () => {
  const cases: [string, string, RegExp][] = [
    ['NotAllowedError', 'Permission denied', /: it was refused\. Allow it in the settings of the browser\.$/],
    ['NotFoundError', 'Requested device not found', /: none is there\.$/],
    ['NotReadableError', 'Could not start audio source', /: it is in use by another program, or broken\.$/],
    ['AbortError', 'Starting failed', /: Starting failed$/],
    ['AbortError', '', /: AbortError$/],
  ]
  for (const [name, message, sentence] of cases) {
    assert.match(describeRefusal(name, message), sentence)
    assert.match(describeRefusal(name, message), /^The microphone cannot be used: /)
  }
})
