import type { GatewayMessagesRetrieveResponse, GatewayMessagesWriteParams, Vocabulary } from '@switchboard/client'

/** A message as a user's phone shows it. */
export type PhoneMessage<V extends Vocabulary = 'msgapp'> = GatewayMessagesRetrieveResponse<V>

/** The members of a message as the gateway takes them; the phone adds who writes to whom. */
export type WrittenMessage = OfEach<GatewayMessagesWriteParams>
type OfEach<Message> = Message extends unknown ? Omit<Message, 'from' | 'phone_number_id' | 'group_id'> : never

export type MessageType = PhoneMessage['type']

/** A message of one type, with the member of that name. */
export type PhoneMessageOf<
  Type extends MessageType,
  V extends Vocabulary = 'msgapp',
> = Type extends keyof PhoneMessage<V>
  ? PhoneMessage<V> & { type: Type } & Required<Pick<PhoneMessage<V>, Type>>
  : PhoneMessage<V> & { type: Type }

/** What a user writes: a text, or the members of a message. */
export type Written = string | WrittenMessage
