// At a release, when it is committed: writes the schema that the next version must leave usable, with the commit.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readMigrations } from '../src/db/schema/migrations.ts'
import { type ReleasedSchema, schemaOf } from './harness/schema.ts'

const all = readMigrations()
const last_migration = all.at(-1)?.name ?? ''
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
const released: ReleasedSchema = { commit, last_migration, unused: [], tables: schemaOf(all) }
writeFileSync(new URL('./released-schema.json', import.meta.url), `${JSON.stringify(released, undefined, 2)}\n`)
