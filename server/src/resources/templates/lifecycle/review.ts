import type { Clock } from '../../../base/time/clock.ts'
import { minute, second } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import type { TimerHandler } from '../../../timers/worker.ts'
import { readComponents } from '../components/read-components.ts'
import { rejectionReasonNotTaken, rejectionReasonRequired, reviewCategoryNotPossible, reviewEmpty } from '../errors.ts'
import { keepLife } from '../rules.ts'
import { rejectionReasons } from '../schemas.ts'
import {
  findTemplateForGateway,
  listLanguages,
  lockTemplates,
  noteApproval,
  type Template,
  updateTemplate,
} from '../store.ts'
import { raiseCategoryEvent, raiseQualityEvent, raiseStatusEvent } from './events.ts'
import { checkReview, type TemplateStatus } from './states.ts'

export const reviewTimer = 'templates.review'

/** Approves what nobody has to look at, with what asks for it: the response says PENDING, and the very next request can send it. */
export async function approveAtOnce(tx: Transaction, clock: Clock, template: Template): Promise<void> {
  await moveTemplate(tx, clock, template, 'APPROVED', null)
}

/** Version 0.1.0 set a timer for the approval: one that it left in a store is still due. */
export function makeReviewHandler({ clock }: { readonly clock: Clock }): TimerHandler {
  return {
    async finish(tx, payload) {
      const { id } = payload as { id: string }
      const template = await lockTemplate(tx, id)
      if (template?.status === 'PENDING') await approveAtOnce(tx, clock, template)
    },
    retryDelay: (failures) => Math.min(failures * second, minute),
  }
}

/** The template as it is while nobody else changes it. */
async function lockTemplate(tx: Transaction, id: string): Promise<Template | undefined> {
  const found = await findTemplateForGateway(tx, id)
  if (!found) return undefined
  lockTemplates(tx, found.account_id)
  return findTemplateForGateway(tx, id)
}

/** Gives a template another status, and reports it; whether it may have that was checked. */
export async function moveTemplate(
  tx: Transaction,
  clock: Clock,
  template: Template,
  status: TemplateStatus,
  rejected_reason: string | null,
): Promise<void> {
  const changes = { status, rejected_reason, last_updated_time: clock.now() }
  await updateTemplate(tx, template.id, changes)
  if (status === 'APPROVED') await noteApproval(tx, template)
  await raiseStatusEvent(tx, clock, { ...template, ...changes }, status)
}

export interface Review {
  readonly status?: TemplateStatus | undefined
  readonly reason?: string | undefined
  readonly quality_score?: Template['quality_score'] | undefined
  readonly category?: Template['category'] | undefined
}

/** What is wrong with a review whatever the template is. */
export function checkReviewForm({ status, reason, quality_score, category }: Review): void {
  if (reason !== undefined && status !== 'REJECTED') throw rejectionReasonNotTaken()
  if (status === 'REJECTED' && reason === undefined) throw rejectionReasonRequired({ reasons: rejectionReasons })
  if (status === undefined && quality_score === undefined && category === undefined) throw reviewEmpty()
}

/**
 * Applies a review to a template. False: there is no such template, or it is of an account that is not seen.
 */
export async function reviewTemplate(
  tx: Transaction,
  clock: Clock,
  id: string,
  review: Review,
  sees: (account_id: string) => boolean,
): Promise<boolean> {
  const template = await lockTemplate(tx, id)
  if (!template || !sees(template.account_id)) return false
  const { status, reason, quality_score, category } = review
  const moves = status !== undefined && checkReview(template.status, status)
  if (category !== undefined) await changeCategory(tx, clock, template, category)
  if (quality_score !== undefined && quality_score !== template.quality_score) {
    const quality_time = clock.now()
    await updateTemplate(tx, id, { quality_score, quality_time, last_updated_time: quality_time })
    await raiseQualityEvent(tx, clock, template, quality_score)
  }
  if (moves) {
    const changed = { ...template, ...(category && { category }) }
    await moveTemplate(tx, clock, changed, status, reason ?? null)
  }
  return true
}

/** Templates of one name have one category, so that all its languages change together. */
async function changeCategory(
  tx: Transaction,
  clock: Clock,
  { account_id, name }: Template,
  category: Template['category'],
): Promise<void> {
  for (const template of await listLanguages(tx, account_id, name)) {
    if (template.category === category) continue
    checkFits(template, category)
    await updateTemplate(tx, template.id, {
      category,
      previous_category: template.category,
      message_send_ttl_seconds: keepLife(category, template.message_send_ttl_seconds),
      last_updated_time: clock.now(),
    })
    await raiseCategoryEvent(tx, clock, template, category)
  }
}

function checkFits({ components, parameter_format }: Template, category: Template['category']): void {
  try {
    readComponents(components, { category, parameter_format, needsHandle: false, hasPublicForms: true })
  } catch (error) {
    if (error instanceof GraphError) throw reviewCategoryNotPossible({ category })
    throw error
  }
}
