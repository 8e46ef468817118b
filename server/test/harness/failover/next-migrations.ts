import type { Migration } from '../../../src/db/schema/migrations.ts'

const first = 900
const each = 3

/** Migrations that the last release of this service may have one day: three of each number up to this one. */
export function listNextMigrations(number: number): Migration[] {
  return Array.from({ length: number + 1 }, (_, index) => {
    const name = (offset: number, subject: string) => `${first + index * each + offset}-${subject}`
    return [
      { name: name(0, 'table'), script: `CREATE TABLE next_${index} (id TEXT);` },
      {
        name: name(1, 'index'),
        script: `CONCURRENTLY CREATE INDEX ${indexOf(index)} ON messages (created_time, id);`,
      },
      { name: name(2, 'column'), script: `ALTER TABLE messages ADD COLUMN next_${index} TEXT;` },
    ]
  }).flat()
}

/** The index that the migrations of a number build while others write. */
export function indexOf(number: number): string {
  return `next_${number}_by_time`
}
