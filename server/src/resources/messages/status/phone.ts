import { sql } from 'kysely'
import { minute, second } from '../../../base/time/duration.ts'
import type { TimerDeps } from '../../../chapter.ts'
import type { Transaction } from '../../../db/database.ts'
import { defineStatement } from '../../../db/statement.ts'
import type { UsersTable } from '../../../db/tables.ts'
import type { Settings } from '../../../graph/settings.ts'
import { setTimer } from '../../../timers/set.ts'
import type { TimerHandler } from '../../../timers/worker.ts'
import { chatIdOf, findPerson, lockForPhone, type Person, type PhoneUser } from '../store.ts'
import type { EventTools } from './events.ts'
import { progressFor } from './progress.ts'
import type { MessageStatus } from './states.ts'

/** The virtual phone: what a user's phone does by itself. */
const phoneTimer = 'messages.phone'
const waitingTimer = 'messages.deliver_waiting'

/** So many waiting messages are delivered in one transaction. */
const waitingBatch = 100
/** Transactions take less. */
const settleTime = 5 * second

export interface PhoneTools extends EventTools {
  readonly random: TimerDeps['random']
  readonly settings: Settings
}

interface PhoneAct {
  readonly message_id: string
  readonly user_wa_id: string
  readonly status: 'delivered' | 'read'
}

function isOnline({ presence }: Pick<UsersTable, 'presence'>, settings: Settings): boolean {
  return (presence ?? settings.usersPresence) === 'online'
}

/** What a phone that gets a message does with it at once: nothing, deliver it, or deliver and read it. */
export function actAtOnce(user: Pick<Person, 'presence' | 'auto_read'>, settings: Settings): readonly MessageStatus[] {
  if (settings.phoneDeliveryDelay > 0 || !isOnline(user, settings)) return []
  return user.auto_read && settings.phoneReadDelay === 0 ? ['delivered', 'read'] : ['delivered']
}

/** Sets the timer of what the phone does next, after what has happened to a message. */
export async function schedulePhone(
  tx: Transaction,
  tools: PhoneTools,
  message_id: string,
  user: PhoneUser,
  last: MessageStatus | undefined,
): Promise<void> {
  const { clock, settings } = tools
  if (!isOnline(user, settings)) return
  const act: PhoneAct | undefined =
    last === 'sent'
      ? { message_id, user_wa_id: user.wa_id, status: 'delivered' }
      : last === 'delivered' && user.auto_read
        ? { message_id, user_wa_id: user.wa_id, status: 'read' }
        : undefined
  if (!act) return
  const delay = act.status === 'delivered' ? settings.phoneDeliveryDelay : settings.phoneReadDelay
  await setTimer(tx, tools, { kind: phoneTimer, due_time: clock.now() + delay, payload: act })
}

/** Lets the phone of a user take a message on: not when it is offline, and never what comes from a number that the user blocked. */
async function act(tx: Transaction, tools: PhoneTools, { message_id, user_wa_id, status }: PhoneAct): Promise<void> {
  const found = await lockForPhone(tx, message_id, user_wa_id)
  if (!found || found.isBlockedByUser || !isOnline(found.user, tools.settings)) return
  const { message, number, user } = found
  const statuses = await progressFor(tx, tools, number, message, user, { status })
  await schedulePhone(tx, tools, message_id, user, statuses.at(-1))
}

const selectBlocked = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('chats').select('blocked').where('id', '=', id),
)

/** Whether the user has blocked the number: then nothing is delivered, and no event is raised. */
export async function isBlockedByUser(tx: Transaction, phone_number_id: string, user_wa_id: string): Promise<boolean> {
  return (await tx.first(selectBlocked, { id: chatIdOf(phone_number_id, user_wa_id) }))?.blocked ?? false
}

const endSent = defineStatement<{ chat_id: string; now: number }>()((db, { chat_id, now }) =>
  db
    .updateTable('messages')
    .set({ ended_time: now })
    .where('chat_id', '=', chat_id)
    .where('direction', '=', 'to_user')
    // As the index says it: a value that is bound would not be known to be in it.
    .where(sql<boolean>`state IN ('sent', 'delivered') AND state = 'sent'`)
    .where('ended_time', 'is', null),
)

/** A user takes the block of a number back: what the number sent until then stays sent and never reaches the user. */
export function endWaiting(tx: Transaction, chat_id: string, now: number): void {
  tx.run(endSent, { chat_id, now })
}

interface Waiting {
  readonly user_wa_id: string
  readonly now: number
  /** What was sent later waits for its own timer. */
  readonly sentUntil: number
  readonly limit: number
}

