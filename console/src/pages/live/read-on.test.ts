import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeDayAndSeconds } from '../../ui/times.ts'
import { beginAnew, isReadOn, type Looked, type Start, writeLoaded, writeLooking, writeNothing } from './read-on.ts'

const start: Start = { key: 'q=fern', isAtEnd: true, lines: 200, pages: 2 }

const reads = [
  { name: 'while the end is in view', start, read: 1200, expected: true },
  { name: 'not while there is enough below what is seen', start: { ...start, isAtEnd: false }, read: 1200 },
  { name: 'up to 5,000 lines', start, read: 5199, expected: true },
  { name: 'not behind 5,000 lines', start, read: 5200 },
  { name: 'not behind 20 pages, however few lines they had', start: { ...start, pages: 20 }, read: 200 },
]

for (const { name, start, read, expected = false } of reads) {
  test(`older lines are read by themselves: ${name}`, () => assert.equal(isReadOn(start, read), expected))
}

const begins = [
  { name: 'another filter', now: { key: 'q=rose', isAtEnd: true, lines: 5200 }, lines: 5200, pages: 0 },
  { name: 'another page', now: { key: 'q=fern', isAtEnd: true, lines: 1200 }, lines: 200, pages: 2 },
  { name: 'a list that is shorter', now: { key: 'q=fern', isAtEnd: true, lines: 100 }, lines: 100, pages: 2 },
  { name: 'enough lines', now: { key: 'q=fern', isAtEnd: false, lines: 1200 }, lines: 200, pages: 2 },
]

for (const { name, now, lines, pages } of begins) {
  test(`looking through older lines after ${name}`, () => {
    assert.deepEqual(beginAnew(start, now), { key: now.key, isAtEnd: now.isAtEnd, lines, pages })
  })
}

test('looking through older lines begins anew when somebody scrolls to the end', () => {
  const now = { key: 'q=fern', isAtEnd: true, lines: 5200 }
  assert.deepEqual(beginAnew({ ...start, isAtEnd: false }, now), { ...now, pages: 0 })
})

const back = '2026-11-18T12:00:00.000Z'
const time = writeDayAndSeconds(new Date(back))
const looked: Looked = { shown: 0, back, hasMore: true, isLooking: false, isFiltered: true, isRecorded: true }

const sentences: readonly [Partial<Looked>, string, string][] = [
  [{}, `Nothing since ${time} matches the filter`, `46 lines since ${time}`],
  [{ hasMore: false }, 'Nothing that is kept matches the filter', '46 lines, of all that is kept'],
  [{ isFiltered: false }, `Nothing but the console's own requests since ${time}`, `46 lines since ${time}`],
  [{ isFiltered: false, hasMore: false }, 'Nothing has happened yet', 'All 46 lines that are kept'],
  [{ isRecorded: false, hasMore: false }, 'Lines of this type are not recorded', '46 lines, shown only as they happen'],
]

for (const [facts, nothing, some] of sentences) {
  test(`Live says '${nothing}', or '${some}'`, () => {
    assert.equal(writeNothing({ ...looked, ...facts }), nothing)
    assert.equal(writeLoaded({ ...looked, ...facts }), '')
    assert.equal(writeLoaded({ ...looked, ...facts, shown: 46 }), some)
  })
}

test('while older lines are looked through, Live says how far back it is', () => {
  const looking = `Looking through older lines, back to ${time}…`
  assert.equal(writeLooking(back), looking)
  assert.equal(writeLooking(undefined), 'Looking through older lines…')
  assert.equal(writeLoaded({ ...looked, shown: 1, isLooking: true }), `1 line. ${looking}`)
  assert.equal(writeLoaded({ ...looked, shown: 46, isLooking: true, isFiltered: false }), `46 lines since ${time}`)
})
