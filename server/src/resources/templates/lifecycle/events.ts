import type { Clock } from '../../../base/time/clock.ts'
import type { Transaction } from '../../../db/database.ts'
import type { MessageTemplatesTable } from '../../../db/tables.ts'
import { conversations } from '../../../delivery/raise/conversation.ts'
import { raiseEvent } from '../../../delivery/raise/outbox.ts'
import type { TemplateStatus } from './states.ts'

type Template = MessageTemplatesTable
type TemplateField = 'message_template_status_update' | 'message_template_quality_update' | 'template_category_update'

/** Reports what has become of a template. */
export function raiseStatusEvent(
  tx: Transaction,
  clock: Clock,
  template: Template,
  event: TemplateStatus | 'DELETED',
): Promise<void> {
  return raise(tx, clock, template, 'message_template_status_update', {
    event,
    ...describe(template),
    message_template_category: template.category,
    reason: (event === 'REJECTED' && template.rejected_reason) || 'NONE',
    ...(event === 'DISABLED' && { disable_info: { disable_date: String(Math.floor(clock.now() / 1000)) } }),
  })
}

export function raiseQualityEvent(
  tx: Transaction,
  clock: Clock,
  template: Template,
  new_quality_score: string,
): Promise<void> {
  return raise(tx, clock, template, 'message_template_quality_update', {
    previous_quality_score: template.quality_score,
    new_quality_score,
    ...describe(template),
  })
}

export function raiseCategoryEvent(
  tx: Transaction,
  clock: Clock,
  template: Template,
  new_category: string,
): Promise<void> {
  return raise(tx, clock, template, 'template_category_update', {
    previous_category: template.category,
    new_category,
    ...describe(template),
  })
}

function describe({ id, name, language }: Template) {
  return { message_template_id: writeId(id), message_template_name: name, message_template_language: language }
}

/** A number, as the specification has it. A world file may have given one that a number cannot hold: that stays text. */
function writeId(id: string): number | string {
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : id
}

async function raise(
  tx: Transaction,
  clock: Clock,
  { id, account_id }: Template,
  field: TemplateField,
  value: object,
): Promise<void> {
  const conversation = conversations.template(id)
  await raiseEvent(tx, clock, { account_id, phone_number_id: null, field, conversation, value })
}
