import type { Transaction } from '../../db/database.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { toStoredPermission } from '../calls/public.ts'
import { takePermission, updatePermission } from '../calls/store.ts'
import { type Choices, nameOf } from '../messages/public.ts'
import { findPerson, type StoredMessage } from '../messages/store.ts'
import { answerAddress } from './address-answer.ts'
import { callInstead, choiceUnknown, nothingToAnswer } from './errors.ts'
import { writeMessage } from './write.ts'

export interface Press {
  readonly choice?: string | number
  /** The place of the card that the button is on. */
  readonly card?: number
  readonly data?: object
}

/** Hands in what a user answers by pressing something in a message; returns the id of the answer. */
export async function pressMessage(
  context: GatewayContext<Transaction>,
  message: StoredMessage,
  user_wa_id: string,
  press: Press,
): Promise<string> {
  const choices = message.choices as Choices | null
  if (!choices) throw nothingToAnswer()
  const answer = await describeAnswer(context, message, user_wa_id, choices, press)
  const where =
    message.group_id === null ? { phone_number_id: message.phone_number_id } : { group_id: message.group_id }
  return writeMessage(context, { ...where, from: user_wa_id, context: { id: message.id }, ...answer })
}

type Answer = { readonly type: string } & Readonly<Record<string, unknown>>

async function describeAnswer(
  context: GatewayContext<Transaction>,
  message: StoredMessage,
  user_wa_id: string,
  choices: Choices,
  { choice, card, data = {} }: Press,
): Promise<Answer> {
  switch (choices.kind) {
    case 'button_reply':
    case 'list_reply': {
      const { kind } = choices
      const options: readonly { readonly id: string }[] = choices.options
      const chosen = options.find(({ id }) => id === String(choice))
      if (!chosen) throw choiceUnknown({ choices: options.map(({ id }) => id) })
      return { type: 'interactive', interactive: { type: kind, [kind]: chosen } }
    }
    case 'location':
      return { type: 'location', location: { address: '', name: '', ...data } }
    case 'order':
      return describeOrder(choices.catalog_id, data)
    case 'flow':
      return describeFlow(data)
    case 'address':
      return answerAddress(context.db, message.id, choices, data)
    case 'contact':
      return { type: 'contacts', contacts: [{ ...(await describeSelf(context, message, user_wa_id)), ...data }] }
    case 'call':
      throw callInstead()
    case 'template':
      return answerTemplate(choices, { choice, card, data })
    case 'call_permission':
      return answerPermission(context, message, user_wa_id, choice)
  }
}

function describeOrder(catalog_id: string, data: object): Answer {
  return { type: 'order', order: { catalog_id, text: '', ...data } }
}

function describeFlow(data: object): Answer {
  const nfm_reply = { name: 'flow', body: 'Sent', response_json: JSON.stringify(data) }
  return { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply } }
}

/** The user's own contact, as a phone shares it. */
async function describeSelf(
  { db }: GatewayContext<Transaction>,
  { phone_number_id }: StoredMessage,
  user_wa_id: string,
): Promise<object> {
  const formatted_name = nameOf(await findPerson(db, phone_number_id, user_wa_id))
  return {
    name: { formatted_name, first_name: formatted_name },
    phones: [{ phone: `+${user_wa_id}`, wa_id: user_wa_id, type: 'CELL' }],
  }
}

/** A quick reply by its index, which may come as text, and its card; or a flow or a catalog by its index, or by what is answered alone. */
function answerTemplate(
  { options, flows, orders, call }: Choices & { readonly kind: 'template' },
  { choice, card, data }: { choice: Press['choice']; card: Press['card']; data: object },
): Answer {
  const isChosen = (index: number) => String(index) === String(choice)
  const ofCard = options.filter((option) => option.card === card)
  const reply = ofCard.find(({ index }) => isChosen(index))
  if (reply) return { type: 'button', button: { payload: reply.payload, text: reply.text } }
  const isAnyOf = (places: readonly number[]) => (choice === undefined ? places.length > 0 : places.some(isChosen))
  if (card === undefined && isAnyOf(flows)) return describeFlow(data)
  if (card === undefined && isAnyOf(orders)) return describeOrder('', data)
  const known = [...ofCard.map(({ index }) => index), ...(card === undefined ? [...flows, ...orders] : [])]
  if (known.length === 0 && call) throw callInstead()
  throw choiceUnknown({ choices: known })
}

/** What the user says of being called holds from now on. */
async function answerPermission(
  { db, clock, settings }: GatewayContext<Transaction>,
  { phone_number_id }: StoredMessage,
  user_wa_id: string,
  response: Press['choice'],
): Promise<Answer> {
  if (response !== 'accept' && response !== 'reject') throw choiceUnknown({ choices: ['accept', 'reject'] })
  const pair = { phone_number_id, user_wa_id }
  const status = response === 'accept' ? 'granted' : 'denied'
  const permission = toStoredPermission({ ...pair, status }, settings, clock.now())
  await takePermission(db, pair)
  await updatePermission(db, permission)
  const call_permission_reply = {
    response,
    ...(permission.expiration_time !== null && { expiration_timestamp: String(permission.expiration_time) }),
    response_source: 'user_action',
  }
  return { type: 'interactive', interactive: { type: 'call_permission_reply', call_permission_reply } }
}
