import type { Transaction } from './database.ts'
import type { Statement } from './statement.ts'

/**
 * Lists rows that are needed only after the next statement that is awaited: where it is possible, both are sent together. Until then `take`
 * may not have been called.
 */
export async function deferList<Parameters extends object, Row>(
  tx: Transaction,
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
  take: (rows: Row[]) => void,
): Promise<void> {
  if (tx.defer) tx.defer(statement, parameters, take)
  else take(await tx.list(statement, parameters))
}

/** The same for one row; what is returned gives it then. */
export async function deferFirst<Parameters extends object, Row>(
  tx: Transaction,
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): Promise<() => Row | undefined> {
  let row: Row | undefined
  await deferList(tx, statement, parameters, (rows) => {
    row = rows[0]
  })
  return () => row
}
