import type { GatewayMessagesRetrieveResponse, GatewayMessagesWriteParams } from '@switchboard/client'

/** A message as a user's phone shows it. */
export type PhoneMessage = GatewayMessagesRetrieveResponse

/** The members of a message as the gateway takes them; the phone adds who writes to whom. */
export type WrittenMessage = OfEach<GatewayMessagesWriteParams>
type OfEach<Message> = Message extends unknown ? Omit<Message, 'from' | 'phone_number_id' | 'group_id'> : never

export type MessageType = PhoneMessage['type']

/** A message of one type, with the member of that name. */
export type PhoneMessageOf<Type extends MessageType> = Type extends keyof PhoneMessage
  ? PhoneMessage & { type: Type } & Required<Pick<PhoneMessage, Type>>
  : PhoneMessage & { type: Type }

/** What a user writes: a text, or the members of a message. */
export type Written = string | WrittenMessage
