import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { readMigrations, usableSince } from '../src/db/schema/migrations.ts'
import { findBreaks, type ReleasedSchema, schemaOf } from './harness/schema.ts'

const released = JSON.parse(readFileSync(new URL('./released-schema.json', import.meta.url), 'utf8')) as ReleasedSchema

/** Processes of the last release and of this version run on one database during an upgrade: CONTRIBUTING.md has the rule. */
describe('migrations since the last release', () => {
  const migrations = readMigrations()

  test('migrations since the last release leave what the released code uses: they expand the schema, and contract only what it does not use', () => {
    assert.deepEqual(findBreaks(released, schemaOf(migrations)), [])
  })

  test('a process of the last release may start on the new schema', () => {
    assert.equal(usableSince, released.last_migration)
  })

  test('the released schema is the one that the released migrations make: none of them was edited', () => {
    const upTo = migrations.filter(({ name }) => name <= released.last_migration)
    assert.equal(upTo.at(-1)?.name, released.last_migration)
    assert.deepEqual(schemaOf(upTo), released.tables)
  })

  for (const [name, script, broken] of [
    [
      'a column that goes',
      'ALTER TABLE media DROP COLUMN file_size',
      'the column media.file_size is gone or has another name',
    ],
    [
      'a new name',
      'ALTER TABLE media RENAME COLUMN file_size TO size',
      'the column media.file_size is gone or has another name',
    ],
    ['a table that goes', 'DROP TABLE upload_pieces', 'the table upload_pieces is gone or has another name'],
    [
      'a table with a new name',
      'ALTER TABLE upload_pieces RENAME TO pieces',
      'the table upload_pieces is gone or has another name',
    ],
    [
      'a type that changes',
      'ALTER TABLE uploads DROP COLUMN used_time; ALTER TABLE uploads ADD COLUMN used_time TEXT',
      'the column uploads.used_time has another type: TEXT instead of BIGINT',
    ],
    [
      'a column that is made anew and needs a value',
      "ALTER TABLE uploads DROP COLUMN file_name; ALTER TABLE uploads ADD COLUMN file_name TEXT NOT NULL DEFAULT ''; CREATE TABLE copy (a TEXT)",
      undefined,
    ],
    [
      'a new column without a default',
      'CREATE TABLE media_2 (id TEXT PRIMARY KEY, phone_number_id TEXT NOT NULL, sha256 TEXT NOT NULL, mime_type TEXT NOT NULL, file_size BIGINT NOT NULL, expires_time BIGINT NOT NULL, owner TEXT NOT NULL); DROP TABLE media; ALTER TABLE media_2 RENAME TO media',
      'the new column media.owner must have a value, and has no default',
    ],
  ] as const) {
    test(broken === undefined ? `${name}, with a default, is fine` : `${name} is refused`, () => {
      const after = schemaOf([...migrations, { name: '999-test', script: `PRAGMA foreign_keys = OFF; ${script}` }])
      assert.equal(findBreaks(released, after)[0], broken)
    })
  }

  test('what the released code does not use may go', () => {
    const script = 'ALTER TABLE media DROP COLUMN file_size; DROP TABLE upload_pieces'
    const after = schemaOf([...migrations, { name: '999-test', script }])
    assert.deepEqual(findBreaks({ ...released, unused: ['media.file_size', 'upload_pieces'] }, after), [])
  })
})
