import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type {
  GroupInviteLinksTable,
  GroupJoinRequestsTable,
  GroupParticipantsTable,
  GroupsTable,
} from '../../db/tables.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import { createNode, deleteNode, type Node } from '../../graph/nodes.ts'

/** A group with what its events say about its number. */
export interface HeldGroup extends GroupsTable {
  readonly account_id: string
  readonly phone_number: string
}

const findById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db
    .selectFrom('groups')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'groups.phone_number_id')
    .selectAll('groups')
    .where('groups.id', '=', id)
    .where('phone_numbers.account_id', '=', account_id),
)

const findParticipants = defineStatement<{ group_id: string }>()((db, { group_id }) =>
  db
    .selectFrom('group_participants')
    .select('user_wa_id')
    .where('group_id', '=', group_id)
    .orderBy('joined_time')
    .orderBy('user_wa_id'),
)

const findLinkOfGroup = defineStatement<{ group_id: string; account_id: string }>()((db, { group_id, account_id }) =>
  db
    .selectFrom('group_invite_links')
    .innerJoin('groups', 'groups.id', 'group_invite_links.group_id')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'groups.phone_number_id')
    .select('group_invite_links.code')
    .where('group_invite_links.group_id', '=', group_id)
    .where('phone_numbers.account_id', '=', account_id),
)

const findInvitation = defineStatement<{ code: string }>()((db, { code }) =>
  db
    .selectFrom('group_invite_links')
    .innerJoin('groups', 'groups.id', 'group_invite_links.group_id')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'groups.phone_number_id')
    .select([
      'groups.subject',
      'groups.description',
      'groups.join_approval_mode',
      'phone_numbers.verified_name',
      'phone_numbers.display_phone_number',
    ])
    .where('group_invite_links.code', '=', code),
)

/** Undefined when it was deleted since the access check. */
export async function findGroup(db: Db, node: Node): Promise<GroupsTable | undefined> {
  return db.first(findById, { id: node.id, account_id: node.account_id ?? '' })
}

export async function listGroups(db: Db, number: Node, range: PageRange): Promise<GroupsTable[]> {
  return range.apply(db.query.selectFrom('groups').selectAll().where('phone_number_id', '=', number.id)).execute()
}

/**
 * The group, locked until the transaction ends. Every change to a group or its members begins with this, so that changes come one after
 * another, and counts stay true. Undefined when it was deleted meanwhile.
 */
export async function lockGroup(tx: Transaction, node: Node): Promise<HeldGroup | undefined> {
  return selectHeld(tx)
    .where('groups.id', '=', node.id)
    .where('phone_numbers.account_id', '=', node.account_id ?? '')
    .executeTakeFirst()
}

/** The group of an active link, locked in the same way. A user has a link and no tenant. */
export async function lockInvitingGroupForGateway(tx: Transaction, code: string): Promise<HeldGroup | undefined> {
  const findLink = tx.query.selectFrom('group_invite_links').select('group_id').where('code', '=', code)
  const link = await findLink.executeTakeFirst()
  if (!link) return undefined
  const group = await selectHeld(tx).where('groups.id', '=', link.group_id).executeTakeFirst()
  // The link may have ended while another transaction held the group.
  return (await findLink.executeTakeFirst()) ? group : undefined
}

function selectHeld(tx: Transaction) {
  return tx.query
    .selectFrom('groups')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'groups.phone_number_id')
    .selectAll('groups')
    .select(['phone_numbers.account_id', 'phone_numbers.phone_number'])
    .forUpdate('groups')
}

export async function insertGroup(
  tx: Transaction,
  random: Random,
  number: Node,
  group: Omit<GroupsTable, 'id' | 'phone_number_id'>,
): Promise<string> {
  const id = await createNode(tx, random, 'group', number)
  await tx.query
    .insertInto('groups')
    .values({ id, phone_number_id: number.id, ...group })
    .execute()
  return id
}

/** Removes a group with everything in it; its id is free again, so that a world file can restore it. */
export async function deleteGroup(tx: Transaction, { id }: HeldGroup): Promise<void> {
  for (const table of ['group_invite_links', 'group_participants', 'group_join_requests'] as const) {
    await tx.query.deleteFrom(table).where('group_id', '=', id).execute()
  }
  await tx.query.deleteFrom('groups').where('id', '=', id).execute()
  await deleteNode(tx, id)
}

/** Gives a group a new link; the previous one ends. */
export async function putInviteLink(tx: Transaction, link: GroupInviteLinksTable): Promise<void> {
  const { code, created_time } = link
  await tx.query
    .insertInto('group_invite_links')
    .values(link)
    .onConflict((conflict) => conflict.column('group_id').doUpdateSet({ code, created_time }))
    .execute()
}

/** The code of a group's active link. */
export async function findInviteCode(db: Db, group: Node): Promise<string | undefined> {
  return (await db.first(findLinkOfGroup, { group_id: group.id, account_id: group.account_id ?? '' }))?.code
}

/** The data of a link's page. For anyone who has the link: not bound to a tenant. */
export async function findInvitationForAnyone(db: Db, code: string) {
  return db.first(findInvitation, { code })
}

/** False when the group has no active link. */
export async function deleteInviteLink(tx: Transaction, group: HeldGroup): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('group_invite_links')
    .where('group_id', '=', group.id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** In the order of joining. */
export async function listParticipants(db: Db, group: GroupsTable): Promise<{ user_wa_id: string }[]> {
  return db.list(findParticipants, { group_id: group.id })
}

export async function insertParticipant(tx: Transaction, participant: GroupParticipantsTable): Promise<void> {
  await tx.query.insertInto('group_participants').values(participant).execute()
}

/** Which of these users were in the group. */
export async function deleteParticipants(
  tx: Transaction,
  group: HeldGroup,
  users: readonly string[],
): Promise<Set<string>> {
  const deleted = await tx.query
    .deleteFrom('group_participants')
    .where('group_id', '=', group.id)
    .where('user_wa_id', 'in', users)
    .returning('user_wa_id')
    .execute()
  return new Set(deleted.map(({ user_wa_id }) => user_wa_id))
}

export async function listJoinRequests(db: Db, group: Node, range: PageRange): Promise<GroupJoinRequestsTable[]> {
  return range.apply(db.query.selectFrom('group_join_requests').selectAll().where('group_id', '=', group.id)).execute()
}

/** The group's requests among these ids, by id. */
export async function findJoinRequests(
  tx: Transaction,
  group: HeldGroup,
  ids: readonly string[],
): Promise<Map<string, GroupJoinRequestsTable>> {
  const found = await tx.query
    .selectFrom('group_join_requests')
    .selectAll()
    .where('group_id', '=', group.id)
    .where('id', 'in', ids)
    .execute()
  return new Map(found.map((request) => [request.id, request]))
}

/** False when the user has already asked. */
export async function insertJoinRequest(tx: Transaction, request: GroupJoinRequestsTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('group_join_requests')
    .values(request)
    .onConflict((conflict) => conflict.columns(['group_id', 'user_wa_id']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Ends requests of any user: they were handled, or are no longer needed. */
export async function deleteJoinRequests(tx: Transaction, group: HeldGroup, users: readonly string[]): Promise<void> {
  await tx.query
    .deleteFrom('group_join_requests')
    .where('group_id', '=', group.id)
    .where('user_wa_id', 'in', users)
    .execute()
}
