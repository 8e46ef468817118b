import { minute } from '../../../base/time/duration.ts'
import type { AddressCountry } from './address.ts'
import type { Interactive } from './interactive.ts'
import { type AddressAction, type CallAction, type Carousel, quickRepliesOf } from './public-interactive.ts'

/** What the phone of a user can answer an interactive message with; kept with its ids, because its content goes earlier. */
export type Choices =
  | { readonly kind: 'button_reply'; readonly options: readonly { readonly id: string; readonly title: string }[] }
  | {
      readonly kind: 'list_reply'
      readonly options: readonly { readonly id: string; readonly title: string; readonly description: string }[]
    }
  | { readonly kind: 'location' }
  | { readonly kind: 'call_permission' }
  | { readonly kind: 'order'; readonly catalog_id: string }
  | { readonly kind: 'flow' }
  /** Of saved addresses the ids alone: the addresses go with the content. */
  | { readonly kind: 'address'; readonly country: AddressCountry; readonly saved: readonly string[] }
  | { readonly kind: 'contact' }
  /** A call instead of an answer. */
  | ({ readonly kind: 'call' } & CallButton)
  | {
      readonly kind: 'template'
      /** Its quick replies; `card` is the place of the card that one is on. */
      readonly options: readonly {
        readonly index: number
        readonly payload: string
        readonly text: string
        readonly card?: number
      }[]
      /** The places of its buttons that open a flow, or a catalog. */
      readonly flows: readonly number[]
      readonly orders: readonly number[]
      readonly call?: CallButton
    }

/** A button that calls: it works for so long after the message was sent, in milliseconds. */
export interface CallButton {
  readonly lifetime: number
  readonly payload?: string
}

const defaultTtlMinutes = 10_080

interface Row {
  readonly id: string
  readonly title: string
  readonly description?: string
}

export function choicesOf({ type, action }: Interactive): Choices | null {
  switch (type) {
    case 'button': {
      const { buttons } = action as { buttons: { reply: { id: string; title: string } }[] }
      return { kind: 'button_reply', options: buttons.map(({ reply: { id, title } }) => ({ id, title })) }
    }
    case 'list': {
      const { sections } = action as { sections: { rows: Row[] }[] }
      const rows = sections.flatMap((section) => section.rows)
      const options = rows.map(({ id, title, description = '' }) => ({ id, title, description }))
      return { kind: 'list_reply', options }
    }
    case 'location_request_message':
      return { kind: 'location' }
    case 'call_permission_request':
      return { kind: 'call_permission' }
    case 'product':
    case 'product_list':
      return { kind: 'order', catalog_id: (action as { catalog_id: string }).catalog_id }
    case 'catalog_message':
      return { kind: 'order', catalog_id: '' }
    case 'flow':
      return { kind: 'flow' }
    case 'carousel': {
      const options = (action as Carousel).cards.flatMap((card) => quickRepliesOf(card.action))
      return options.length > 0 ? { kind: 'button_reply', options } : null
    }
    case 'address_message': {
      const { country, saved_addresses = [] } = (action as AddressAction).parameters
      return { kind: 'address', country, saved: saved_addresses.map(({ id }) => id) }
    }
    case 'request_contact_info':
      return { kind: 'contact' }
    case 'voice_call': {
      const { ttl_minutes = defaultTtlMinutes, payload } = (action as CallAction).parameters ?? {}
      return { kind: 'call', lifetime: ttl_minutes * minute, ...(payload !== undefined && { payload }) }
    }
    case 'cta_url':
      return null
  }
}
