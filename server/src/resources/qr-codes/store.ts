import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { QrCodesTable } from '../../db/tables.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'

const findOfNumber = defineStatement<{ code: string; phone_number_id: string }>()((db, { code, phone_number_id }) =>
  db.selectFrom('qr_codes').selectAll().where('code', '=', code).where('phone_number_id', '=', phone_number_id),
)

const findByCode = defineStatement<{ code: string }>()((db, { code }) =>
  db
    .selectFrom('qr_codes')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'qr_codes.phone_number_id')
    .select(['qr_codes.prefilled_message', 'phone_numbers.verified_name', 'phone_numbers.display_phone_number'])
    .where('qr_codes.code', '=', code),
)

export async function findQrCode(db: Db, number: Node, code: string): Promise<QrCodesTable | undefined> {
  return db.first(findOfNumber, { code, phone_number_id: number.id })
}

/** The data of a code's page. For anyone who has the code: not bound to a tenant. */
export async function findQrCodeForAnyone(db: Db, code: string) {
  return db.first(findByCode, { code })
}

export async function listQrCodes(db: Db, number: Node, range: PageRange): Promise<QrCodesTable[]> {
  return range.apply(db.query.selectFrom('qr_codes').selectAll().where('phone_number_id', '=', number.id)).execute()
}

/** False when the code is taken. */
export async function insertQrCode(
  tx: Transaction,
  number: Node,
  qrCode: Omit<QrCodesTable, 'phone_number_id'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('qr_codes')
    .values({ ...qrCode, phone_number_id: number.id })
    .onConflict((conflict) => conflict.column('code').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** False when the number has no such code. */
export async function updateQrCode(
  tx: Transaction,
  number: Node,
  code: string,
  prefilled_message: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('qr_codes')
    .set({ prefilled_message })
    .where('code', '=', code)
    .where('phone_number_id', '=', number.id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** False when the number has no such code. */
export async function deleteQrCode(tx: Transaction, number: Node, code: string): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('qr_codes')
    .where('code', '=', code)
    .where('phone_number_id', '=', number.id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}