const listWaitingAlone = defineStatement<Waiting>()((db, { user_wa_id, now, sentUntil, limit }) =>
  db
    .selectFrom('messages')
    .innerJoin('chats', 'chats.id', 'messages.chat_id')
    .select(['messages.id', 'messages.position'])
    .where('messages.user_wa_id', '=', user_wa_id)
    // As the index says it: a value that is bound would not be known to be in it.
    .where(sql<boolean>`messages.state = 'sent' AND messages.direction = 'to_user'`)
    .where('messages.type', '<>', 'reaction')
    .where('messages.ended_time', 'is', null)
    .where('messages.expires_time', '>', now)
    .where('messages.sent_time', '<=', sentUntil)
    .where('chats.blocked', '=', false)
    .orderBy('messages.position')
    .limit(limit),
)

const listWaitingInGroups = defineStatement<Waiting>()((db, { user_wa_id, now, sentUntil, limit }) =>
  db
    .selectFrom('message_recipients')
    .innerJoin('messages', 'messages.id', 'message_recipients.message_id')
    .select(['messages.id', 'messages.position'])
    .where('message_recipients.user_wa_id', '=', user_wa_id)
    .where(sql<boolean>`message_recipients.state = 'sent'`)
    .where('messages.expires_time', '>', now)
    .where('messages.sent_time', '<=', sentUntil)
    .orderBy('messages.position')
    .limit(limit),
)

/** Delivers what waits for a user who is online now, oldest first; what is more than a batch goes on by a timer. */
async function deliverWaiting(
  tx: Transaction,
  tools: PhoneTools,
  user_wa_id: string,
  sentUntil: number,
): Promise<void> {
  const asked = { user_wa_id, now: tools.clock.now(), sentUntil, limit: waitingBatch }
  const waiting = [...(await tx.list(listWaitingAlone, asked)), ...(await tx.list(listWaitingInGroups, asked))]
  const next = waiting.sort((one, other) => one.position - other.position).slice(0, waitingBatch)
  for (const { id } of next) {
    const found = await lockForPhone(tx, id, user_wa_id)
    if (!found) continue
    const { message, number, user } = found
    const statuses = await progressFor(tx, tools, number, message, user, { status: 'delivered' })
    await schedulePhone(tx, tools, id, user, statuses.at(-1))
  }
  if (next.length < waitingBatch) return
  await setTimer(tx, tools, { kind: waitingTimer, due_time: tools.clock.now(), payload: { user_wa_id, sentUntil } })
}

/** Up to when messages to a phone that is online were sent that it must have by now. */
function dueUntil({ clock, settings: { phoneDeliveryDelay } }: PhoneTools): number {
  return phoneDeliveryDelay === 0 ? Number.MAX_SAFE_INTEGER : clock.now() - phoneDeliveryDelay
}

/**
 * Delivers what waits for a user whose phone reports that it is online, also where it was so already: a world file may have set that,
 * which delivers nothing. A sender of the same moment may still see the phone offline and leave a message that cannot be seen here yet,
 * so a timer looks once more.
 */
export async function comeOnline(tx: Transaction, tools: PhoneTools, before: Person): Promise<void> {
  const { clock, settings } = tools
  const sentUntil = isOnline(before, settings) ? dueUntil(tools) : Number.MAX_SAFE_INTEGER
  await deliverWaiting(tx, tools, before.wa_id, sentUntil)
  const due_time = clock.now() + settings.phoneDeliveryDelay + settleTime
  await setTimer(tx, tools, { kind: waitingTimer, due_time, payload: { user_wa_id: before.wa_id } })
}

export function makePhoneHandlers(deps: TimerDeps): Record<string, TimerHandler> {
  const toolsOf = (): PhoneTools => ({ ...deps, publicUrl: deps.publicUrl() })
  const retryDelay = (failures: number) => Math.min(failures * second, minute)
  return {
    [phoneTimer]: { finish: (tx, payload) => act(tx, toolsOf(), payload as PhoneAct), retryDelay },
    [waitingTimer]: {
      async finish(tx, payload) {
        const tools = toolsOf()
        const { user_wa_id, sentUntil = dueUntil(tools) } = payload as { user_wa_id: string; sentUntil?: number }
        const { presence } = await findPerson(tx, '', user_wa_id)
        if (isOnline({ presence }, deps.settings)) await deliverWaiting(tx, tools, user_wa_id, sentUntil)
      },
      retryDelay,
    },
  }
}
