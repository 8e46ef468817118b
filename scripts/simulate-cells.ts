// How many machines and databases a large service takes; `npm run simulate-cells -- --help` says how.
import { parseArgs } from 'node:util'
import { capacityOf, costOfEvent, defaults, simulateCells } from './cells.ts'

const numeric = [
  'numbers',
  'eventsPerSecond',
  'databaseCores',
  'machineCores',
  'numbersPerCell',
  'keepDays',
  'seed',
] as const
const reasons = {
  database: 'the processors of the database',
  numbers: 'the numbers in a cell',
  bytes: 'the size of the database',
}
const flagOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function readFlags() {
  try {
    return parseArgs({
      options: {
        ...Object.fromEntries(numeric.map((name) => [flagOf(name), { type: 'string' as const }])),
        json: { type: 'boolean' as const },
        help: { type: 'boolean' as const },
      },
    }).values
  } catch (error) {
    console.error(`${(error as Error).message}. Run npm run simulate-cells -- --help for the options.`)
    process.exit(1)
  }
}

const given = readFlags() as Readonly<Record<string, string | boolean | undefined>>

if (given['help']) {
  const lines = numeric.map((name) => `  --${flagOf(name)} N   ${defaults[name]} when left out`)
  console.log(
    `npm run simulate-cells -- [options] [--json]\n\n${lines.join('\n')}\n\nThe costs are in scripts/cells.ts.`,
  )
} else {
  const changed = numeric.flatMap((name) => {
    const text = given[flagOf(name)]
    return typeof text === 'string' ? [[name, readNumber(flagOf(name), text)]] : []
  })
  const options = { ...defaults, ...Object.fromEntries(changed) }
  const report = simulateCells(options)
  if (given['json']) console.log(JSON.stringify(report))
  else {
    const { cells, machines, machinesPerCell, split, failure } = report
    console.log(`${options.numbers} numbers, ${options.eventsPerSecond} events a second, ${report.businesses} businesses
an event with its reads and writes costs ${costOfEvent(options, 'node').toFixed(0)} µs of Node.js and ${costOfEvent(options, 'database').toFixed(0)} µs of the database
one database of ${options.databaseCores} cores carries ${capacityOf(options).toFixed(0)} events a second
cells: ${cells} (decided by ${reasons[report.limit]}), each with one database and ${machinesPerCell} machines of ${options.machineCores} cores; ${machines} machines in all
the fullest cell is at ${(100 * report.fullest).toFixed(0)} %, with ${(report.bytesPerCell / 1e12).toFixed(1)} TB for ${options.keepDays} days; the largest business takes ${(100 * report.largestBusiness).toFixed(2)} % of a cell
splitting that cell moves ${split.businessesMoved} businesses with ${split.numbersMoved} numbers in ${split.hours.toFixed(1)} h; ${split.businessesUntouched} businesses notice nothing
a cell that fails takes down ${failure.businesses} businesses, ${failure.numbers} numbers and ${failure.eventsPerSecond} events a second: ${(100 * failure.part).toFixed(1)} % of the businesses`)
  }
}

function readNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  console.error(`--${name} is ${text}; it must be a number above 0`)
  process.exit(1)
}
