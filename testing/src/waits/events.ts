import type {
  CallEvent,
  CallStatus,
  InboundMessage,
  MessageStatus,
  WebhookEvent,
  WebhookValues,
} from '@switchboard/client'

export type EventField = WebhookEvent['field']

type Message = InboundMessage['type']
type Status = MessageStatus['status']

/** What kinds of events a field has. */
export type KindOf<Field extends EventField> = Field extends 'messages'
  ? Message | Status
  : Field extends 'calls'
    ? CallEvent['event'] | CallStatus['status']
    : string

/** An event of a field; where its kind is known, with what that kind holds. The server sends one message or status in each event. */
export type EventOf<Field extends EventField, Kind> = Extract<WebhookEvent, { field: Field }> &
  ([KindOf<Field>] extends [Kind] ? unknown : { value: ValueOf<Field, Kind> })

type ValueOf<Field extends EventField, Kind> = Field extends 'messages'
  ? Kind extends Message
    ? With<Field, 'messages', Extract<InboundMessage, { type: Kind }>>
    : With<Field, 'statuses', MessageStatus & { status: Kind }>
  : Field extends 'calls'
    ? Kind extends CallEvent['event']
      ? With<Field, 'calls', Extract<CallEvent, { event: Kind }>>
      : With<Field, 'statuses', CallStatus & { status: Kind }>
    : unknown

type With<Field extends EventField, Name extends string, Item> = Omit<WebhookValues[Field], Name> & {
  [Member in Name]: [Item]
}
