import type { TemplateButton } from '../../../db/tables.ts'
import { countCharacters, fillVariables, listVariables } from '../variables.ts'
import {
  type GivenComponent,
  isTextUpTo,
  type ParameterPath,
  readText,
  readTyped,
  requireObject,
  requireParameter,
} from './parameters.ts'
import {
  codesDiffer,
  codeTooLong,
  componentMissing,
  componentRepeated,
  filledInTooLong,
  type MissingText,
  noSuchButton,
  parameterCountWrong,
  parameterWrong,
} from './sending-errors.ts'

type ButtonType = TemplateButton['type']
type Members = Readonly<Record<string, unknown>>

/** A button of a message, as the user gets it. */
export interface FilledButton {
  readonly index: number
  readonly type: ButtonType
  readonly text: string
  /** Of a quick reply: what a press hands in; of a call: what is kept with it. */
  readonly payload?: string
  readonly url?: string
  readonly phone_number?: string
  /** Of a call: how long the button works after the message was sent. */
  readonly ttl_minutes?: number
  /** What a press copies. */
  readonly code?: string
  readonly otp_type?: string
  readonly flow_id?: string
  readonly flow_name?: string
  /** Of a flow or a catalog, as it came. */
  readonly action?: object
}

export const maxCode = 15
const maxPayload = 256
const maxUrl = 2000
const maxCallPayload = 512
const defaultTtlMinutes = 10_080
const maxTtlMinutes = 43_200
const copyOfferCode = 'Copy offer code'

/** What a component for a button calls its kind; a call needs no parameter, so it has none. */
const subTypes: Readonly<Record<ButtonType, string | undefined>> = {
  QUICK_REPLY: 'quick_reply',
  URL: 'url',
  PHONE_NUMBER: undefined,
  COPY_CODE: 'copy_code',
  FLOW: 'flow',
  CATALOG: 'catalog',
  MPM: 'mpm',
  OTP: 'url',
  VOICE_CALL: 'voice_call',
}

/** Fills in the buttons; `code` is the one in the body of an authentication template, `missingText` refuses a text that is left out. */
export function fillButtons(
  buttons: readonly TemplateButton[],
  components: readonly GivenComponent[],
  code: string | undefined,
  missingText: MissingText,
): FilledButton[] {
  const byIndex = new Map<number, GivenComponent>()
  for (const component of components) {
    const index = readIndex(component, buttons)
    if (byIndex.has(index)) throw componentRepeated({ place: component.place })
    byIndex.set(index, component)
  }
  return buttons.map((button, index) => fillButton(button, index, byIndex.get(index), { code, missingText }))
}

/** The button that a component is for: it has to be there, and of the kind that the component says. */
function readIndex({ given, place }: GivenComponent, buttons: readonly TemplateButton[]): number {
  const { index, sub_type } = given
  const number = typeof index === 'string' && /^\d{1,2}$/.test(index) ? Number(index) : index
  const button = typeof number === 'number' ? buttons[number] : undefined
  if (!button) throw noSuchButton({ place, count: buttons.length })
  const expected = subTypes[button.type]
  if (expected === undefined) throw parameterWrong({ place, expected: 'left out: this button takes no parameters' })
  if (typeof sub_type !== 'string' || sub_type.toLowerCase() !== expected) {
    throw parameterWrong({ place: `${place}.sub_type`, expected: `${expected}, as that is the kind of this button` })
  }
  return number as number
}

function fillButton(
  button: TemplateButton,
  index: number,
  given: GivenComponent | undefined,
  { code, missingText }: { readonly code: string | undefined; readonly missingText: MissingText },
): FilledButton {
  const { type, text = copyOfferCode } = button
  const common = { index, type, text }
  switch (type) {
    case 'QUICK_REPLY':
      return { ...common, payload: given ? readPayload(given) : text }
    case 'URL':
      return { ...common, url: fillUrl(button, index, given, missingText) }
    case 'PHONE_NUMBER':
      return { ...common, phone_number: button.phone_number ?? '' }
    case 'COPY_CODE':
      return { ...common, code: readCoupon(index, given) }
    case 'OTP':
      return { ...common, otp_type: button.otp_type ?? '', code: readOtp(index, given, code, missingText) }
    case 'VOICE_CALL':
      return { ...common, ...readCall(given) }
    case 'FLOW':
    case 'CATALOG':
    case 'MPM': {
      const { flow_id, flow_name } = button
      return {
        ...common,
        ...(flow_id !== undefined && { flow_id }),
        ...(flow_name !== undefined && { flow_name }),
        ...(given && { action: readAction(given) }),
      }
    }
  }
}

