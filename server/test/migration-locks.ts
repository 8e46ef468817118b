// After a migration was added: writes what each of them locks on PostgreSQL, which `./switchboard migrate --check` prints.
import { writeFileSync } from 'node:fs'
import { readMigrations } from '../src/db/schema/migrations.ts'
import { makeStorePlace } from './harness/databases.ts'
import { measureLocks } from './harness/migration-locks.ts'

const place = await makeStorePlace('postgres')
const locks = await measureLocks(place.databaseUrl as string, readMigrations())
await place.remove()
writeFileSync(new URL('../src/db/migrations/locks.json', import.meta.url), `${JSON.stringify(locks, undefined, 2)}\n`)
process.exit(0)
