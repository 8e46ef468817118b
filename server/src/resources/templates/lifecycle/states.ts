import type { MessageTemplatesTable } from '../../../db/tables.ts'
import { templateMoveNotPossible, templateNotEditable } from '../errors.ts'

export type TemplateStatus = MessageTemplatesTable['status']

/** Who can change the status: whoever reviews templates, and the business by an edit. */
const templateSides = ['review', 'business'] as const
type TemplateSide = (typeof templateSides)[number]

interface Move {
  readonly by: TemplateSide
  readonly from: readonly TemplateStatus[]
  readonly to: TemplateStatus
  readonly why: string
}

/** THE TABLE: what can become of a template, by whom, and why. What is not here cannot be done; DISABLED is final. */
export const templateMoves: readonly Move[] = [
  { by: 'review', from: ['PENDING'], to: 'APPROVED', why: 'it keeps the rules' },
  { by: 'review', from: ['PENDING'], to: 'REJECTED', why: 'it breaks one; the reason says which' },
  { by: 'review', from: ['APPROVED'], to: 'PAUSED', why: 'users complain of it' },
  { by: 'review', from: ['PAUSED'], to: 'APPROVED', why: 'the pause is over' },
  { by: 'review', from: ['APPROVED', 'PAUSED'], to: 'DISABLED', why: 'users went on complaining' },
  { by: 'business', from: ['APPROVED', 'PAUSED', 'REJECTED'], to: 'PENDING', why: 'it says something else now' },
]

/** Whether the review changes anything; throws the 422 where it cannot. */
export function checkReview(status: TemplateStatus, to: TemplateStatus): boolean {
  if (status === to) return false
  const possible = templateMoves.filter(({ by, from }) => by === 'review' && from.includes(status))
  if (possible.some((move) => move.to === to)) return true
  throw templateMoveNotPossible({ status, to, possible: possible.map((move) => move.to).join(', ') || 'nothing' })
}

/** Throws the 422 where a template cannot be edited. */
export function checkEditable(status: TemplateStatus): void {
  const possible = templateMoves.filter(({ by }) => by === 'business').flatMap(({ from }) => from)
  if (!possible.includes(status)) throw templateNotEditable({ status, possible: possible.join(' or ') })
}
