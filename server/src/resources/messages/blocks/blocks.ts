import type { Db, Transaction } from '../../../db/database.ts'
import type { BlockedUsersTable } from '../../../db/tables.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import type { Node } from '../../../graph/nodes.ts'
import type { Settings } from '../../../graph/settings.ts'
import { lockPhoneNumber } from '../../phone-numbers/store.ts'
import { blockedUserNotPossible, blockListFull, blockNeedsWindow, userIsNumber } from '../errors.ts'
import { findRecipientDigits } from '../recipient.ts'
import { isWindowOpen } from '../rules.ts'
import { chatIdOf } from '../store.ts'

/** What became of users whom a number blocks or unblocks, each for itself. */
export interface BlockOutcome {
  readonly done: readonly { readonly input: string; readonly wa_id: string }[]
  readonly failed: readonly { readonly input: string; readonly error: GraphError }[]
}

export async function listBlocked(db: Db, { id }: Node, range: PageRange): Promise<BlockedUsersTable[]> {
  return range.apply(db.query.selectFrom('blocked_users').selectAll().where('phone_number_id', '=', id)).execute()
}

/** Blocks users who have an open window; the number is held, so that what was counted stays true. */
export async function blockUsers(
  tx: Transaction,
  node: Node,
  settings: Settings,
  inputs: readonly string[],
  now: number,
): Promise<BlockOutcome> {
  await lockPhoneNumber(tx, node)
  const known = await findKnown(tx, node, inputs)
  let count = await countBlocked(tx, node)
  return sortOut(inputs, async (wa_id) => {
    if (known.numbers.has(wa_id)) return userIsNumber()
    if (known.blocked.has(wa_id)) return undefined
    const chat = known.chats.get(wa_id)
    if (!chat || !isWindowOpen(chat, settings, now)) return blockNeedsWindow()
    if (count >= settings.maxBlockedUsers) return blockListFull({ max: settings.maxBlockedUsers })
    count += 1
    await tx.query
      .insertInto('blocked_users')
      .values({ phone_number_id: node.id, user_wa_id: wa_id, created_time: now })
      .execute()
    return undefined
  })
}

export async function unblockUsers(tx: Transaction, node: Node, inputs: readonly string[]): Promise<BlockOutcome> {
  await lockPhoneNumber(tx, node)
  const known = await findKnown(tx, node, inputs)
  return sortOut(inputs, async (wa_id) => {
    if (known.numbers.has(wa_id)) return userIsNumber()
    if (known.blocked.has(wa_id)) {
      await tx.query
        .deleteFrom('blocked_users')
        .where('phone_number_id', '=', node.id)
        .where('user_wa_id', '=', wa_id)
        .execute()
    }
    return undefined
  })
}

/** What is named twice counts once. */
async function sortOut(
  inputs: readonly string[],
  act: (wa_id: string) => Promise<GraphError | undefined>,
): Promise<BlockOutcome> {
  const done: { input: string; wa_id: string }[] = []
  const failed: { input: string; error: GraphError }[] = []
  const seen = new Set<string>()
  for (const input of inputs) {
    const wa_id = findRecipientDigits(input)
    if (seen.has(wa_id ?? input)) continue
    seen.add(wa_id ?? input)
    const error = wa_id === undefined ? blockedUserNotPossible() : await act(wa_id)
    if (error) failed.push({ input, error })
    else if (wa_id !== undefined) done.push({ input, wa_id })
  }
  return { done, failed }
}

/** What the store knows of these users: numbers of the platform, those blocked already, and chats. */
async function findKnown({ query }: Transaction, { id }: Node, inputs: readonly string[]) {
  const users = ['', ...inputs.flatMap((input) => findRecipientDigits(input) ?? [])]
  const chatIds = users.map((user) => chatIdOf(id, user))
  const numbers = await query
    .selectFrom('phone_numbers')
    .select('phone_number')
    .where('phone_number', 'in', users)
    .execute()
  const blocked = await query
    .selectFrom('blocked_users')
    .select('user_wa_id')
    .where('phone_number_id', '=', id)
    .where('user_wa_id', 'in', users)
    .execute()
  const chats = await query
    .selectFrom('chats')
    .select(['user_wa_id', 'window_time'])
    .where('id', 'in', chatIds)
    .execute()
  return {
    numbers: new Set(numbers.map(({ phone_number }) => phone_number)),
    blocked: new Set(blocked.map(({ user_wa_id }) => user_wa_id)),
    chats: new Map(chats.map((chat) => [chat.user_wa_id, chat])),
  }
}

async function countBlocked({ query }: Transaction, { id }: Node): Promise<number> {
  const { count } = await query
    .selectFrom('blocked_users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('phone_number_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}
