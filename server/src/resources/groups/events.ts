import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import { conversations } from '../../delivery/raise/conversation.ts'
import { raiseEvent } from '../../delivery/raise/outbox.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { writeUnixSeconds } from './rules.ts'
import type { GroupProblem, Participant } from './schemas.ts'
import type { HeldGroup } from './store.ts'

export interface EventTools {
  readonly clock: Clock
  readonly vocabulary: Vocabulary
}

interface User {
  readonly user_wa_id: string
  readonly name: string | null
}

/** The members of a group event besides the time, by its field. */
interface Entries {
  group_lifecycle_update:
    | (CreationEntry & { readonly group_id: string; readonly invite_link: string })
    | (CreationEntry & { readonly errors: readonly GroupProblem[] })
    | { readonly type: 'group_delete'; readonly group_id: string; readonly request_id: string }
  group_participants_update:
    | {
        readonly type: 'group_participants_add'
        readonly group_id: string
        readonly reason: 'invite_link'
        readonly added_participants: readonly Participant[]
      }
    | {
        readonly type: 'group_participants_remove'
        readonly group_id: string
        readonly request_id: string
        readonly initiated_by: 'business'
        readonly removed_participants: readonly Participant[]
      }
    | {
        readonly type: JoinRequestKind
        readonly group_id: string
        readonly join_request_id: string
        readonly wa_id: string
      }
}

interface CreationEntry {
  readonly type: 'group_create'
  readonly request_id: string
  readonly subject: string
  readonly description?: string
  readonly join_approval_mode: string
}

type JoinRequestKind = 'group_join_request_created' | 'group_join_request_revoked'

/** Raises one event about a group, with one or several changes of the same moment. */
export async function raiseGroupEvent<Field extends keyof Entries>(
  tx: Transaction,
  { clock, vocabulary }: EventTools,
  group: Pick<HeldGroup, 'account_id' | 'phone_number_id' | 'phone_number'>,
  field: Field,
  entries: readonly Entries[Field][],
  users: readonly User[] = [],
): Promise<void> {
  const { account_id, phone_number_id, phone_number } = group
  const timestamp = writeUnixSeconds(clock.now())
  const named = users.filter(({ name }) => name !== null)
  const [entry] = entries
  // A group that was not created has no id.
  const group_id = entry && 'group_id' in entry ? entry.group_id : undefined
  await raiseEvent(tx, clock, {
    account_id,
    phone_number_id,
    field,
    conversation: group_id === undefined ? conversations.account(account_id) : conversations.group(group_id),
    value: {
      messaging_product: vocabulary.product,
      metadata: { display_phone_number: phone_number, phone_number_id },
      ...(named.length > 0 && {
        contacts: named.map(({ user_wa_id, name }) => ({ profile: { name }, wa_id: user_wa_id })),
      }),
      groups: entries.map((entry) => ({ timestamp, ...entry })),
    },
  })
}

/** Users joined by the link, by themselves or with the business's approval. */
export async function raiseJoined(
  tx: Transaction,
  tools: EventTools,
  group: HeldGroup,
  users: readonly User[],
): Promise<void> {
  const added_participants = users.map(({ user_wa_id }) => ({ input: user_wa_id, wa_id: user_wa_id }))
  await raiseGroupEvent(
    tx,
    tools,
    group,
    'group_participants_update',
    [{ group_id: group.id, type: 'group_participants_add', reason: 'invite_link', added_participants }],
    users,
  )
}

/** Users asked to join, or their requests ended without joining. */
export async function raiseJoinRequests(
  tx: Transaction,
  tools: EventTools,
  group: HeldGroup,
  type: JoinRequestKind,
  requests: readonly (User & { readonly id: string })[],
): Promise<void> {
  const entries = requests.map(({ id, user_wa_id }) => ({
    group_id: group.id,
    type,
    join_request_id: id,
    wa_id: user_wa_id,
  }))
  await raiseGroupEvent(tx, tools, group, 'group_participants_update', entries, requests)
}
