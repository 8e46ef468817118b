// The server under test, in a process of its own: its memory is not that of the fuzzer. Started by server.ts and controlled by messages.
import dns from 'node:dns'
import { readdir } from 'node:fs/promises'
import { openLog } from '../../src/base/log/log.ts'
import { stopOnSignals } from '../../src/cli/running/stop.ts'
import { addressClasses, rateClasses } from '../../src/limits/classes.ts'
import { startTestServer } from '../harness/server.ts'
import { measureFixedWork, TurnWatch } from '../harness/turn-watch.ts'
import { plantDamage } from './damage.ts'
import { findLeftovers } from './leftovers.ts'
import type { Order, OwnServerOptions, Reply } from './server.ts'

const engine = process.argv[2] === 'postgres' ? 'postgres' : 'sqlite'
const { env, world, damage } = JSON.parse(process.argv[3] ?? '{}') as OwnServerOptions

// The outside network is not there: a name that is not of this machine is not known.
const { lookup } = dns.promises
dns.promises.lookup = (async (hostname: string, options: object) => {
  if (hostname === 'localhost') return lookup(hostname, options)
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' })
}) as typeof lookup

const { log, close: closeLog } = openLog('error', 'json')
const limits = [...Object.keys(rateClasses), ...Object.keys(addressClasses)]

const server = await startTestServer({
  engine,
  log,
  ...(world && { world }),
  env: {
    // On, so that responses report the usage; far away, so that few requests are refused for it.
    RATE_LIMITS: 'on',
    ...Object.fromEntries(limits.map((name) => [`RATE_LIMIT_${name.toUpperCase()}`, '1000000/1h'])),
    RATE_LIMIT_REQUEST_CODE: '200/1h',
    ALLOW_INTERNAL_CALLBACKS: 'true',
    WEBHOOK_TIMEOUT: '2s',
    MAX_NUMBERS_PER_ACCOUNT: '1000',
    ...env,
  },
})

const turns = new TurnWatch()

function tell(reply: Reply): void {
  process.send?.(reply)
}

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case 'measure': {
      if (!globalThis.gc) throw new Error('start it with --expose-gc')
      // The second time for what the first let go.
      globalThis.gc()
      await new Promise(setImmediate)
      globalThis.gc()
      const { heapUsed, rss, external, arrayBuffers } = process.memoryUsage()
      const handles = process.getActiveResourcesInfo().length
      const files = process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : 0
      const memory = { heap: heapUsed, rss, external: external + arrayBuffers, handles, files }
      return tell({ number: order.number, memory })
    }
    case 'watch':
      turns.start()
      return tell({ number: order.number })
    case 'report':
      return tell({ number: order.number, milliseconds: turns.stop() })
    case 'time': {
      const { user, system } = process.cpuUsage()
      return tell({ number: order.number, processorTime: (user + system) / 1000 })
    }
    case 'calibrate':
      return tell({ number: order.number, milliseconds: measureFixedWork() })
    case 'advance':
      server.clock.advance(order.milliseconds)
      await server.app.settle()
      return tell({ number: order.number })
    case 'ping':
      return tell({ number: order.number })
    case 'inspect':
      return tell({ number: order.number, leftovers: await findLeftovers(server) })
  }
}

process.on('message', (order: Order) => obey(order))
// Whoever started it is gone: nobody would ever stop it.
process.once('disconnect', () => process.exit())
// As `serve` does. Whoever started it removes the folder; a database goes with the PostgreSQL of the tests.
const { database } = server
stopOnSignals({ app: server.app, database, lock: undefined, log, closeLog, grace: 500 })
if (damage) plantDamage(damage, server.dataDir)
tell({ number: 0, url: server.url, dataDir: server.dataDir })
