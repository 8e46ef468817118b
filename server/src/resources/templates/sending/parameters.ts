import { isWebLink } from '../../../base/text/web-link.ts'
import { parameterCountWrong, parameterWrong } from './sending-errors.ts'

/** Where something stands in a message: `template.components[0].parameters[1]`. */
export type ParameterPath = string

/** A component of a message, with its parameters. */
export interface GivenComponent {
  readonly place: ParameterPath
  readonly given: Readonly<Record<string, unknown>>
  readonly parameters: readonly unknown[]
}

/** A file as the sender names it: by the id of a medium, or by a link. */
export interface MediaParameter {
  readonly id?: string
  readonly link?: string
  readonly filename?: string
}

export interface LocationParameter {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string
  readonly address?: string
}

const maxFilename = 240
const maxLocationText = 1000

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function requireObject(value: unknown, place: ParameterPath): Members {
  if (!isObject(value)) throw parameterWrong({ place, expected: 'an object' })
  return value
}

/** The one parameter of a component, and where it is. */
export function requireParameter({ place, parameters }: GivenComponent): { parameter: unknown; place: ParameterPath } {
  if (parameters.length !== 1) throw parameterCountWrong({ place, found: parameters.length, expected: 1 })
  return { parameter: parameters[0], place: `${place}.parameters[0]` }
}

/** The member of a parameter that has the name of its type, which has to be this one. */
export function readTyped(parameter: unknown, place: ParameterPath, type: string): unknown {
  const given = requireObject(parameter, place)
  if (readType(given) !== type) throw parameterWrong({ place: `${place}.type`, expected: type })
  return given[type]
}

function readType({ type }: Members): string | undefined {
  return typeof type === 'string' ? type.toLowerCase() : undefined
}

export function readText(parameter: unknown, place: ParameterPath): string {
  return checkText(readTyped(parameter, place, 'text'), `${place}.text`)
}

/** A parameter of the body: a text, or an amount or a date, which show the text that the sender wrote for them. */
export function readBodyText(parameter: unknown, place: ParameterPath): string {
  const given = requireObject(parameter, place)
  switch (readType(given)) {
    case 'text':
      return checkText(given['text'], `${place}.text`)
    case 'currency': {
      const { code, amount_1000, fallback_value } = requireObject(given['currency'], `${place}.currency`)
      if (typeof code !== 'string' || !/^[A-Z]{3}$/.test(code)) {
        throw parameterWrong({
          place: `${place}.currency.code`,
          expected: 'the three letters of a currency such as USD',
        })
      }
      if (!Number.isSafeInteger(amount_1000)) {
        throw parameterWrong({ place: `${place}.currency.amount_1000`, expected: 'the amount times 1000, an integer' })
      }
      return checkText(fallback_value, `${place}.currency.fallback_value`)
    }
    case 'date_time': {
      const { fallback_value } = requireObject(given['date_time'], `${place}.date_time`)
      return checkText(fallback_value, `${place}.date_time.fallback_value`)
    }
    default:
      throw parameterWrong({ place: `${place}.type`, expected: 'one of text, currency, date_time' })
  }
}

/** Line breaks, tabs and long rows of blanks would make a template look like something that was never reviewed. */
function checkText(text: unknown, place: ParameterPath): string {
  if (typeof text === 'string' && text !== '' && !/[\r\n\t\v\f\u0085\u2028\u2029]| {5}/.test(text)) return text
  const expected = 'a text that is not empty, without line breaks, tabs and more than 4 blanks in a row'
  throw parameterWrong({ place, expected })
}

export function readMedia(
  parameter: unknown,
  place: ParameterPath,
  type: 'image' | 'video' | 'document',
): MediaParameter {
  const at = `${place}.${type}`
  const { id, link, filename, caption } = requireObject(readTyped(parameter, place, type), at)
  if ((id === undefined) === (link === undefined))
    throw parameterWrong({ place: at, expected: 'either an id or a link' })
  const named = id ?? link
  if (typeof named !== 'string' || named === '') {
    throw parameterWrong({ place: `${at}.${id === undefined ? 'link' : 'id'}`, expected: 'a text that is not empty' })
  }
  if (id === undefined && !isWebLink(named)) {
    throw parameterWrong({
      place: `${at}.link`,
      expected: 'an http or https URL of at most 2048 characters, without credentials or fragment',
    })
  }
  if (caption !== undefined) throw parameterWrong({ place: `${at}.caption`, expected: 'left out' })
  const isNamed = type === 'document' && filename !== undefined
  if (isNamed && !isTextUpTo(filename, maxFilename)) {
    throw parameterWrong({ place: `${at}.filename`, expected: `a text of 1 to ${maxFilename} characters` })
  }
  return { ...(id === undefined ? { link: named } : { id: named }), ...(isNamed && { filename: filename as string }) }
}

export function readLocation(parameter: unknown, place: ParameterPath): LocationParameter {
  const at = `${place}.location`
  const { latitude, longitude, name, address } = requireObject(readTyped(parameter, place, 'location'), at)
  return {
    latitude: readDegrees(latitude, `${at}.latitude`, 90),
    longitude: readDegrees(longitude, `${at}.longitude`, 180),
    ...readOptional('name', name, at),
    ...readOptional('address', address, at),
  }
}

/** A number, or the same as text. */
function readDegrees(given: unknown, place: ParameterPath, max: number): number {
  const isWritten = typeof given === 'string' && /^[+-]?\d{1,3}(\.\d{1,20})?$/.test(given)
  const degrees = isWritten ? Number(given) : given
  if (typeof degrees === 'number' && degrees >= -max && degrees <= max) return degrees
  throw parameterWrong({ place, expected: `a number from -${max} to ${max}` })
}

function readOptional(member: 'name' | 'address', text: unknown, place: ParameterPath): object {
  if (text === undefined) return {}
  if (isTextUpTo(text, maxLocationText)) return { [member]: text }
  throw parameterWrong({ place: `${place}.${member}`, expected: `a text of 1 to ${maxLocationText} characters` })
}

/** Of 1 to `max` characters. */
export function isTextUpTo(text: unknown, max: number): text is string {
  return typeof text === 'string' && text !== '' && text.length <= 2 * max && [...text].length <= max
}
