import type { OperatorLimits } from '../../../graph/context.ts'
import { isAboutMessage, listEventKinds } from '../../../stream/event-kinds.ts'
import type { FeedItem, FeedItemType } from '../../../stream/feed-item.ts'
import { type FeedFilter, fits } from './feed-items.ts'

/** What belongs to an event has its field, and the event itself its kinds. */
export const typesWithKind = ['event', 'message', 'call'] as const
export const typesWithMessage = ['event', 'message'] as const
export const typesWithField = [...typesWithKind, 'delivery', 'try'] as const

export function isOneOf(types: readonly FeedItemType[], type: FeedItemType): boolean {
  return types.includes(type)
}

interface Wanted {
  readonly type: FeedItemType
  readonly field: string | undefined
  readonly kind: string | undefined
  readonly messageId: string | undefined
  readonly since: number | undefined
}

/** The most items that a 408 lists of what came instead. */
const maxOthers = 20

/** Which item a wait is for, and what else of the same type and owner came. */
export class WaitFilter {
  readonly owner: FeedFilter
  readonly wanted: Wanted
  readonly #others = new Map<string, Pick<FeedItem, 'type' | 'business_id' | 'account_id' | 'phone_number_id'>>()

  constructor(owner: FeedFilter, wanted: Wanted) {
    this.owner = owner
    this.wanted = wanted
  }

  /** Whether it is the one; what only its field or kind is against is noted. */
  takes(item: FeedItem): boolean {
    const { field, kind, messageId, since } = this.wanted
    if (!fits(item, this.owner) || (since !== undefined && item.time < since)) return false
    if (messageId !== undefined && !isAboutMessage(item.data['value'], messageId)) return false
    if (field === undefined && kind === undefined) return true
    const itsField = String(item.data['field'])
    const kinds = listEventKinds(itsField, item.data['value'])
    if ((field === undefined || field === itsField) && (kind === undefined || kinds.includes(kind))) return true
    if (this.#others.size < maxOthers) this.#others.set([itsField, ...kinds].join(' '), item)
    return false
  }

  /** The fields and kinds that came instead, as far as an operator with these limits sees them. */
  listOthers(limits: OperatorLimits | undefined): string[] {
    const seen = [...this.#others].filter(([, item]) => fits(item as FeedItem, { ...this.owner, limits }))
    return seen.map(([name]) => name)
  }
}
