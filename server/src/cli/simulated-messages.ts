import type { Vocabulary } from '../graph/vocabulary.ts'
import type { MessageKind } from '../resources/webhooks/message-kinds.ts'

/** What a message of each kind is made of besides the common members. */
export interface MessageParts {
  readonly text: string
  readonly from: string
  /** An id that is nobody's, drawn for this message. */
  readonly drawn: string
}

const digest = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='

export const simulatedKinds: Readonly<Record<MessageKind, (parts: MessageParts) => object>> = {
  text: ({ text }) => ({ text: { body: text } }),
  image: ({ text, drawn }) => ({ image: { ...file('image/jpeg', drawn), caption: text } }),
  video: ({ text, drawn }) => ({ video: { ...file('video/mp4', drawn), caption: text } }),
  audio: ({ drawn }) => ({ audio: { ...file('audio/ogg; codecs=opus', drawn), voice: true } }),
  document: ({ text, drawn }) => ({ document: { ...file('application/pdf', drawn), filename: `${text}.pdf` } }),
  sticker: ({ drawn }) => ({ sticker: { ...file('image/webp', drawn), animated: false } }),
  location: ({ text }) => ({
    location: { address: '1 Garden Lane, Springfield', latitude: 40.7128, longitude: -74.006, name: text },
  }),
  contacts: ({ text, from }) => ({
    contacts: [
      {
        name: { formatted_name: text, first_name: text },
        phones: [{ phone: `+${from}`, wa_id: from, type: 'CELL' }],
      },
    ],
  }),
  button: ({ text, ...parts }) => ({ context: answered(parts), button: { payload: text, text } }),
  interactive: ({ text, ...parts }) => ({
    context: answered(parts),
    interactive: { type: 'button_reply', button_reply: { id: 'choice-1', title: text } },
  }),
  reaction: ({ text, drawn }) => ({ reaction: { message_id: `wamid.${drawn}answered`, emoji: text } }),
  order: ({ text }) => ({
    order: {
      catalog_id: '1234567890',
      text,
      product_items: [{ product_retailer_id: 'fern-small', quantity: 2, item_price: 7.5, currency: 'USD' }],
    },
  }),
  system: ({ text, from }) => ({ system: { body: text, type: 'user_changed_number', wa_id: from } }),
  unsupported: notUnderstood,
  unknown: notUnderstood,
}

/** What the network's edge knows of a number. */
export interface NumberOfGateway {
  readonly id: string
  readonly account_id: string
  readonly display_phone_number: string
}

export interface SimulatedMessage extends MessageParts {
  readonly id: string
  readonly type: MessageKind
  readonly name: string
  readonly time: number
}

export function isSimulatedKind(type: string): type is MessageKind {
  return Object.hasOwn(simulatedKinds, type)
}

/** What the network's edge hands in when a user has written. */
export function buildEnvelope(
  words: Vocabulary,
  { id: phone_number_id, account_id, display_phone_number }: NumberOfGateway,
  { id, type, from, name, text, drawn, time }: SimulatedMessage,
): object {
  const timestamp = String(Math.floor(time / 1000))
  const value = {
    messaging_product: words.product,
    metadata: { display_phone_number, phone_number_id },
    contacts: [{ profile: { name }, wa_id: from }],
    messages: [{ from, id, timestamp, type, ...simulatedKinds[type]({ text, from, drawn }) }],
  }
  return { object: words.account_object, entry: [{ id: account_id, changes: [{ field: 'messages', value }] }] }
}

function file(mime_type: string, drawn: string) {
  return { mime_type, sha256: digest, id: drawn }
}

function answered({ from, drawn }: Pick<MessageParts, 'from' | 'drawn'>) {
  return { from, id: `wamid.${drawn}answered` }
}

function notUnderstood({ from, drawn }: MessageParts): object {
  const title = 'Message type is not supported'
  return { context: answered({ from, drawn }), errors: [{ code: 131051, title, message: title }] }
}
