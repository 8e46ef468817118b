/**
 * The way past one database, as arithmetic and a small simulation. A cell is one PostgreSQL with its api and worker processes; a business lives
 * in one cell with everything that is its own; ids say which cell, and a router in front reads that from the path.
 */

/** What work costs, in microseconds of a core: of Node.js and of the database. Measured with `npm run bench -- --postgres`. */
export interface Costs {
  readonly event: { readonly node: number; readonly database: number }
  readonly read: { readonly node: number; readonly database: number }
  readonly write: { readonly node: number; readonly database: number }
}

export interface CellOptions {
  readonly numbers: number
  /** Of all numbers together, each second. */
  readonly eventsPerSecond: number
  /** How many reads and writes of the API come with each event. */
  readonly readsPerEvent: number
  readonly writesPerEvent: number
  readonly costs: Costs
  /** Cores of one database server, and how much of them is used at most: the rest is for peaks, vacuum and backups. */
  readonly databaseCores: number
  readonly databaseUse: number
  readonly machineCores: number
  readonly machineUse: number
  /** A cell has at most so many numbers, so that its backup, its restore and its failure stay bearable. */
  readonly numbersPerCell: number
  /** Bytes that a number and an event with its message and deliveries take in the database, and for how many days events are kept. */
  readonly bytesPerNumber: number
  readonly bytesPerEvent: number
  readonly keepDays: number
  /** The largest database that is still backed up and restored in a night, and bytes that are copied each second when something moves. */
  readonly bytesPerCell: number
  readonly bytesMovedPerSecond: number
  readonly seed: number
}

export const defaults: CellOptions = {
  numbers: 10_000_000,
  eventsPerSecond: 100_000,
  readsPerEvent: 0.5,
  writesPerEvent: 0.1,
  // docs/performance.md, "On PostgreSQL": a machine that was busy with other things, so rather too much than too little.
  costs: {
    event: { node: 547, database: 503 },
    read: { node: 183, database: 44 },
    write: { node: 469, database: 329 },
  },
  databaseCores: 32,
  databaseUse: 0.5,
  machineCores: 16,
  machineUse: 0.6,
  numbersPerCell: 1_000_000,
  bytesPerNumber: 10_000,
  bytesPerEvent: 1000,
  keepDays: 30,
  bytesPerCell: 4_000_000_000_000,
  bytesMovedPerSecond: 100_000_000,
  seed: 1,
}

export interface CellReport {
  readonly cells: number
  readonly databases: number
  readonly machines: number
  readonly machinesPerCell: number
  /** Which limit decides the number of cells. */
  readonly limit: 'database' | 'numbers' | 'bytes'
  readonly eventsPerCell: number
  /** Of the fullest cell. */
  readonly bytesPerCell: number
  readonly businesses: number
  /** The load of the fullest cell, as a part of what a cell can carry. */
  readonly fullest: number
  /** The largest business, as a part of what a cell can carry; above 1 it does not fit into one. */
  readonly largestBusiness: number
  readonly split: {
    readonly businessesMoved: number
    readonly numbersMoved: number
    readonly hours: number
    /** Everybody else stays where they are. */
    readonly businessesUntouched: number
  }
  /** What stops while one cell is down. */
  readonly failure: {
    readonly businesses: number
    readonly numbers: number
    readonly eventsPerSecond: number
    readonly part: number
  }
}

interface Business {
  readonly numbers: number
  /** Events a second. */
  readonly load: number
}

const second = 1_000_000
/** In seconds. */
const day = 86_400

/** Microseconds of a core for one event with the reads and writes around it. */
export function costOfEvent({ costs, readsPerEvent, writesPerEvent }: CellOptions, of: 'node' | 'database'): number {
  return costs.event[of] + readsPerEvent * costs.read[of] + writesPerEvent * costs.write[of]
}

/** Events a second that one database carries. */
export function capacityOf(options: CellOptions): number {
  return (options.databaseCores * options.databaseUse * second) / costOfEvent(options, 'database')
}

