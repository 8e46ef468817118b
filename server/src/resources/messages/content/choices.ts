import type { Interactive } from './interactive.ts'

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
  | {
      readonly kind: 'template'
      /** Its quick replies. */
      readonly options: readonly { readonly index: number; readonly payload: string; readonly text: string }[]
      /** The places of its buttons that open a flow, or a catalog. */
      readonly flows: readonly number[]
      readonly orders: readonly number[]
    }

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
    case 'cta_url':
      return null
  }
}
