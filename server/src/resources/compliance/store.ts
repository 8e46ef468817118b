import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { ComplianceInfoTable } from '../../db/tables.ts'
import type { Node } from '../../graph/nodes.ts'

const findByNumber = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db
    .selectFrom('compliance_info')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'compliance_info.phone_number_id')
    .selectAll('compliance_info')
    .where('phone_number_id', '=', id)
    .where('account_id', '=', account_id),
)

/** The compliance record of a number; undefined when there is none. */
export async function findCompliance(db: Db, { id, account_id }: Node): Promise<ComplianceInfoTable | undefined> {
  return db.first(findByNumber, { id, account_id: account_id ?? '' })
}

export async function replaceCompliance(
  tx: Transaction,
  number: Node,
  info: Omit<ComplianceInfoTable, 'phone_number_id'>,
): Promise<void> {
  await tx.query
    .insertInto('compliance_info')
    .values({ phone_number_id: number.id, ...info })
    .onConflict((conflict) => conflict.column('phone_number_id').doUpdateSet(info))
    .execute()
}
