import { readInternationalNumber } from '../../../base/text/international-number.ts'
import type { TemplateButton } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { buttonNotAlone, buttonOfCategory, memberNotTaken, quickRepliesApart, tooManyButtons } from '../errors.ts'
import { maxCode } from '../sending/fill-buttons.ts'
import { listVariables } from '../variables.ts'
import { readOtpButton } from './read-authentication.ts'
import type { TemplateKind } from './template-kind.ts'
import { type Given, isObject, readName, readOptionalText, readText } from './text-rules.ts'

type ButtonType = TemplateButton['type']

const buttonTypes = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'FLOW', 'CATALOG', 'MPM'] as const
const publicButtonTypes = [...buttonTypes, 'VOICE_CALL'] as const
const otpTypes = ['OTP'] as const

const maxButtons = 10
/** How many of a type there may be. */
const maxOfType: Readonly<Record<ButtonType, number>> = {
  QUICK_REPLY: 10,
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  FLOW: 1,
  CATALOG: 1,
  MPM: 1,
  OTP: 1,
  VOICE_CALL: 1,
}
const maxText = 25
const maxUrl = 2000
const maxPhoneNumber = 20
const maxFlowName = 200
const maxFlowJson = 100_000

/** Which buttons there may be, and how many. */
export interface ButtonLimits {
  readonly types: readonly ButtonType[]
  readonly max: number
}

function limitsOf({ category, hasPublicForms }: TemplateKind): ButtonLimits {
  if (category === 'AUTHENTICATION') return { types: otpTypes, max: 1 }
  return { types: hasPublicForms ? publicButtonTypes : buttonTypes, max: maxButtons }
}

