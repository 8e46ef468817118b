import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findAllowed, parseAllowed } from './allowed-operators.ts'

describe('who may sign in', () => {
  const allowed = parseAllowed('Mike@example.com,group:operators')
  const find = (claims: object) => findAllowed(allowed, { ...claims }, 'groups')

  test('who may sign in is named by a verified address, in letters of either case', () => {
    assert.equal(find({ email: 'mIKE@Example.com', email_verified: true })?.name, 'mIKE@Example.com')
  })

  for (const email of [
    'mi\u212ae@example.com',
    '\uff4dike@example.com',
    'mike@example.com ',
    'mike@example.com\u200b',
  ]) {
    test(`who may sign in is not ${JSON.stringify(email)}`, () => {
      assert.equal(find({ email, email_verified: true }), undefined)
    })
  }

  test('who may sign in is shown with the subject, whatever the name is', () => {
    const nameOf = (preferred_username: unknown, sub = 'subject-1') =>
      find({ sub, preferred_username, groups: 'operators' })?.name
    assert.equal(nameOf(`mike@example.com${' '.repeat(300)}`), 'mike@example.com (subject-1)')
    assert.equal(nameOf('\u202emoc.elpmaxe@ekim\u0000'), 'moc.elpmaxe@ekim (subject-1)')
    assert.equal(nameOf('a'.repeat(300), 'b'.repeat(300)), `${'a'.repeat(97)} (${'b'.repeat(100)})`)
    assert.equal(nameOf(undefined), 'subject-1')
  })
})
