import type {
  CallEvent,
  CallStatus,
  InboundMessage,
  MessageStatus,
  Vocabulary,
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
export type EventOf<Field extends EventField, Kind, V extends Vocabulary = 'msgapp'> = Extract<
  WebhookEvent<V>,
  { field: Field }
> &
  ([KindOf<Field>] extends [Kind] ? unknown : { value: ValueOf<Field, Kind, V> })

type ValueOf<Field extends EventField, Kind, V extends Vocabulary> = Field extends 'messages'
  ? Kind extends Message
    ? With<V, Field, 'messages', Extract<InboundMessage<V>, { type: Kind }>>
    : With<V, Field, 'statuses', MessageStatus<V> & { status: Kind }>
  : Field extends 'calls'
    ? Kind extends CallEvent['event']
      ? With<V, Field, 'calls', Extract<CallEvent<V>, { event: Kind }>>
      : With<V, Field, 'statuses', CallStatus & { status: Kind }>
    : unknown

type With<V extends Vocabulary, Field extends EventField, Name extends string, Item> = Omit<
  WebhookValues<V>[Field],
  Name
> & {
  [Member in Name]: [Item]
}
