// At a release: writes the schema that the next version must leave usable. `node server/test/released-schema.ts [LAST-MIGRATION]`
import { writeFileSync } from 'node:fs'
import { readMigrations } from '../src/db/migrate.ts'
import { type ReleasedSchema, schemaOf } from './harness/schema.ts'

const all = readMigrations()
const last_migration = process.argv[2] ?? all.at(-1)?.name ?? ''
const upTo = all.filter(({ name }) => name <= last_migration)
const released: ReleasedSchema = { last_migration, unused: [], tables: schemaOf(upTo) }
writeFileSync(new URL('./released-schema.json', import.meta.url), `${JSON.stringify(released, undefined, 2)}\n`)
