import type { Transaction } from '../../../db/database.ts'
import { createNode, type Node } from '../../../graph/nodes.ts'
import type { Settings } from '../../../graph/settings.ts'
import { findAccount } from '../../account/store.ts'
import { readComponents } from '../components/read-components.ts'
import {
  libraryTemplatesNotOffered,
  templateCategoryDiffers,
  templateExists,
  templateNameRests,
  tooManyTemplates,
} from '../errors.ts'
import { takeComponents } from '../library/take.ts'
import { readFormat, readLife, writeContent } from '../rules.ts'
import type { NewTemplate } from '../schemas.ts'
import {
  countNames,
  findRestingName,
  forgetRestedNames,
  insertTemplate,
  listLanguages,
  lockTemplates,
  type Template,
} from '../store.ts'
import { type HeaderGiver, takeHeaderFiles } from './header-file.ts'
import { approveAtOnce } from './review.ts'

export type CreationSettings = Pick<
  Settings,
  'templateReview' | 'maxTemplates' | 'maxTemplatesVerified' | 'templateNameRest'
>

/** Creates a template. What it returns waits for its review, as the response says, also where the review is over already. */
export async function createTemplate(
  tx: Transaction,
  giver: HeaderGiver,
  settings: CreationSettings,
  account: Node,
  given: NewTemplate,
  hasPublicForms: boolean,
): Promise<Template> {
  const { name, language, category } = given
  if (given.library_template_name !== undefined && !hasPublicForms) throw libraryTemplatesNotOffered()
  const parameter_format = readFormat(category, given.parameter_format)
  const kind = { category, parameter_format, needsHandle: true, hasPublicForms }
  const read = readComponents(takeComponents(given), kind)
  const message_send_ttl_seconds = readLife(category, given.message_send_ttl_seconds)

  lockTemplates(tx, account.id)
  const now = giver.clock.now()
  await checkName(tx, settings, account, given, now)
  const id = await createNode(tx, giver.random, 'template', account)
  const filed = await takeHeaderFiles(tx, giver, id, read)
  const template: Template = {
    ...{ id, account_id: account.id, name, language, category, previous_category: null, status: 'PENDING' },
    ...{ rejected_reason: null, parameter_format, ...filed, content: writeContent(name, filed.components) },
    ...{ message_send_ttl_seconds, quality_score: 'UNKNOWN', quality_time: now },
    ...{ created_time: now, last_updated_time: now },
  }
  await insertTemplate(tx, template)
  if (settings.templateReview === 'auto') await approveAtOnce(tx, giver.clock, template)
  return template
}

/** What stands against a template of that name; throws the 422. */
async function checkName(
  tx: Transaction,
  settings: CreationSettings,
  account: Node,
  { name, language, category }: NewTemplate,
  now: number,
): Promise<void> {
  const languages = await listLanguages(tx, account.id, name)
  if (languages.some((template) => template.language === language)) throw templateExists()
  const [other] = languages
  if (other && other.category !== category) throw templateCategoryDiffers({ category: other.category })
  if (other) return
  await forgetRestedNames(tx, account.id, now - settings.templateNameRest)
  const deleted_time = await findRestingName(tx, account.id, name)
  if (deleted_time !== undefined) {
    throw templateNameRests({ until: new Date(deleted_time + settings.templateNameRest).toISOString() })
  }
  const max = maxNames(await findAccount(tx, account), settings)
  if ((await countNames(tx, account.id)) >= max) throw tooManyTemplates({ max })
}

/** How many names of templates an account may have. */
export function maxNames(
  { business_verification_status }: { readonly business_verification_status: string | null },
  { maxTemplates, maxTemplatesVerified }: Pick<Settings, 'maxTemplates' | 'maxTemplatesVerified'>,
): number {
  return business_verification_status === 'VERIFIED' ? maxTemplatesVerified : maxTemplates
}
