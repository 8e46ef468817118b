import type { Vocabulary } from '../../graph/vocabulary.ts'
import type { MessageKind } from '../../resources/webhooks/inbound/message-kinds.ts'

/** What each kind of message has besides the common members. */
export interface MessageParts {
  /** Undefined: the default text of the kind. */
  readonly text: string | undefined
  readonly from: string
  /** The message of the business that the user replies or reacts to. */
  readonly answered: AnsweredMessage
  /** The payload that the business gave the button that the user presses. */
  readonly payload: string | undefined
  readonly file: SentFile
}

interface AnsweredMessage {
  /** The business's number. */
  readonly from: string
  readonly id: string
}

/** A file that was uploaded for a message. */
export interface SentFile {
  readonly id: string
  readonly mime_type: string
  readonly sha256: string
  readonly filename: string
  readonly animated: boolean
}

const greeting = 'Hi'
const buttonTitle = 'Yes'

export const simulatedKinds: Readonly<Record<MessageKind, (parts: MessageParts) => object>> = {
  text: ({ text = greeting }) => ({ text: { body: text } }),
  image: ({ text, file }) => ({ image: { ...describeFile(file), ...(text !== undefined && { caption: text }) } }),
  video: ({ text, file }) => ({ video: { ...describeFile(file), ...(text !== undefined && { caption: text }) } }),
  // Phones record speech as Ogg.
  audio: ({ file }) => ({ audio: { ...describeFile(file), voice: file.mime_type === 'audio/ogg' } }),
  document: ({ text, file }) => ({
    document: { ...describeFile(file), filename: file.filename, ...(text !== undefined && { caption: text }) },
  }),
  sticker: ({ file }) => ({ sticker: { ...describeFile(file), animated: file.animated } }),
  location: ({ text = 'Our place' }) => ({
    location: { address: '1 Garden Lane, Springfield', latitude: 40.7128, longitude: -74.006, name: text },
  }),
  contacts: ({ text = 'Ada', from }) => ({
    contacts: [
      {
        name: { formatted_name: text, first_name: text },
        phones: [{ phone: `+${from}`, wa_id: from, type: 'CELL' }],
      },
    ],
  }),
  button: ({ text = buttonTitle, payload = text, answered }) => ({
    context: answered,
    button: { payload, text },
  }),
  interactive: ({ text = buttonTitle, payload = 'choice-1', answered }) => ({
    context: answered,
    interactive: { type: 'button_reply', button_reply: { id: payload, title: text } },
  }),
  reaction: ({ text = '👍', answered }) => ({ reaction: { message_id: answered.id, emoji: text } }),
  order: ({ text = '' }) => ({
    order: {
      catalog_id: '1234567890',
      text,
      product_items: [{ product_retailer_id: 'fern-small', quantity: 2, item_price: 7.5, currency: 'USD' }],
    },
  }),
  system: ({ text = greeting, from }) => ({ system: { body: text, type: 'user_changed_number', wa_id: from } }),
  unsupported: notUnderstood,
  unknown: notUnderstood,
}

/** Kinds of message that carry a file. */
const fileKinds = ['image', 'video', 'audio', 'document', 'sticker'] as const satisfies readonly MessageKind[]
export type FileKind = (typeof fileKinds)[number]

export function isFileKind(type: MessageKind | undefined): type is FileKind {
  return (fileKinds as readonly unknown[]).includes(type)
}

/** Kinds of message that pressing a button of the business sends. */
export const kindsWithPayload: readonly MessageKind[] = ['button', 'interactive']

/** What the gateway knows of a number. */
export interface NumberOfGateway {
  readonly id: string
  readonly account_id: string
  readonly display_phone_number: string
  /** Older servers omit it. */
  readonly messaging_product?: string
}

export interface SimulatedMessage extends MessageParts {
  /** Left out: the service makes one. */
  readonly id?: string
  readonly type: MessageKind
  readonly name: string
  readonly time: number
  /** Whether it is a reply, of whatever kind. */
  readonly isReply: boolean
}

export function isSimulatedKind(type: string): type is MessageKind {
  return Object.hasOwn(simulatedKinds, type)
}

/** A message of a user, as in events and at the gateway. */
export function buildMessage(message: Omit<SimulatedMessage, 'name'>) {
  const { id, type, from, time, isReply, answered } = message
  const timestamp = String(Math.floor(time / 1000))
  const context = isReply && type !== 'reaction' ? { context: answered } : {}
  return { from, ...(id !== undefined && { id }), timestamp, type, ...context, ...simulatedKinds[type](message) }
}

/** The inbound event for a message of a user. */
export function buildEnvelope(
  vocabulary: Vocabulary,
  { id: phone_number_id, account_id, display_phone_number }: NumberOfGateway,
  message: SimulatedMessage,
): object {
  const { from, name } = message
  const value = {
    messaging_product: vocabulary.product,
    metadata: { display_phone_number, phone_number_id },
    contacts: [{ profile: { name }, wa_id: from }],
    messages: [buildMessage(message)],
  }
  return { object: vocabulary.account_object, entry: [{ id: account_id, changes: [{ field: 'messages', value }] }] }
}

function describeFile({ mime_type, sha256, id }: SentFile) {
  return { mime_type, sha256, id }
}

function notUnderstood({ answered }: MessageParts): object {
  const title = 'Message type is not supported'
  return { context: answered, errors: [{ code: 131051, title, message: title }] }
}
