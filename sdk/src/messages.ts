import type { Call } from './core/call.ts'
import type { RequestOptions } from './core/request.ts'
import { MessagesMethods, type MessagesSendParams, type MessagesSendResponse } from './generated/messages.ts'
import type { OutboundMessage, ReadMark } from './generated/types.ts'

/** The response to a message that was sent. */
export type SentMessage = Extract<MessagesSendResponse, { messages: unknown }>

/** `client.messages`: the type of the response follows from what is sent. */
export class Messages extends MessagesMethods {
  /**
   * Sends a message to a user or a group.
   *
   * @example
   * const { messages } = await client.messages.send('4000000000000001', {
   *   to: '16505551234',
   *   type: 'text',
   *   text: { body: 'Your order is ready.' },
   * })
   */
  override send(phoneNumberId: string, params: OutboundMessage, options?: RequestOptions): Call<SentMessage>
  /**
   * Marks a message that came in as read; `markAsRead` does the same.
   *
   * @example
   * await client.messages.send('4000000000000001', { status: 'read', message_id: 'wamid.…' })
   */
  override send(phoneNumberId: string, params: ReadMark, options?: RequestOptions): Call<{ success: boolean }>
  override send(phoneNumberId: string, params: MessagesSendParams, options?: RequestOptions): Call<MessagesSendResponse>
  override send(phoneNumberId: string, params: MessagesSendParams, options?: RequestOptions): Call<never> {
    return super.send(phoneNumberId, params, options) as Call<never>
  }

  /**
   * Marks a message that came in, and those before it, as read.
   *
   * @example
   * await client.messages.markAsRead('4000000000000001', 'wamid.…', { typing_indicator: { type: 'text' } })
   */
  markAsRead(
    phoneNumberId: string,
    messageId: string,
    params: Pick<ReadMark, 'typing_indicator'> = {},
    options?: RequestOptions,
  ): Call<{ success: boolean }> {
    return this.send(phoneNumberId, { ...params, status: 'read', message_id: messageId }, options)
  }
}
