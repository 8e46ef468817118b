import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameByLabel, writeMoved, writeQueued } from './replay-sentences.ts'

test('a replay says how many are queued, or that none was found', () => {
  assert.equal(writeQueued({ replayed: 1 }), '1 webhook is queued to be sent again.')
  assert.equal(writeQueued({ replayed: 12 }), '12 webhooks are queued to be sent again.')
  assert.match(writeQueued({ replayed: 0, job: { total: 500 } }), /^About 500 webhooks are queued to be sent again/)
  assert.match(writeQueued({ replayed: 0 }), /^No webhook .* none is sent again\.$/)
})

test('a problem names fields as the form does', () => {
  assert.equal(nameByLabel('since: it must be a time such as 10m.'), 'Since must be a time such as 10m.')
  assert.equal(nameByLabel('to: it must be an http or https URL.'), 'The other address must be an http or https URL.')
  assert.equal(nameByLabel('the service is not reachable'), 'The service is not reachable')
})

test('what was moved is counted, and what stays is explained', () => {
  assert.equal(writeMoved(461, undefined), '461 webhooks are queued for the callback that the app has now.')
  assert.equal(
    writeMoved(1, 'The app is not linked.'),
    '1 webhook is queued for the callback that the app has now. Others stay where they are: The app is not linked.',
  )
})