export function readButtons(
  component: Given,
  place: string,
  kind: TemplateKind,
  { types, max }: ButtonLimits = limitsOf(kind),
): TemplateButton[] {
  const { buttons: given } = component
  const at = `${place}.buttons`
  const expected = types === otpTypes ? 'an array of one OTP button' : `an array of 1 to ${max} buttons`
  if (given === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (!Array.isArray(given) || given.length < 1 || given.length > max) {
    throw badArgument(argumentWrong(at, { expected }))
  }
  const buttons = given.map((one: unknown, index) => {
    const here = `${at}[${index}]`
    if (!isObject(one)) throw badArgument(argumentWrong(here, { expected: 'an object' }))
    const type = readName(one, 'type', here, types)
    return readButton(type, one, here, kind)
  })
  checkTogether(buttons, at)
  return buttons
}

/** What buttons have to keep to as a list. */
function checkTogether(buttons: readonly TemplateButton[], place: string): void {
  for (const type of [...publicButtonTypes, ...otpTypes]) {
    const max = maxOfType[type]
    if (buttons.filter((button) => button.type === type).length > max) {
      throw badArgument(tooManyButtons(place, { type, max }))
    }
  }
  const lone = buttons.find(({ type }) => type === 'CATALOG' || type === 'MPM')
  if (lone && buttons.length > 1) throw badArgument(buttonNotAlone(place, { type: lone.type }))
  const changes = buttons.filter(
    ({ type }, index) => index > 0 && (type === 'QUICK_REPLY') !== (buttons[index - 1]?.type === 'QUICK_REPLY'),
  )
  if (changes.length > 1) throw badArgument(quickRepliesApart(place))
}

function readButton(type: ButtonType, given: Given, place: string, { category }: TemplateKind): TemplateButton {
  switch (type) {
    case 'OTP':
      return readOtpButton(given, place)
    case 'COPY_CODE':
      return readCopyCode(given, place)
    case 'QUICK_REPLY':
    case 'VOICE_CALL':
      return { type, text: readText(given, 'text', place, maxText) }
    case 'URL':
      return { type, text: readText(given, 'text', place, maxText), ...readUrl(given, place) }
    case 'PHONE_NUMBER':
      return { type, text: readText(given, 'text', place, maxText), phone_number: readPhoneNumber(given, place) }
    case 'FLOW':
      return { type, text: readText(given, 'text', place, maxText), ...readFlow(given, place) }
    case 'CATALOG':
    case 'MPM':
      if (category !== 'MARKETING') throw badArgument(buttonOfCategory(place, { type, category: 'MARKETING' }))
      return { type, text: readText(given, 'text', place, maxText) }
  }
}

export function readUrl(given: Given, place: string): Pick<TemplateButton, 'url' | 'example'> {
  const url = readText(given, 'url', place, maxUrl)
  const [variable, ...more] = listVariables(url)
  const fixed = variable === undefined ? url : url.slice(0, -`{{${variable}}}`.length)
  const isAtEnd = variable === undefined || (url === `${fixed}{{${variable}}}` && !fixed.includes('{{'))
  const isNamed = variable === undefined || variable === '1' || /^[a-z][a-z0-9_]*$/.test(variable)
  if (!isWebAddress(`${fixed}${variable === undefined ? '' : 'x'}`) || more.length > 0 || !isAtEnd || !isNamed) {
    const expected = 'an http or https URL, with one variable at the most, which is at its end'
    throw badArgument(argumentWrong(`${place}.url`, { expected }))
  }
  if (variable === undefined) return { url }
  return { url, example: [readUrlExample(given, place, fixed)] }
}

function readUrlExample({ example }: Given, place: string, fixed: string): string {
  const [url, ...more] = Array.isArray(example) ? example : []
  const expected = 'a list of one text, the whole URL with something in the place of its variable'
  const at = `${place}.example`
  if (example === undefined) throw badArgument(argumentMissing(at, { expected }))
  const isWhole = typeof url === 'string' && url.length <= maxUrl && url.length > fixed.length && url.startsWith(fixed)
  if (!isWhole || more.length > 0 || !isWebAddress(url)) throw badArgument(argumentWrong(at, { expected }))
  return url
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && !/\s/.test(text)
}

export function readPhoneNumber(given: Given, place: string): string {
  const phone_number = readText(given, 'phone_number', place, maxPhoneNumber)
  const international = phone_number.startsWith('+') ? phone_number : `+${phone_number}`
  if (readInternationalNumber(international)) return phone_number
  const expected = 'a phone number in international format such as +16505551234'
  throw badArgument(argumentWrong(`${place}.phone_number`, { expected }))
}

function readCopyCode(given: Given, place: string): TemplateButton {
  if (given['text'] !== undefined) {
    throw badArgument(memberNotTaken(`${place}.text`, { where: 'with COPY_CODE, whose text is that of the service' }))
  }
  const { example } = given
  const [code, ...more] = Array.isArray(example) ? example : [example]
  const at = `${place}.example`
  const expected = `a code of 1 to ${maxCode} characters`
  if (example === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (more.length > 0) throw badArgument(argumentWrong(at, { expected }))
  return { type: 'COPY_CODE', example: [readText({ example: code }, 'example', place, maxCode)] }
}

function readFlow(given: Given, place: string): Partial<TemplateButton> {
  const flow_id = readOptionalText(given, 'flow_id', place, maxFlowName)
  const flow_name = readOptionalText(given, 'flow_name', place, maxFlowName)
  const flow_json = readOptionalText(given, 'flow_json', place, maxFlowJson)
  if ([flow_id, flow_name, flow_json].filter((one) => one !== undefined).length !== 1) {
    throw badArgument(argumentWrong(place, { expected: 'a button with one of flow_id, flow_name and flow_json' }))
  }
  const flow_action = readOptionalText(given, 'flow_action', place, maxFlowName)
  const navigate_screen = readOptionalText(given, 'navigate_screen', place, maxFlowName)
  return {
    ...(flow_id !== undefined && { flow_id }),
    ...(flow_name !== undefined && { flow_name }),
    ...(flow_json !== undefined && { flow_json }),
    ...(flow_action !== undefined && { flow_action }),
    ...(navigate_screen !== undefined && { navigate_screen }),
  }
}
