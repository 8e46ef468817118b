import { until } from '../until.ts'
import type { Cause } from './cause.ts'
import type { Installation } from './installation.ts'

const sharedMembers = ['api', 'worker'] as const
const instancesOf = (at: Installation) => sharedMembers.map((member) => ({ instance: at.addressOf(member) }))

export const databaseIsCutOff: Cause = {
  what: 'the database is cut off',
  alerts: (at) => ({ SwitchboardDatabaseAway: instancesOf(at) }),
  also: ['SwitchboardRequestsFail', 'SwitchboardRequestsSlow'],
  async begin({ proxy }) {
    await proxy.cut()
    return () => proxy.repair()
  },
}

export const databaseHangs: Cause = {
  what: 'the database does not respond any more',
  alerts: (at) => ({ SwitchboardDatabaseAway: instancesOf(at) }),
  also: ['SwitchboardRequestsFail', 'SwitchboardRequestsSlow'],
  async begin({ proxy }) {
    proxy.goSilent()
    return async () => proxy.speak()
  },
}

export const databaseIsReadOnly: Cause = {
  what: 'the database is set to read-only',
  alerts: (at) => ({ SwitchboardDatabaseRefusesWrites: [{ instance: at.addressOf('api') }] }),
  also: ['SwitchboardRequestsFail'],
  async begin(at) {
    await at.query('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()')
    return async () => {
      await at.query('ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()')
    }
  },
}

export const migrationIsMissing: Cause = {
  what: 'an older schema is restored under the processes',
  alerts: (at) => ({ SwitchboardNotReady: instancesOf(at) }),
  async begin(at) {
    const newest = 'name = (SELECT max(name) FROM schema_migrations)'
    const [row] = await at.query<{ name: string }>(`DELETE FROM schema_migrations WHERE ${newest} RETURNING name`)
    return async () => {
      await at.query(`INSERT INTO schema_migrations (name, applied_time) VALUES ('${row?.name}', 0)`)
    }
  },
}

export const storageIsAway: Cause = {
  what: 'the object storage is away',
  alerts: () => ({
    SwitchboardFilesFail: [{ job: 'switchboard', outcome: 'away' }],
    SwitchboardRequestsFail: [{ job: 'switchboard' }],
  }),
  async begin({ storage, traffic }) {
    await storage.vanish()
    const endUploads = traffic.repeat(traffic.upload)
    return async () => {
      endUploads()
      await storage.appear()
    }
  },
}

export const rowIsLocked: Cause = {
  what: 'somebody locks a row again and again for seconds',
  alerts: () => ({ SwitchboardRequestsSlow: [{ job: 'switchboard' }] }),
  // Whoever waits for too long is refused.
  also: ['SwitchboardRequestsFail'],
  async begin(at) {
    const endWrites = at.traffic.repeat(at.traffic.rename)
    const client = await at.connect()
    const waits = "wait_event_type = 'Lock' AND now() - query_start > interval '3 s'"
    let isOver = false
    const lock = async () => {
      while (!isOver) {
        await client.query('BEGIN; LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE')
        await until(
          async () => isOver || (await client.query(`SELECT 1 FROM pg_stat_activity WHERE ${waits}`)).rowCount !== 0,
          'somebody has waited for 3 s',
        )
        await client.query('COMMIT')
      }
    }
    const locking = lock()
    return async () => {
      endWrites()
      isOver = true
      await locking
      await client.end()
    }
  },
}

export const lanesAreLocked: Cause = {
  what: 'somebody rewrites the table of lanes',
  alerts: () => ({ SwitchboardDeliveriesUnknown: [{ job: 'switchboard' }] }),
  also: ['SwitchboardRequestsFail', 'SwitchboardRequestsSlow', 'SwitchboardDeliveriesLate', 'SwitchboardDatabaseAway'],
  async begin(at) {
    // The embedded store is another one, and knows its own lateness.
    await at.watch(sharedMembers)
    const client = await at.connect()
    await client.query('BEGIN; LOCK TABLE lanes IN ACCESS EXCLUSIVE MODE')
    return async () => {
      await client.end()
      await at.watch()
    }
  },
}
