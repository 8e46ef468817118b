import type { Db } from '../../../db/database.ts'
import { defineStatement } from '../../../db/statement.ts'
import type { MessageTemplatesTable } from '../../../db/tables.ts'
import { templateDisabled, templateNotSendable, templatePaused } from './sending-errors.ts'

export type SendableTemplate = Pick<
  MessageTemplatesTable,
  'id' | 'name' | 'language' | 'category' | 'status' | 'parameter_format' | 'components' | 'message_send_ttl_seconds'
>

const findByName = defineStatement<{ account_id: string; name: string; language: string }>()(
  (db, { account_id, name, language }) =>
    db
      .selectFrom('message_templates')
      .select(['id', 'name', 'language', 'category', 'status', 'parameter_format', 'components'])
      .select('message_send_ttl_seconds')
      .where('account_id', '=', account_id)
      .where('name', '=', name)
      .where('language', '=', language),
)

/** The template of an account in exactly that language, if it can be sent now; throws the 422 otherwise. */
export async function findSendableTemplate(
  db: Db,
  account_id: string,
  name: string,
  language: string,
): Promise<SendableTemplate> {
  const template = await db.first(findByName, { account_id, name, language })
  switch (template?.status) {
    case 'APPROVED':
      return template
    case 'PAUSED':
      throw templatePaused()
    case 'DISABLED':
      throw templateDisabled()
    default:
      throw templateNotSendable()
  }
}
