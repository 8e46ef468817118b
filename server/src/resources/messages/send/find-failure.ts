import { day } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'
import type { ChatsTable } from '../../../db/tables.ts'
import type { Settings } from '../../../graph/settings.ts'
import type { FailureCode } from '../status/failures.ts'
import { findMessageOf } from '../store.ts'
import type { Audience } from './audience.ts'
import { countMarketing } from './marketing-store.ts'
import type { CheckedMessage } from './request.ts'
import type { TemplateToSend } from './template.ts'
import { takeRoomForUser } from './tier.ts'

export interface Attempt {
  readonly message: CheckedMessage
  readonly audience: Audience
  readonly template: TemplateToSend | undefined
  readonly isWindowOpen: boolean
  readonly now: number
}

/** Why a message fails that was accepted; the first reason that applies. */
export async function findFailure(
  tx: Transaction,
  settings: Settings,
  attempt: Attempt,
): Promise<FailureCode | undefined> {
  const { message, audience, template, isWindowOpen } = attempt
  const { user, chat } = audience
  if (user && (user.isNumber || !user.reachable)) return 131026
  if (template) return user ? findTemplateFailure(tx, settings, attempt, template) : undefined
  if (!isWindowOpen) return 131047
  if (message.kind === 'reaction') {
    const { message_id } = message.value as { message_id: string }
    const target = await findMessageOf(tx, audience.sender.id, message_id)
    if (!target || target.chat_id !== chat.id || target.type === 'reaction') return 131009
  }
  return undefined
}

/** Limits of templates are about users: groups have none. */
async function findTemplateFailure(
  tx: Transaction,
  settings: Settings,
  { audience: { chat, sender }, isWindowOpen, now }: Attempt,
  { template }: TemplateToSend,
): Promise<FailureCode | undefined> {
  if (template.category === 'MARKETING') {
    if (chat.marketing === 'stop') return 131050
    const max = settings.maxMarketingPerUserPerDay
    if (max > 0 && (await countMarketing(tx, chat.id, now - day)) >= max) return 131049
  }
  if (isWindowOpen || countsAlready(chat, now)) return undefined
  return (await takeRoomForUser(tx, sender, now)) ? undefined : 131048
}

/** A user counts once in 24 hours. A time that is yet to come was written before the clock was set back. */
function countsAlready({ template_time }: Pick<ChatsTable, 'template_time'>, now: number): boolean {
  return template_time !== null && template_time > now - day
}
