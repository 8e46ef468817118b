import { type TSchema, Type } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import { cardButtonsDiffer, cardsNotNumbered, tooManyLines } from '../errors.ts'
import { type Address, type AddressCountry, addressCountries, addressFields, addressSchema } from './address.ts'
import { type CheckValue, makeCheck } from './check.ts'
import {
  checkButtonId,
  checkHeader,
  checkUnique,
  checkUrl,
  type GivenHeader,
  headers,
  type InteractiveForm,
  optional,
  text,
  urlAction,
} from './interactive-parts.ts'

/** A card of a carousel. */
interface Card {
  readonly card_index: number
  readonly header: GivenHeader
  readonly body?: { readonly text: string }
  readonly action: CardAction
}

type CardAction =
  | { readonly name: 'cta_url'; readonly parameters: { readonly display_text: string; readonly url: string } }
  | { readonly buttons: readonly { readonly quick_reply: { readonly id: string; readonly title: string } }[] }

export interface Carousel {
  readonly cards: readonly Card[]
}

export interface AddressAction {
  readonly parameters: {
    readonly country: AddressCountry
    readonly values?: Address
    readonly saved_addresses?: readonly { readonly id: string; readonly value: Address }[]
    readonly validation_errors?: Readonly<Record<string, string>>
  }
}

export interface CallAction {
  readonly parameters?: {
    readonly display_text?: string
    readonly ttl_minutes?: number
    readonly payload?: string
  }
}

const maxCards = 10
const maxCardLines = 3
const maxTtlMinutes = 43_200

export const quickReplies = Type.Object({
  buttons: Type.Array(
    Type.Object({
      type: Type.Literal('quick_reply'),
      quick_reply: Type.Object({ id: text(256), title: text(20) }),
    }),
    { minItems: 1, maxItems: 3 },
  ),
})

export const cardSchema = Type.Object({
  card_index: Type.Integer({ minimum: 0, maximum: maxCards - 1 }),
  // The public platform calls cards with quick replies so too.
  type: Type.Literal('cta_url'),
  header: headers.card,
  body: optional(Type.Object({ text: text(160) })),
  action: Type.Object({}),
})

/** Fields of an address, which are checked when the country is known. */
const anyFields = Type.Object({})

/** The kinds of interactive messages that the public platform has besides those of the specification. */
export const publicForms = {
  carousel: {
    header: 'none',
    body: 'required',
    footer: false,
    action: Type.Object({ cards: Type.Array(cardSchema, { minItems: 2, maxItems: maxCards }) }),
    check: checkCards,
  },
  address_message: {
    header: 'any',
    body: 'required',
    footer: true,
    action: Type.Object({
      name: Type.Literal('address_message'),
      parameters: Type.Object({
        country: Type.Enum(addressCountries),
        values: optional(anyFields),
        saved_addresses: optional(
          Type.Array(Type.Object({ id: text(256), value: anyFields }), { minItems: 1, maxItems: 20 }),
        ),
        validation_errors: optional(anyFields),
      }),
    }),
    check: checkAddressAction,
  },
  request_contact_info: {
    header: 'none',
    body: 'required',
    footer: false,
    action: Type.Object({ name: Type.Literal('request_contact_info') }),
  },
  voice_call: {
    header: 'none',
    body: 'required',
    footer: false,
    action: Type.Object({
      name: Type.Literal('voice_call'),
      parameters: optional(
        Type.Object({
          display_text: optional(text(20)),
          ttl_minutes: optional(Type.Integer({ minimum: 1, maximum: maxTtlMinutes })),
          payload: optional(Type.String({ maxLength: 512 })),
        }),
      ),
    }),
  },
} satisfies Record<string, InteractiveForm>

const checkQuickReplies = makeCheck(quickReplies)
const checkUrlAction = makeCheck(urlAction)

function checkCards({ cards }: Carousel): void {
  const place = 'interactive.action.cards'
  for (const [index, card] of cards.entries()) {
    const at = `${place}[${index}]`
    checkHeader(card.header, `${at}.header`)
    if ((card.body?.text.split('\n').length ?? 0) > maxCardLines) {
      throw badArgument(tooManyLines(`${at}.body.text`, { max: maxCardLines - 1 }))
    }
    checkCardAction(card.action, `${at}.action`)
  }
  const numbers = new Set(cards.map(({ card_index }) => card_index))
  const last = cards.length - 1
  if (numbers.size < cards.length || Math.max(...numbers) > last) throw badArgument(cardsNotNumbered(place, { last }))
  const counts = cards.map(({ action }) => quickRepliesOf(action).length)
  const other = counts.findIndex((count) => count !== counts[0])
  if (other >= 0) throw badArgument(cardButtonsDiffer(`${place}[${other}].action`))
  checkUnique(
    cards.flatMap(({ action }) => quickRepliesOf(action).map(({ id }) => id)),
    place,
  )
}

function checkCardAction(action: CardAction, place: string): void {
  if (!('buttons' in action)) {
    checkUrlAction(action, place)
    checkUrl(action.parameters.url, `${place}.parameters.url`)
    return
  }
  checkQuickReplies(action, place)
  for (const [index, { quick_reply }] of action.buttons.entries()) {
    checkButtonId(quick_reply.id, `${place}.buttons[${index}].quick_reply.id`)
  }
  checkUnique(
    action.buttons.map(({ quick_reply }) => quick_reply.title),
    `${place}.buttons`,
  )
}

/** None: the card has a button that opens a page. */
export function quickRepliesOf(action: CardAction): readonly { readonly id: string; readonly title: string }[] {
  return 'buttons' in action ? action.buttons.map(({ quick_reply: { id, title } }) => ({ id, title })) : []
}

function checksByCountry(describe: (country: AddressCountry) => TSchema): Record<AddressCountry, CheckValue> {
  const checks = addressCountries.map((country) => [country, makeCheck(describe(country))])
  return Object.fromEntries(checks) as Record<AddressCountry, CheckValue>
}

/** A text for each of the fields that a country has. */
function textsSchema(country: AddressCountry, field: TSchema): TSchema {
  const fields = Object.keys(addressFields[country]).map((name) => [name, optional(field)])
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false })
}

/** Throws the 400 unless a value is an address of a country. */
export const checkAddress = checksByCountry(addressSchema)
/** What a form is filled in with may be wrong: then it is what the user wrote, with what the business says of it. */
const checkValues = checksByCountry((country) => textsSchema(country, Type.String({ maxLength: 256 })))
const checkErrors = checksByCountry((country) => textsSchema(country, text(256)))

function checkAddressAction({ parameters }: AddressAction): void {
  const place = 'interactive.action.parameters'
  const { country, values = {}, saved_addresses = [], validation_errors = {} } = parameters
  checkValues[country](values, `${place}.values`)
  for (const [index, { value }] of saved_addresses.entries()) {
    checkAddress[country](value, `${place}.saved_addresses[${index}].value`)
  }
  checkUnique(
    saved_addresses.map(({ id }) => id),
    `${place}.saved_addresses`,
  )
  checkErrors[country](validation_errors, `${place}.validation_errors`)
}
