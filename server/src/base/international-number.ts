import { ParseError, type PhoneNumber, parsePhoneNumberWithError } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/metadata.min'

/** A phone number that could exist, in its parts. */
export interface InternationalNumber {
  /** Country calling code and national number, digits only. */
  readonly phone_number: string
  /** ISO 3166-1 alpha-2; null for calling codes of no country. */
  readonly country_code: string | null
  readonly country_dial_code: string
}

/** Parses a number in international format; undefined when no number of that length can exist. */
export function readInternationalNumber(text: string): InternationalNumber | undefined {
  const parsed = parse(text)
  if (!parsed?.isPossible()) return undefined
  return {
    phone_number: parsed.number.slice(1),
    // Several countries share a calling code such as +1. If the digits do not decide, the first is the code's main country.
    country_code: parsed.country ?? parsed.getPossibleCountries()[0] ?? null,
    country_dial_code: parsed.countryCallingCode,
  }
}

/** A number in international format as people write it, with the spaces of its country. */
export function formatInternationalNumber(phone_number: string): string {
  return parse(`+${phone_number}`)?.formatInternational() ?? `+${phone_number}`
}

/** Whether a number in international format fits the numbering plan of its country. */
export function isRealInternationalNumber(text: string): boolean {
  return parse(text)?.isValid() ?? false
}

function parse(text: string): PhoneNumber | undefined {
  try {
    const parsed = parsePhoneNumberWithError(text, { extract: false }, metadata)
    return parsed.ext === undefined ? parsed : undefined
  } catch (error) {
    // The library throws this for every text that is not a number.
    if (error instanceof ParseError) return undefined
    throw error
  }
}
