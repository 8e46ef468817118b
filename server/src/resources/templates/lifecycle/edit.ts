import { formatDuration } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'
import { badArgument } from '../../../graph/define-error.ts'
import type { Settings } from '../../../graph/settings.ts'
import { type ReadComponents, readComponents } from '../components/read-components.ts'
import {
  approvedCategoryFixed,
  templateCategoryDiffers,
  templateEditEmpty,
  templateEditLimitReached,
  templateKeyFixed,
} from '../errors.ts'
import { keepLife, readFormat, readLife, writeContent } from '../rules.ts'
import type { TemplateEdit } from '../schemas.ts'
import { addEdit, listEdits, listLanguages, type Template, updateTemplate } from '../store.ts'
import { type HeaderGiver, takeHeaderFiles } from './header-file.ts'
import { approveAtOnce, moveTemplate } from './review.ts'
import { checkEditable } from './states.ts'

/** What an edit makes of a template, and whether it has to be reviewed again. */
interface ReadEdit {
  readonly changes: Pick<Template, 'category' | 'parameter_format' | 'content' | 'message_send_ttl_seconds'>
  readonly read: ReadComponents
  readonly needsReview: boolean
}

/** Reads an edit; throws the 400 where it does not fit the rules. */
function readEdit(template: Template, edit: TemplateEdit, hasPublicForms: boolean): ReadEdit {
  for (const key of ['name', 'language'] as const) {
    if ((edit[key] ?? template[key]) !== template[key]) {
      throw badArgument(templateKeyFixed(key, { stored: template[key] }))
    }
  }
  const { components, category = template.category, parameter_format, message_send_ttl_seconds: life } = edit
  const needsReview = components !== undefined || edit.category !== undefined || parameter_format !== undefined
  if (!needsReview && life === undefined) throw templateEditEmpty()
  const format = readFormat(category, parameter_format ?? template.parameter_format)
  const isGiven = components !== undefined
  const kind = {
    category,
    parameter_format: format,
    needsHandle: isGiven,
    hasPublicForms: hasPublicForms || !isGiven,
  }
  const read = readComponents(components ?? template.components, kind)
  const isSameLife = life === template.message_send_ttl_seconds && category === template.category
  return {
    changes: {
      category,
      parameter_format: format,
      content: writeContent(template.name, read.components),
      message_send_ttl_seconds:
        // What a read showed can be sent back, also the 30 days that are sent as -1 with some categories.
        life === undefined || isSameLife
          ? keepLife(category, template.message_send_ttl_seconds)
          : readLife(category, life),
    },
    read,
    needsReview,
  }
}

/** Changes a template as the business asks; what is said to users is reviewed again. Nobody else changes it meanwhile. */
export async function editTemplate(
  tx: Transaction,
  giver: HeaderGiver,
  settings: Pick<Settings, 'templateReview' | 'maxTemplateEdits'>,
  template: Template,
  edit: TemplateEdit,
  hasPublicForms: boolean,
): Promise<void> {
  const { id, status } = template
  const { changes, read, needsReview } = readEdit(template, edit, hasPublicForms)
  checkEditable(status)
  if (!needsReview) {
    const { message_send_ttl_seconds } = changes
    await updateTemplate(tx, id, { message_send_ttl_seconds, last_updated_time: giver.clock.now() })
    return
  }
  await checkCategory(tx, template, changes.category)
  if (status === 'APPROVED') await countEdit(tx, giver, settings, id)
  const filed = await takeHeaderFiles(tx, giver, id, read, template)
  const previous_category = changes.category === template.category ? template.previous_category : template.category
  const edited = { ...changes, ...filed, previous_category }
  await updateTemplate(tx, id, edited)
  const changed = { ...template, ...edited }
  await moveTemplate(tx, giver.clock, changed, 'PENDING', null)
  if (settings.templateReview === 'auto') await approveAtOnce(tx, giver.clock, changed)
}

async function checkCategory(tx: Transaction, template: Template, category: Template['category']): Promise<void> {
  if (category === template.category) return
  if (template.status === 'APPROVED') throw approvedCategoryFixed()
  const languages = await listLanguages(tx, template.account_id, template.name)
  if (languages.length > 1) throw templateCategoryDiffers({ category: template.category })
}

/** An approved template is edited seldom; throws the 429. */
async function countEdit(
  tx: Transaction,
  giver: HeaderGiver,
  { maxTemplateEdits }: Pick<Settings, 'maxTemplateEdits'>,
  id: string,
): Promise<void> {
  const now = giver.clock.now()
  const countsSince = now - Math.max(...maxTemplateEdits.map(({ milliseconds }) => milliseconds))
  const edits = await listEdits(tx, id, countsSince)
  for (const { count, milliseconds } of maxTemplateEdits) {
    const earliest = edits[count - 1]
    const wait = earliest === undefined ? 0 : earliest + milliseconds - now
    if (wait <= 0) continue
    const seconds = Math.min(wait, milliseconds) / 1000
    throw templateEditLimitReached({ count, period: formatDuration(milliseconds), seconds })
  }
  await addEdit(tx, giver, id, countsSince)
}
