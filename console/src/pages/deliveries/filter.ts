import type { ItemOf } from '../../data/feed-items.ts'

export const states = ['waiting', 'failing', 'delivered', 'failed', 'withdrawn'] as const
type DeliveryState = (typeof states)[number]

/** Which webhooks are listed, as the service takes it. */
export interface DeliveryFilter {
  readonly state?: DeliveryState
  readonly app_id?: string
  readonly phone_number_id?: string
  readonly field?: string
  readonly user_wa_id?: string
  readonly trace?: string
  readonly since?: string
  readonly until?: string
}

/** What an address says about the list; what cannot be read is left out. */
export function readFilter(query: URLSearchParams, range: Pick<DeliveryFilter, 'since' | 'until'>): DeliveryFilter {
  const state = states.find((one) => one === query.get('state'))
  const text = (name: string) => query.get(name) || undefined
  const given = {
    app_id: text('app'),
    phone_number_id: text('number'),
    field: text('field'),
    user_wa_id: digitsOf(query.get('user') ?? '') || undefined,
    trace: text('trace'),
  }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), ...(state && { state }), ...range }
}

/** A number of a user as the service takes it: its digits. */
function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '').slice(0, 20)
}

/** Whether a new webhook belongs to a filtered list; checks only the filters that its feed item has values for. */
export function fitsFilter({ data, phone_number_id, trace }: ItemOf<'delivery'>, filter: DeliveryFilter): boolean {
  const { state } = filter
  // It may be attempted and fail before the next one is read; what it is then says the list itself.
  const isState = state === undefined || state === data.state || (state === 'failing' && data.state === 'waiting')
  return (
    isState &&
    filter.until === undefined &&
    isSame(filter.app_id, data.app_id) &&
    isSame(filter.phone_number_id, phone_number_id) &&
    isSame(filter.field, data.field) &&
    isSame(filter.trace, trace) &&
    (filter.user_wa_id === undefined || data.subject?.includes(filter.user_wa_id) === true)
  )
}

function isSame(wanted: string | undefined, value: string | null): boolean {
  return wanted === undefined || wanted === value
}

/** Where a text that somebody looks for leads: the id of a webhook to its page, anything else to the search. */
export function findAddress(text: string): string | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  return /^\d{1,15}$/.test(wanted) ? `/deliveries/${wanted}` : `/search?q=${encodeURIComponent(wanted)}`
}

/** The user of a conversation: `4000000000000001/16505551234`; undefined for those of calls, groups and accounts. */
export function userOf(conversation: string): string | undefined {
  return /^\d+\/(\d{5,20})$/.exec(conversation)?.[1]
}
