import { type RawBuilder, type SelectModifier, SelectModifierNode, SqliteQueryCompiler, sql, TableNode } from 'kysely'

type RowLock = Extract<SelectModifier, `For${string}`>

/**
 * A row lock for queries in plain SQL; built queries have methods of the same names. The embedded database omits both.
 */
export function lockRowsOf(table: string, lock: RowLock): RawBuilder<unknown> {
  return writeModifier(SelectModifierNode.create(lock, [TableNode.create(table)]))
}

/** The same, skipping rows that somebody else holds. */
export function lockFreeRowsOf(table: string, lock: RowLock): RawBuilder<unknown> {
  return sql`${lockRowsOf(table, lock)} ${writeModifier(SelectModifierNode.create('SkipLocked'))}`
}

function writeModifier(node: SelectModifierNode): RawBuilder<unknown> {
  return sql`${{ toOperationNode: () => node }}`
}

/** SQLite has one writer at a time, so there is nothing to lock, and no syntax for it. */
export class LocklessQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct' || node.rawModifier) super.visitSelectModifier(node)
  }
}
