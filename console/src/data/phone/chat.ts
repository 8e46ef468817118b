import type { GatewayChatsListItem } from '@switchboard/client/methods'
import type { Message } from '../messages.ts'

/** A chat in the list of a phone. */
export interface Chat extends Omit<GatewayChatsListItem, 'last_message'> {
  /** The last one that has arrived on the phone. */
  readonly last_message?: Message
}

/** What a user writes: the type of a message and the member of that name, as on the wire. */
export type WrittenContent = { readonly type: string } & Readonly<Record<string, unknown>>
