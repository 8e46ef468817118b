import type { Chapter, InboundAdmission, TimerDeps } from './chapter.ts'
import type { NodeKindInfo } from './graph/nodes.ts'
import type { Row } from './graph/operation.ts'
import type { Vocabulary } from './graph/vocabulary.ts'
import { accountChapter } from './resources/account/operations.ts'
import { auditChapter } from './resources/audit/operations.ts'
import { botChapter } from './resources/bot/operations.ts'
import { callsChapter } from './resources/calls/operations.ts'
import { complianceChapter } from './resources/compliance/operations.ts'
import { consoleChapter } from './resources/console/operations.ts'
import { encryptionChapter } from './resources/encryption/operations.ts'
import { groupsChapter } from './resources/groups/operations.ts'
import { mediaChapter } from './resources/media/operations.ts'
import { messagesChapter } from './resources/messages/operations.ts'
import { onbehalfChapter } from './resources/onbehalf/operations.ts'
import { operatorsChapter } from './resources/operators/operations.ts'
import { phoneNumbersChapter } from './resources/phone-numbers/operations.ts'
import { portfolioChapter } from './resources/portfolio/operations.ts'
import { profileChapter } from './resources/profile/operations.ts'
import { qrCodesChapter } from './resources/qr-codes/operations.ts'
import { sandboxChapter } from './resources/sandbox/operations.ts'
import { schedulesChapter } from './resources/schedules/operations.ts'
import { serviceChapter } from './resources/service/operations.ts'
import { signUpChapter } from './resources/sign-up/operations.ts'
import { solutionsChapter } from './resources/solutions/operations.ts'
import { templatesChapter } from './resources/templates/operations.ts'
import { tokensChapter } from './resources/tokens/operations.ts'
import { uploadsChapter } from './resources/uploads/operations.ts'
import { usersChapter } from './resources/users/operations.ts'
import { webhooksChapter } from './resources/webhooks/operations.ts'
import type { TimerHandlers } from './timers/worker.ts'

/** Every chapter: messages first, which integrators use most, then in the specification's order. */
export const chapters: readonly Chapter[] = [
  messagesChapter,
  usersChapter,
  templatesChapter,
  callsChapter,
  profileChapter,
  uploadsChapter,
  accountChapter,
  encryptionChapter,
  groupsChapter,
  phoneNumbersChapter,
  mediaChapter,
  botChapter,
  schedulesChapter,
  qrCodesChapter,
  solutionsChapter,
  complianceChapter,
  portfolioChapter,
  onbehalfChapter,
  signUpChapter,
  tokensChapter,
  webhooksChapter,
  auditChapter,
  operatorsChapter,
  consoleChapter,
  serviceChapter,
  sandboxChapter,
]

/** Every kind of node. */
export const nodeKinds: Readonly<Record<string, NodeKindInfo>> = Object.assign(
  {},
  ...chapters.map(({ nodes }) => nodes),
)

/** THE TABLE: every row of every door, chapter by chapter, in the names of one vocabulary. Without a sandbox its rows are left out. */
export function buildOperations(vocabulary: Vocabulary, { sandbox = true } = {}): Row[] {
  const served = chapters.filter(({ onlyInSandbox }) => sandbox || !onlyInSandbox)
  return served.flatMap(({ name, rows }) => rows(vocabulary).map((row) => ({ ...row, chapter: name })))
}

/** How the one chapter that takes events proves who hands them in. */
export function findInboundAdmission(): InboundAdmission {
  const found = chapters.find(({ inbound }) => inbound)?.inbound
  if (!found) throw new Error('no chapter takes events: one must have `inbound`')
  return found
}

/** The timer handlers of all chapters. */
export function gatherTimers(deps: TimerDeps): TimerHandlers {
  return Object.assign({}, ...chapters.map(({ timers }) => timers?.(deps)))
}
