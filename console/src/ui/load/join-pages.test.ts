import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinPages } from './join-pages.ts'

const idOf = (row: { readonly id: string }) => row.id
const rows = (...ids: string[]) => ids.map((id) => ({ id }))
const earlier = { rows: rows('9', '8', '7', '6', '5'), after: 'behind 5' }

const cases = [
  { name: 'nothing new: all stays', first: rows('9', '8'), ids: '9 8 7 6 5', after: 'behind 5' },
  { name: 'one new: the rest moves down', first: rows('10', '9'), ids: '10 9 8 7 6 5', after: 'behind 5' },
  { name: 'one gone: it goes', first: rows('9', '7'), ids: '9 7 6 5', after: 'behind 5' },
  { name: 'more than a page new: the rest is read again', first: rows('20', '19'), ids: '20 19', after: 'behind 19' },
  { name: 'all gone', first: [], ids: '', after: undefined },
]

for (const { name, first, ids, after } of cases) {
  test(`a first page read again, ${name}`, () => {
    const own = first.at(-1)
    const joined = joinPages({ rows: first, after: own && `behind ${own.id}` }, earlier, idOf)
    assert.equal(joined.rows.map(idOf).join(' '), ids)
    assert.equal(joined.after, after)
  })
}

test('a first page that is all there is needs no page behind it', () => {
  const first = { rows: rows('2', '1'), after: undefined }
  assert.deepEqual(joinPages(first, { rows: rows('2', '1'), after: 'behind 1' }, idOf), first)
})
