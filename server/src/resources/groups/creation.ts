import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minute, second } from '../../base/time/duration.ts'
import type { Transaction } from '../../db/database.ts'
import type { Node } from '../../graph/nodes.ts'
import { setTimer } from '../../timers/set.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { lockPhoneNumber } from '../phone-numbers/store.ts'
import { type EventTools, raiseGroupEvent } from './events.ts'
import { drawInviteCode, groupDefaults, inviteLinkOf, problems } from './rules.ts'
import type { GroupCreation } from './schemas.ts'
import { insertGroup, putInviteLink } from './store.ts'

export const creationTimer = 'group_creation'

/** A delay, so that the response with the request's id is sent before the group's event. */
const creationDelay = 250

/** A request that was answered but not performed yet; kept in its timer. */
interface CreationRequest extends Pick<GroupCreation, 'subject' | 'description' | 'join_approval_mode'> {
  readonly request_id: string
  readonly number: Node
}

/** Accepts a request for a group: the group is created later, if and only if this transaction commits. */
export async function requestGroup(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  group: Omit<CreationRequest, 'request_id'>,
): Promise<string> {
  const request_id = tools.random.trace()
  const payload: CreationRequest = { request_id, ...group }
  await setTimer(tx, tools, { kind: creationTimer, due_time: tools.clock.now() + creationDelay, payload })
  return request_id
}

interface CreationTools extends EventTools {
  readonly random: Random
  readonly publicUrl: () => string
}

/** Creates the requested group, once, in the transaction that ends the request. An accepted request is never given up. */
export function makeCreationHandler(tools: CreationTools): TimerHandler {
  return {
    finish: (tx, payload) => createGroup(tx, tools, payload as CreationRequest),
    retryDelay: (failures) => Math.min(failures * second, minute),
  }
}

async function createGroup(tx: Transaction, tools: CreationTools, request: CreationRequest): Promise<void> {
  const { request_id, number, subject, description } = request
  const { account_id, phone_number, registered } = await lockPhoneNumber(tx, number)
  const holder = { account_id, phone_number_id: number.id, phone_number }
  const common = {
    type: 'group_create' as const,
    request_id,
    subject,
    ...(description !== undefined && description !== '' && { description }),
    join_approval_mode: request.join_approval_mode ?? groupDefaults.join_approval_mode,
  }
  if (!registered) {
    const failure = { ...common, errors: [problems.notRegistered()] }
    await raiseGroupEvent(tx, tools, holder, 'group_lifecycle_update', [failure])
    return
  }
  const created_time = tools.clock.now()
  const code = drawInviteCode(tools.random)
  const group_id = await insertGroup(tx, tools.random, number, {
    subject,
    description: description ?? groupDefaults.description,
    join_approval_mode: common.join_approval_mode,
    created_time,
  })
  await putInviteLink(tx, { group_id, code, created_time })
  const success = { group_id, ...common, invite_link: inviteLinkOf(tools.publicUrl(), code) }
  await raiseGroupEvent(tx, tools, holder, 'group_lifecycle_update', [success])
}
