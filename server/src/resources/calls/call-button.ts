import type { Transaction } from '../../db/database.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { notFound } from '../../graph/errors.ts'
import type { Choices } from '../messages/public.ts'
import { findMessage } from '../messages/store.ts'
import { callButtonExpired, noCallButton } from './errors.ts'

/** What the button of a message hands on to the call that a user starts with it. Throws unless the button is there and still works. */
export async function readCallButton(
  { db, clock }: GatewayContext<Transaction>,
  phone_number_id: string,
  user_wa_id: string,
  message_id: string,
): Promise<string | undefined> {
  const message = await findMessage(db, message_id)
  if (message?.phone_number_id !== phone_number_id || message.user_wa_id !== user_wa_id) throw notFound()
  const choices = message.choices as Choices | null
  const button = choices?.kind === 'template' ? choices.call : choices?.kind === 'call' ? choices : undefined
  if (!button) throw noCallButton()
  if (clock.now() >= message.created_time + button.lifetime) throw callButtonExpired()
  return button.payload
}
