import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc } from '../../../test/harness/properties.ts'
import { endOfDay, isTimeZone } from './time-zones.ts'

describe('the end of a day', () => {
  for (const [date, zone, expected, why] of [
    ['2026-06-01', 'UTC', '2026-06-02T00:00:00Z', 'midnight'],
    ['2026-06-01', 'America/New_York', '2026-06-02T04:00:00Z', 'summer time'],
    ['2026-12-31', 'America/New_York', '2027-01-01T05:00:00Z', 'winter time'],
    ['2026-03-08', 'America/New_York', '2026-03-09T04:00:00Z', 'a day of 23 hours'],
    ['2026-11-01', 'America/New_York', '2026-11-02T05:00:00Z', 'a day of 25 hours'],
    ['2026-06-01', 'Asia/Kolkata', '2026-06-01T18:30:00Z', 'half an hour'],
    ['2026-06-01', 'Asia/Kathmandu', '2026-06-01T18:15:00Z', 'a quarter of an hour'],
    ['2026-06-01', 'Pacific/Kiritimati', '2026-06-01T10:00:00Z', 'the furthest ahead'],
    ['2026-06-01', 'Etc/GMT+12', '2026-06-02T12:00:00Z', 'the furthest behind'],
    ['2024-04-25', 'Africa/Cairo', '2024-04-25T22:00:00Z', 'clocks that are put forward over midnight'],
    ['2011-12-29', 'Pacific/Apia', '2011-12-30T10:00:00Z', 'a day before one that was left out'],
    ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00Z', 'a day that was left out'],
    ['1850-01-01', 'America/New_York', '1850-01-02T04:56:02Z', 'the time of the sun'],
    ['9999-12-31', 'UTC', '+010000-01-01T00:00:00Z', 'the last day that can be written'],
  ] as const) {
    test(`${date} in ${zone}: ${why}`, () => {
      assert.equal(new Date(endOfDay(date, zone)).toISOString(), new Date(expected).toISOString())
    })
  }

  test('the end of a day: in any zone, the calendar shows that day or an earlier one until then, and a later one from then on', () => {
    const days = fc.date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(days, fc.constantFrom(...Intl.supportedValuesOf('timeZone')), (time, timeZone) => {
        const date = time.toISOString().slice(0, 10)
        const end = endOfDay(date, timeZone)
        const calendar = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
        assert.ok(calendar.format(end - 1) <= date, `${calendar.format(end - 1)} in ${timeZone}`)
        assert.ok(calendar.format(end) > date, `${calendar.format(end)} in ${timeZone}`)
      }),
      { numRuns: 300 },
    )
  })
})

for (const [name, known] of [
  ['America/New_York', true],
  ['UTC', true],
  ['Asia/Kolkata', true],
  ['Mars/Olympus', false],
  ['+01:00', false],
  ['', false],
  [' UTC', false],
] as const) {
  test(`${JSON.stringify(name)} is ${known ? 'a' : 'no'} time zone`, () => assert.equal(isTimeZone(name), known))
}
