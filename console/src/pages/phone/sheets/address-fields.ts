interface AddressField {
  readonly name: string
  readonly label: string
  readonly kind?: 'tel' | 'digits'
}

const name: AddressField = { name: 'name', label: 'Name' }
const phone: AddressField = { name: 'phone_number', label: 'Phone number', kind: 'tel' }
const address: AddressField = { name: 'address', label: 'Address' }
const city: AddressField = { name: 'city', label: 'City' }

/** The form of an address, by its country. */
const fields: Readonly<Record<string, readonly AddressField[]>> = {
  IN: [
    name,
    phone,
    { name: 'in_pin_code', label: 'Pin code', kind: 'digits' },
    { name: 'house_number', label: 'Flat/House number' },
    { name: 'floor_number', label: 'Floor number' },
    { name: 'tower_number', label: 'Tower number' },
    { name: 'building_name', label: 'Building/Apartment name' },
    address,
    { name: 'landmark_area', label: 'Landmark/Area' },
    city,
    { name: 'state', label: 'State' },
  ],
  SG: [
    name,
    phone,
    { name: 'sg_post_code', label: 'Post code', kind: 'digits' },
    address,
    { name: 'unit_number', label: 'Unit number' },
    city,
  ],
}

export function fieldsOf(country: string): readonly AddressField[] {
  return fields[country] ?? []
}

/** An address in one line, without the person. */
export function writeAddress(country: string, value: Readonly<Record<string, string>>): string {
  const lines = fieldsOf(country).filter((field) => field !== name && field !== phone)
  return lines.flatMap((field) => value[field.name] || []).join(', ')
}
