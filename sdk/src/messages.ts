import type { Call } from './core/call.ts'
import type { RequestOptions } from './core/request.ts'
import { MessagesMethods, type MessagesSendParams, type MessagesSendResponse } from './generated/messages.ts'

/** What is answered to a message that was sent. */
export type SentMessage = Extract<MessagesSendResponse, { messages: unknown }>

/** `client.messages`: what is answered is known from what is asked. */
export class Messages extends MessagesMethods {
  /**
   * Marks a message that came in as read.
   *
   * @example
   * await client.messages.send('4000000000000001', { status: 'read', message_id: 'wamid.…' })
   */
  override send(
    phoneNumberId: string,
    params: MessagesSendParams & { readonly status: string },
    options?: RequestOptions,
  ): Call<{ success: boolean }>
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
  override send(phoneNumberId: string, params: MessagesSendParams, options?: RequestOptions): Call<SentMessage>
  override send(phoneNumberId: string, params: MessagesSendParams, options?: RequestOptions): Call<never> {
    return super.send(phoneNumberId, params, options) as Call<never>
  }
}
