import { type RawBuilder, type SelectModifier, SelectModifierNode, SqliteQueryCompiler, sql, TableNode } from 'kysely'

type RowLock = Extract<SelectModifier, `For${string}`>

/**
 * A lock on the rows of a table that a query in plain SQL finds; queries that are built have methods of the same names. The embedded database leaves
 * both out.
 */
export function lockRowsOf(table: string, lock: RowLock): RawBuilder<unknown> {
  return writeModifier(SelectModifierNode.create(lock, [TableNode.create(table)]))
}

/** The same, passing over rows that somebody else holds. */
export function lockFreeRowsOf(table: string, lock: RowLock): RawBuilder<unknown> {
  return sql`${lockRowsOf(table, lock)} ${writeModifier(SelectModifierNode.create('SkipLocked'))}`
}

function writeModifier(node: SelectModifierNode): RawBuilder<unknown> {
  return sql`${{ toOperationNode: () => node }}`
}

/** SQLite has one writer at a time, so there is nothing to lock, and no words for it. */
export class LocklessQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct' || node.rawModifier) super.visitSelectModifier(node)
  }
}
