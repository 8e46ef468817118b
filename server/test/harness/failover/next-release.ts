// What a process of a next release does first: it runs the migrations that are missing. Its argument tells those of one run from another's.

import { silentLog } from '../../../src/base/log/log.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { migrate } from '../../../src/db/schema/migrate.ts'
import { readMigrations } from '../../../src/db/schema/migrations.ts'
import { listNextMigrations } from './next-migrations.ts'

const [databaseUrl = '', number = ''] = process.argv.slice(2)
const database = await openDatabase(
  { dataDir: '.', databaseUrl, maxConnections: 3, timeout: 30_000, lockTimeout: 10_000 },
  silentLog,
)
const migrations = [...readMigrations(), ...listNextMigrations(Number(number))]
await migrate(database, systemClock, { migrations })
await database.close()
