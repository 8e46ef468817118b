import {
  type CountryCode,
  Metadata,
  type NumberingPlan,
  ParseError,
  type PhoneNumber,
  parsePhoneNumberWithError,
} from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/metadata.min'

/** A phone number that could exist, in its parts. */
export interface InternationalNumber {
  /** Country calling code and national number, digits only. */
  readonly phone_number: string
  /** ISO 3166-1 alpha-2; null for calling codes of no country. */
  readonly country_code: string | null
  readonly country_dial_code: string
}

/** Longer than any number with all that people write between its digits. */
const maxLength = 64

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

/** What decides whether a number under a calling code can exist. */
interface PossibleNumbers {
  /** For each count of digits after the calling code whether a number has so many; undefined where its country decides. */
  readonly lengths: readonly (boolean | undefined)[]
  /** Digits after the calling code that are dialled only within the country; undefined where there are none. */
  readonly prefix: RegExp | undefined
}

/** The most digits of a number after its calling code. */
const maxNationalLength = 17
const possibleNumbers = readPossibleNumbers()

/**
 * Whether a number of these digits, calling code included, can exist: the same as `readInternationalNumber` finds, for the path of every
 * message. Parsing takes as long as storing a message, and few numbers need it.
 */
export function isPossibleNumber(digits: string): boolean {
  for (let length = 1; length <= 3; length++) {
    const possible = possibleNumbers.get(digits.slice(0, length))
    if (!possible) continue
    const national = digits.slice(length)
    const isPossible = possible.prefix?.test(national) ? undefined : possible.lengths[national.length]
    return isPossible ?? readInternationalNumber(`+${digits}`) !== undefined
  }
  return false
}

/** The country of a number by its digits, calling code included; undefined where they are no country's. Few numbers need parsing here too. */
export function findCountry(digits: string): string | undefined {
  for (let length = 1; length <= 3; length++) {
    const countries: readonly string[] | undefined = metadata.country_calling_codes[digits.slice(0, length)]
    if (!countries) continue
    return countries.length === 1 ? countries[0] : (readInternationalNumber(`+${digits}`)?.country_code ?? undefined)
  }
  return undefined
}

function readPossibleNumbers(): ReadonlyMap<string, PossibleNumbers> {
  const found = new Map<string, PossibleNumbers>()
  for (const code of Object.keys({ ...metadata.country_calling_codes, ...metadata.nonGeographic })) {
    const plans = (metadata.country_calling_codes[code] ?? [code]).map(findPlan)
    const prefix = findPlan(code).nationalPrefixForParsing()
    found.set(code, {
      lengths: Array.from({ length: maxNationalLength + 1 }, (_, length) => {
        const known = new Set(plans.map((plan) => plan.possibleLengths().includes(length)))
        return known.size === 1 ? known.has(true) : undefined
      }),
      prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
    })
  }
  return found
}

/** The plan of a country or, which the types of the library leave out, of a calling code; they leave out the prefix too. */
function findPlan(of: string) {
  const plans = new Metadata(metadata)
  plans.selectNumberingPlan(of as CountryCode)
  return plans.numberingPlan as NumberingPlan & { nationalPrefixForParsing(): string | undefined }
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
  // The library takes seconds for thousands of characters.
  if (text.length > maxLength) return undefined
  try {
    const parsed = parsePhoneNumberWithError(text, { extract: false }, metadata)
    return parsed.ext === undefined ? parsed : undefined
  } catch (error) {
    // The library throws this for every text that is not a number.
    if (error instanceof ParseError) return undefined
    throw error
  }
}
