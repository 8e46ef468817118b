import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { BotsTable } from '../../db/tables.ts'
import { createNode, type Node } from '../../graph/nodes.ts'

const shownColumns = ['id', 'prompts', 'commands', 'enable_welcome_message'] as const

const findById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('bots').select(shownColumns).where('id', '=', id).where('account_id', '=', account_id),
)

const findByNumber = defineStatement<{ phone_number_id: string; account_id: string }>()(
  (db, { phone_number_id, account_id }) =>
    db
      .selectFrom('bots')
      .select(shownColumns)
      .where('phone_number_id', '=', phone_number_id)
      .where('account_id', '=', account_id),
)

export async function findBot(db: Db, node: Node) {
  const bot = await db.first(findById, { id: node.id, account_id: node.account_id ?? '' })
  if (!bot) throw new Error(`the bot of node ${node.id} is missing`)
  return bot
}

/** The bot of a phone number; undefined until something was set for it. */
export async function findBotOfNumber(db: Db, number: Node) {
  return db.first(findByNumber, { phone_number_id: number.id, account_id: number.account_id ?? '' })
}

/** Sets everything that the bot of a phone number offers; creates the bot the first time. */
export async function setBotOfNumber(
  tx: Transaction,
  random: Random,
  number: Node,
  offer: Pick<BotsTable, 'prompts' | 'commands' | 'enable_welcome_message'>,
): Promise<void> {
  lockNumber(tx, number)
  const bot = await findBotOfNumber(tx, number)
  if (bot) {
    await tx.query.updateTable('bots').set(offer).where('id', '=', bot.id).execute()
    return
  }
  const owner = { business_id: number.business_id, account_id: number.account_id ?? '' }
  const id = await createNode(tx, random, 'bot', owner)
  await tx.query
    .insertInto('bots')
    .values({ id, account_id: owner.account_id, phone_number_id: number.id, ...offer })
    .execute()
}

const lockNumberById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('phone_numbers').select('id').where('id', '=', id).forNoKeyUpdate(),
)

/** Serializes concurrent writes to the bot of one number, so that the second finds the first's. */
function lockNumber(tx: Transaction, number: Node): void {
  tx.lock(lockNumberById, { id: number.id })
}
