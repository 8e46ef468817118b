import type { GatewayFile, GatewayMessage, SharedContact } from '@switchboard/client/methods'
import {
  type FileType,
  type Header,
  isFileType,
  type Place,
  type Question,
  type Reply,
  readHeader,
  readPlace,
  readQuestion,
  readReply,
} from './message-parts.ts'

/** What a message holds, by its type. Whoever shows it needs no other member of the wire. */
export type MessageContent =
  | { readonly type: 'text'; readonly body: string; readonly hasPreview: boolean }
  | { readonly type: FileType; readonly file: GatewayFile }
  | { readonly type: 'location'; readonly place: Place }
  | { readonly type: 'contacts'; readonly contacts: readonly SharedContact[] }
  /** Without an emoji a reaction is removed. */
  | { readonly type: 'reaction'; readonly message_id: string; readonly emoji: string | undefined }
  | { readonly type: 'template'; readonly name: string | undefined; readonly rendered: Rendered }
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'reply'; readonly reply: Reply }
  /** The button of a template that a user pressed. */
  | { readonly type: 'button'; readonly text: string; readonly payload: string }
  | { readonly type: 'order'; readonly text: string; readonly products: number }
  | { readonly type: 'system'; readonly body: string }
  /** The content is no longer kept. */
  | { readonly type: 'removed' }
  | { readonly type: 'unsupported' }

/** A template, filled in. */
interface Rendered {
  readonly header: Header | undefined
  readonly body: string
  readonly footer: string | undefined
  readonly buttons: readonly RenderedButton[]
  readonly cards: readonly RenderedCard[]
  readonly offer: RenderedOffer | undefined
}

/** A card of a template. */
interface RenderedCard {
  readonly header: Header | undefined
  readonly body: string | undefined
  readonly buttons: readonly RenderedButton[]
}

/** What is offered for a while; without an end it does not end. */
export interface RenderedOffer {
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly end: number | undefined
}

/** What the service returns besides, where templates have it. */
interface WireExtras {
  readonly cards?: readonly (Pick<NonNullable<GatewayMessage['rendered']>, 'header' | 'buttons'> & {
    readonly body?: string
  })[]
  readonly limited_time_offer?: { readonly text: string; readonly expiration_time_ms?: number }
}

type RenderedButton = NonNullable<GatewayMessage['rendered']>['buttons'][number]

/** A message of either direction. */
export interface Message {
  readonly id: string
  readonly direction: GatewayMessage['direction']
  readonly phone_number_id: string
  readonly user_wa_id: string | undefined
  readonly group_id: string | undefined
  readonly from: string
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
  /** The type on the wire, also of a content that is no longer kept. */
  readonly type: GatewayMessage['type']
  readonly content: MessageContent
  /** The message that this one replies to. */
  readonly replied_id: string | undefined
  readonly state: GatewayMessage['state']
  readonly states: GatewayMessage['states']
  readonly errors: NonNullable<GatewayMessage['errors']>
}

/** Reads a message as a list, a response or the stream of phones has it. */
export function readMessage(message: GatewayMessage): Message {
  const { id, direction, phone_number_id, user_wa_id, group_id, from, timestamp, type, state, states } = message
  return {
    ...{ id, direction, phone_number_id, user_wa_id, group_id, from, type, state, states },
    timestamp: Number(timestamp),
    content: readContent(message),
    replied_id: message.context?.id,
    errors: message.errors ?? [],
  }
}

/** A message whose member is missing is shown as one of a type that is not supported, and breaks no page. */
function readContent(message: GatewayMessage): MessageContent {
  if (message.content_removed) return { type: 'removed' }
  const { type, text, location, contacts, reaction, interactive, button, order, system, rendered } = message
  if (isFileType(type) && message[type]) return { type, file: message[type] }
  if (type === 'text' && text) return { type, body: text.body, hasPreview: text.preview_url === true }
  if (type === 'location' && location) return { type, place: readPlace(location) }
  if (type === 'contacts' && contacts) return { type, contacts }
  if (type === 'reaction' && reaction) {
    return { type, message_id: reaction.message_id, emoji: reaction.emoji || undefined }
  }
  if (type === 'template' && rendered) return { type, name: message.template?.name, rendered: readRendered(rendered) }
  if (type === 'interactive' && interactive) {
    return message.direction === 'to_user'
      ? { type: 'question', question: readQuestion(interactive) }
      : { type: 'reply', reply: readReply(interactive) }
  }
  if (type === 'button' && button) return { type, ...button }
  if (type === 'order' && order) return { type, text: order.text, products: order.product_items.length }
  if (type === 'system' && system) return { type, body: system.body }
  return { type: 'unsupported' }
}

function readRendered(rendered: NonNullable<GatewayMessage['rendered']> & WireExtras): Rendered {
  const { header, body, footer, buttons, cards = [], limited_time_offer: offer } = rendered
  return {
    header: readHeader(header),
    body,
    footer,
    buttons,
    cards: cards.map((card) => ({ header: readHeader(card.header), body: card.body, buttons: card.buttons })),
    offer: offer && { text: offer.text, end: offer.expiration_time_ms },
  }
}
