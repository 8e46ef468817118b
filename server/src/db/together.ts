import { sql } from 'kysely'
import { defineSql, type Statement, type Together } from './statement.ts'
import type { Tables } from './tables.ts'

/** Any statement, with what one run of it does for several works. */
export function defineTogether<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  together: Together<Parameters, Row>,
): Statement<Parameters, Row> {
  return { ...statement, together }
}

interface Rows {
  readonly rows: readonly object[]
}

/** Rows with these columns are inserted by one statement. */
export function insertTogether<Parameters extends object>(
  table: keyof Tables,
  columns: readonly (keyof Parameters & string)[],
): Together<Parameters, never> {
  const names = sql.join(columns.map((name) => sql.ref(name)))
  const insert = defineSql<Rows>()(
    ({ rows }) => sql<never>`INSERT INTO ${sql.table(table)} (${names})
      SELECT ${names} FROM json_populate_recordset(CAST(NULL AS ${sql.table(table)}), ${rows})`,
  )
  return { statement: insert, join: (rows) => ({ rows }) }
}

/** Gives each work the rows whose column has the value that it asked for. */
export function splitBy<Parameters extends object, Row extends object>(
  name: keyof Parameters & keyof Row,
): NonNullable<Together<Parameters, Row>['split']> {
  return (rows, all) => {
    const byValue = Map.groupBy(rows, (row) => row[name] as unknown)
    return all.map((parameters) => byValue.get(parameters[name]) ?? [])
  }
}
