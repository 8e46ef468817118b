import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../messages.ts'
import { makeMessage } from './make-message.ts'
import { gatherReactions, keepList, prependPage, putMessage, putStatus, refresh } from './reduce.ts'

const ada = '16505551234'
const list = (...ids: string[]) => ids.map((id) => makeMessage({ id }))
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).join(' ')

test('a new message comes last, and a known one takes its place; the others stay the same objects', () => {
  const before = list('a', 'b')
  assert.equal(idsOf(putMessage(before, makeMessage({ id: 'c' }))), 'a b c')
  const changed = putMessage(before, makeMessage({ id: 'a', state: 'read' }))
  assert.deepEqual([idsOf(changed), changed[0]?.state, changed[1] === before[1]], ['a b', 'read', true])
})

test('a status is noted; in a group that of another member does not change the state of the message', () => {
  const read = { id: 'a', status: 'read' as const, timestamp: '5' }
  const [own] = putStatus(list('a'), { ...read, user_wa_id: ada }, ada)
  assert.deepEqual([own?.state, own?.states.at(-1)], ['read', { status: 'read', timestamp: '5', user_wa_id: ada }])
  const group = [makeMessage({ id: 'a', group_id: '6' })]
  const [other] = putStatus(group, { ...read, user_wa_id: '49' }, ada)
  assert.deepEqual([other?.state, other?.states.at(-1)?.user_wa_id], ['sent', '49'])
  const unknown = list('b')
  assert.equal(putStatus(unknown, read, ada), unknown)
})

test('an older page comes first, without what is there already', () => {
  assert.equal(idsOf(prependPage(list('c', 'd'), list('a', 'b', 'c'))), 'a b c d')
})

const pages: readonly (readonly [string, known: string[], page: string[], unsent: string[], string, joins: boolean])[] =
  [
    ['the first page', [], ['a', 'b'], [], 'a b', false],
    ['a page that joins what is known', ['a', 'b', 'c'], ['b', 'c', 'd'], [], 'a b c d', true],
    ['a page after a gap', ['a', 'b'], ['x', 'y'], [], 'x y', false],
    ['a page while something is being sent', ['a', 'u'], ['a', 'b'], ['u'], 'a b u', true],
    ['a page that holds what was being sent', ['a', 'u'], ['a', 'u'], ['u'], 'a u', true],
    ['an empty page', ['u'], [], ['u'], 'u', false],
  ]
for (const [name, known, page, unsent, wanted, joins] of pages) {
  test(`${name} is put in its place`, () => {
    const next = refresh(list(...known), list(...page), (id) => unsent.includes(id))
    assert.deepEqual([idsOf(next.messages), next.joins], [wanted, joins])
  })
}

test('a list that looks the same stays the same object: a read message of the business looks the same', () => {
  const before = list('a', 'b')
  const read = putStatus(before, { id: 'a', status: 'read', timestamp: '5' }, ada)
  assert.notEqual(read, before)
  assert.equal(keepList(before, read), before)
  const own = [makeMessage({ id: 'a', direction: 'to_business' })]
  const sent = putStatus(own, { id: 'a', status: 'read', timestamp: '5' }, ada)
  assert.equal(keepList(own, sent), sent)
  assert.equal(keepList(before, list('a')).length, 1)
})

test('of each side the last reaction stands, unless it was removed', () => {
  const react = (from: string, emoji: string | undefined, message_id = 'a') =>
    makeMessage({ from, type: 'reaction', content: { type: 'reaction', message_id, emoji } })
  const reactions = gatherReactions([
    react(ada, '👍'),
    react('business', '🙏'),
    react(ada, '❤️'),
    react(ada, '😂', 'b'),
    react(ada, undefined, 'b'),
  ])
  assert.deepEqual([reactions.get('a'), reactions.get('b')], ['❤️ 🙏', ''])
})
