import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { Node } from '../../graph/nodes.ts'

const findById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db
    .selectFrom('bots')
    .select(['id', 'prompts', 'commands', 'enable_welcome_message'])
    .where('id', '=', id)
    .where('account_id', '=', account_id),
)

export async function findBot(db: Db, node: Node) {
  const bot = await db.first(findById, { id: node.id, account_id: node.account_id ?? '' })
  if (!bot) throw new Error(`the bot of node ${node.id} is missing`)
  return bot
}
