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

/** A button of a message, as the user gets it. */
export interface FilledButton {
  readonly index: number
  readonly type: ButtonType
  readonly text: string
  /** Of a quick reply: what a press hands in. */
  readonly payload?: string
  readonly url?: string
  readonly phone_number?: string
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
