import { type TObject, Type } from 'typebox'

const optional = Type.Optional
const line = optional(Type.String({ maxLength: 256 }))
/** Digits with what people write between them. */
const phone = optional(
  Type.String({ pattern: '^\\+?[0-9 ()-]{4,30}$', maxLength: 31, 'x-expects': 'a phone number, with digits' }),
)
const sixDigits = optional(Type.String({ pattern: '^[0-9]{6}$', maxLength: 6, 'x-expects': '6 digits' }))

/** The fields of an address, by the country that an address message names; in the order of a form. */
export const addressFields = {
  IN: {
    name: line,
    phone_number: phone,
    in_pin_code: sixDigits,
    house_number: line,
    floor_number: line,
    tower_number: line,
    building_name: line,
    address: line,
    landmark_area: line,
    city: line,
    state: line,
  },
  SG: {
    name: line,
    phone_number: phone,
    sg_post_code: sixDigits,
    address: line,
    unit_number: line,
    city: line,
  },
} as const

export type AddressCountry = keyof typeof addressFields
export const addressCountries = Object.keys(addressFields) as AddressCountry[]
export type Address = Readonly<Record<string, string>>

/** An address of a country: its fields and no others. */
export function addressSchema(country: AddressCountry): TObject {
  return Type.Object(addressFields[country], { additionalProperties: false })
}

/** The lines of an address as a user reads them, without the person. */
export function writeAddress(country: AddressCountry, address: Address): string {
  const { name: _name, phone_number: _phone, ...fields } = addressFields[country]
  const lines = Object.keys(fields).flatMap((field) => (address[field] ? [address[field]] : []))
  return lines.join('\n')
}
