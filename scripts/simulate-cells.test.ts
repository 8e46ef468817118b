import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CellOptions, capacityOf, costOfEvent, defaults, simulateCells } from './cells.ts'

const small: CellOptions = {
  ...defaults,
  numbers: 200_000,
  eventsPerSecond: 100_000,
  numbersPerCell: 20_000,
  keepDays: 1,
}

test('the arithmetic: what an event costs, and what a database carries', () => {
  const plain = { ...defaults, readsPerEvent: 0, writesPerEvent: 0 }
  assert.equal(costOfEvent(plain, 'database'), 503)
  assert.equal(costOfEvent({ ...plain, readsPerEvent: 2, writesPerEvent: 1 }, 'node'), 547 + 2 * 183 + 469)
  assert.equal(Math.round(capacityOf(plain)), Math.round((32 * 0.5 * 1_000_000) / 503))
})

test('cells carry what there is: none is overloaded, no number is lost, and the machines suffice', () => {
  const report = simulateCells(small)
  assert.ok(report.cells * capacityOf(small) > small.eventsPerSecond)
  assert.ok(report.fullest <= 1, `the fullest is at ${report.fullest}`)
  assert.ok(report.largestBusiness < 1)
  const cores = (small.eventsPerSecond * costOfEvent(small, 'node')) / 1_000_000
  assert.ok(report.machines * small.machineCores * small.machineUse >= cores)
})

test('a failed cell takes down its own part, and a split moves about half of one cell and nobody else', () => {
  const { cells, businesses, failure, split } = simulateCells(small)
  assert.ok(failure.part < 2 / cells && failure.numbers < (2 * small.numbers) / cells)
  assert.equal(split.businessesMoved + split.businessesUntouched, businesses)
  assert.ok(split.numbersMoved < failure.numbers)
})

test('twice the events take twice the databases; more numbers in a cell make fewer cells, until the database decides', () => {
  const byLoad = { ...small, numbersPerCell: 1_000_000, databaseCores: 4 }
  const [once, twice] = [simulateCells(byLoad), simulateCells({ ...byLoad, eventsPerSecond: 200_000 })]
  assert.equal(once.limit, 'database')
  assert.ok(Math.abs(twice.cells - 2 * once.cells) <= 1)
  assert.equal(simulateCells({ ...small, numbersPerCell: 5000 }).limit, 'numbers')
  assert.equal(simulateCells({ ...small, keepDays: 30 }).limit, 'bytes')
})

test('a simulation of cells with the same seed gives the same result', () => {
  assert.deepEqual(simulateCells(small), simulateCells(small))
})