function readPayload(given: GivenComponent): string {
  const { parameter, place } = requireParameter(given)
  const payload = readTyped(parameter, place, 'payload')
  if (isTextUpTo(payload, maxPayload)) return payload
  throw parameterWrong({ place: `${place}.payload`, expected: `a text of 1 to ${maxPayload} characters` })
}

function fillUrl(
  { url = '' }: TemplateButton,
  index: number,
  given: GivenComponent | undefined,
  missingText: MissingText,
): string {
  const [variable] = listVariables(url)
  if (variable === undefined) {
    const found = given?.parameters.length ?? 0
    if (given && found > 0) throw parameterCountWrong({ place: given.place, found, expected: 0 })
    return url
  }
  if (!given) throw missingText(describeMissing(index, 'one parameter of type text, the end of its URL'))
  const { parameter, place } = requireParameter(given)
  const filled = fillVariables(url, new Map([[variable, readText(parameter, place)]]))
  if (countCharacters(filled) > maxUrl) throw filledInTooLong({ place, max: maxUrl })
  return filled
}

/** A call may have a life and a payload, each once; the life is a week where none is given. */
function readCall(given: GivenComponent | undefined): { ttl_minutes: number; payload?: string } {
  let call: { ttl_minutes: number; payload?: string } = { ttl_minutes: defaultTtlMinutes }
  const seen = new Set<unknown>()
  for (const [index, parameter] of (given?.parameters ?? []).entries()) {
    const place = `${given?.place}.parameters[${index}]`
    const members = requireObject(parameter, place)
    const { type } = members
    if ((type !== 'ttl_minutes' && type !== 'payload') || seen.has(type)) {
      throw parameterWrong({ place: `${place}.type`, expected: 'ttl_minutes or payload, each once' })
    }
    seen.add(type)
    call = { ...call, ...(type === 'payload' ? readCallPayload(members, place) : readTtl(members, place)) }
  }
  return call
}

function readCallPayload({ payload }: Members, place: ParameterPath): { payload: string } {
  if (isTextUpTo(payload, maxCallPayload)) return { payload }
  throw parameterWrong({ place: `${place}.payload`, expected: `a text of 1 to ${maxCallPayload} characters` })
}

/** A number, or the same as text. */
function readTtl({ ttl_minutes: given }: Members, place: ParameterPath): { ttl_minutes: number } {
  const ttl_minutes = typeof given === 'string' && /^\d{1,5}$/.test(given) ? Number(given) : given
  const isNumber = typeof ttl_minutes === 'number' && Number.isInteger(ttl_minutes)
  if (isNumber && ttl_minutes >= 1 && ttl_minutes <= maxTtlMinutes) return { ttl_minutes }
  throw parameterWrong({ place: `${place}.ttl_minutes`, expected: `an integer from 1 to ${maxTtlMinutes}` })
}

function readCoupon(index: number, given: GivenComponent | undefined): string {
  if (!given) throw componentMissing(describeMissing(index, 'one parameter of type coupon_code'))
  const { parameter, place } = requireParameter(given)
  const code = readTyped(parameter, place, 'coupon_code')
  if (typeof code !== 'string' || code === '') {
    throw parameterWrong({ place: `${place}.coupon_code`, expected: `a text of 1 to ${maxCode} characters` })
  }
  return checkCode(code, `${place}.coupon_code`)
}

function readOtp(
  index: number,
  given: GivenComponent | undefined,
  codeOfBody: string | undefined,
  missingText: MissingText,
): string {
  if (!given) throw missingText(describeMissing(index, 'one parameter of type text, the code'))
  const { parameter, place } = requireParameter(given)
  const code = checkCode(readText(parameter, place), `${place}.text`)
  if (code !== codeOfBody) throw codesDiffer({ place: `${place}.text` })
  return code
}

function checkCode(code: string, place: ParameterPath): string {
  if (countCharacters(code) > maxCode) throw codeTooLong({ place, max: maxCode })
  return code
}

/** What a flow or a catalog does with it is not known here: it is passed on. */
function readAction(given: GivenComponent): object {
  const { parameter, place } = requireParameter(given)
  return requireObject(readTyped(parameter, place, 'action'), `${place}.action`)
}

function describeMissing(index: number, expected: string) {
  return { kind: `the button ${index}`, expected }
}
