import type { Transaction } from '../../db/database.ts'
import { badArgument } from '../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'
import { type Address, type Choices, checkAddress, writeAddress } from '../messages/public.ts'
import { findContent } from '../messages/store.ts'
import { choiceUnknown } from './errors.ts'

interface GivenAddress {
  readonly saved_address_id?: unknown
  readonly values?: unknown
}

/** What a user answers a request for an address with: the fields of a form, or one of the addresses that the business knows. */
export async function answerAddress(
  db: Transaction,
  message_id: string,
  { country, saved }: Choices & { readonly kind: 'address' },
  { saved_address_id, values: given }: GivenAddress,
) {
  if (saved_address_id !== undefined && !saved.includes(String(saved_address_id))) {
    throw choiceUnknown({ choices: saved.length > 0 ? saved : 'none' })
  }
  const values =
    given ?? (saved_address_id === undefined ? undefined : await findSaved(db, message_id, saved_address_id))
  if (values === undefined) throw badArgument(argumentMissing('data.values', { expected: 'the fields of an address' }))
  checkAddress[country](values, 'data.values')
  const address = values as Address
  if (Object.values(address).every((text) => text === '')) {
    throw badArgument(argumentWrong('data.values', { expected: 'an address with at least one field' }))
  }
  const response = { ...(saved_address_id !== undefined && { saved_address_id }), values: address }
  const nfm_reply = {
    name: 'address_message',
    body: writeAddress(country, address),
    response_json: JSON.stringify(response),
  }
  return { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply } }
}

/** An address that the message holds, as long as its content is kept. */
async function findSaved(db: Transaction, message_id: string, id: unknown): Promise<Address | undefined> {
  const stored = await findContent(db, message_id)
  const { value } = JSON.parse(stored?.content ?? '{}') as { value?: SavedAddresses }
  return value?.action.parameters.saved_addresses?.find((one) => one.id === id)?.value
}

interface SavedAddresses {
  readonly action: {
    readonly parameters: { readonly saved_addresses?: readonly { readonly id: string; readonly value: Address }[] }
  }
}
