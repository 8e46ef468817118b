import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAxis } from './time-axis.ts'

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

const axes = [
  { name: 'one span fills it', spans: [[1000, 1100]], at: { 1000: 0, 1050: 0.5, 1100: 1 }, breaks: [] },
  {
    name: 'a short pause is drawn to scale',
    spans: [
      [0, 40],
      [60, 100],
    ],
    at: { 40: 0.4, 60: 0.6, 100: 1 },
    breaks: [],
  },
  {
    name: 'a long pause is a break',
    spans: [
      [0, 50],
      [600_050, 600_100],
    ],
    at: { 0: 0, 50: 0.47, 300050: 0.5, 600050: 0.53, 600100: 1 },
    breaks: [[0.5, 600_000]],
  },
  { name: 'something that took no time has a place', spans: [[5, 5]], at: { 5: 0 }, breaks: [] },
  { name: 'what still goes on does not stretch it', spans: [[0, 100], [20]], at: { 20: 0.2, 5000: 1 }, breaks: [] },
  { name: 'nothing at all', spans: [], at: { 0: 0 }, breaks: [] },
] as const

for (const { name, spans, at, breaks } of axes) {
  test(`an axis of time: ${name}`, () => {
    const axis = makeAxis(spans.map(([start, end]: readonly number[]) => ({ start: start ?? 0, end })))
    assert.deepEqual(Object.fromEntries(Object.keys(at).map((time) => [time, round(axis.place(Number(time)))])), at)
    assert.deepEqual(
      axis.breaks.map((one) => [round(one.at), one.milliseconds]),
      breaks,
    )
  })
}

test('many breaks leave half of the axis for what happened', () => {
  const spans = Array.from({ length: 40 }, (_, index) => ({ start: index * 100_000, end: index * 100_000 + 10 }))
  const axis = makeAxis(spans)
  assert.equal(axis.breaks.length, 39)
  assert.equal(round(axis.place(0)), 0)
  assert.equal(round(axis.place(39 * 100_000 + 10)), 1)
})