export function simulateCells(options: CellOptions): CellReport {
  const random = seeded(options.seed)
  const businesses = drawBusinesses(options, random)
  const capacity = capacityOf(options)
  // A fifth is kept free: businesses are placed whole, and grow.
  const byLoad = Math.ceil(options.eventsPerSecond / (0.8 * capacity))
  const byNumbers = Math.ceil(options.numbers / (0.8 * options.numbersPerCell))
  const byBytes = Math.ceil(bytesOf(businesses, options) / (0.8 * options.bytesPerCell))
  const cells = Math.max(byLoad, byNumbers, byBytes)
  const placed = place(businesses, cells, options, capacity)
  const loads = placed.map((cell) => fullness(cell, options, capacity))
  const fullest = placed[loads.indexOf(Math.max(...loads))] as readonly Business[]
  // At least two, so that one can be restarted.
  const cores = ((options.eventsPerSecond / cells) * costOfEvent(options, 'node')) / second
  const machinesPerCell = Math.max(2, Math.ceil(cores / (options.machineCores * options.machineUse)))
  const largest = businesses.reduce((one, other) => (other.load > one.load ? other : one))
  return {
    cells,
    databases: cells,
    machines: cells * machinesPerCell,
    machinesPerCell,
    limit: cells === byLoad ? 'database' : cells === byNumbers ? 'numbers' : 'bytes',
    bytesPerCell: bytesOf(fullest, options),
    eventsPerCell: Math.round(options.eventsPerSecond / cells),
    businesses: businesses.length,
    fullest: Math.max(...loads),
    largestBusiness: fullness([largest], options, capacity),
    split: split(fullest, businesses.length, options),
    failure: {
      businesses: fullest.length,
      numbers: sum(fullest, 'numbers'),
      eventsPerSecond: Math.round(sum(fullest, 'load')),
      part: fullest.length / businesses.length,
    },
  }
}

/** Businesses of very different sizes: most have one number, a few have thousands; those with many are not busier by number. */
function drawBusinesses({ numbers, eventsPerSecond }: CellOptions, random: () => number): Business[] {
  const sizes: number[] = []
  for (let left = numbers; left > 0; ) {
    const size = Math.min(left, 2000, Math.floor(1 / Math.max(random(), 1e-6) ** 0.8))
    sizes.push(size)
    left -= size
  }
  const weights = sizes.map((size) => size * (0.2 + 1.6 * random()))
  const total = weights.reduce((all, weight) => all + weight, 0)
  return sizes.map((size, index) => ({ numbers: size, load: ((weights[index] as number) / total) * eventsPerSecond }))
}

/** Each to the emptiest of two cells drawn by its place in the list, as a router with a table of loads would. */
function place(businesses: readonly Business[], count: number, options: CellOptions, capacity: number): Business[][] {
  const cells: Business[][] = Array.from({ length: count }, () => [])
  const full = new Float64Array(count)
  for (const [index, business] of businesses.entries()) {
    const first = index % count
    const other = Math.floor(index / count + 1 + first) % count
    const chosen = (full[first] as number) <= (full[other] as number) ? first : other
    ;(cells[chosen] as Business[]).push(business)
    full[chosen] = (full[chosen] as number) + fullness([business], options, capacity)
  }
  return cells
}

function fullness(businesses: readonly Business[], options: CellOptions, capacity: number): number {
  return Math.max(
    sum(businesses, 'load') / capacity,
    sum(businesses, 'numbers') / options.numbersPerCell,
    bytesOf(businesses, options) / options.bytesPerCell,
  )
}

/** What businesses take in the database: themselves, and the events of as many days as are kept. */
function bytesOf(businesses: readonly Business[], options: CellOptions): number {
  const perLoad = options.keepDays * day * options.bytesPerEvent
  return sum(businesses, 'numbers') * options.bytesPerNumber + sum(businesses, 'load') * perLoad
}

/** Half of a cell moves to a new one: the largest businesses first, because each move stops the writes of one business for a moment. */
function split(cell: readonly Business[], all: number, options: CellOptions): CellReport['split'] {
  const wanted = sum(cell, 'load') / 2
  let load = 0
  const moved: Business[] = []
  for (const business of cell.toSorted((one, other) => other.load - one.load)) {
    if (load >= wanted) break
    load += business.load
    moved.push(business)
  }
  return {
    businessesMoved: moved.length,
    numbersMoved: sum(moved, 'numbers'),
    hours: bytesOf(moved, options) / options.bytesMovedPerSecond / 3600,
    businessesUntouched: all - moved.length,
  }
}

function sum(businesses: readonly Business[], member: keyof Business): number {
  let all = 0
  for (const business of businesses) all += business[member]
  return all
}

/** Mulberry32: the same seed gives the same businesses. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
