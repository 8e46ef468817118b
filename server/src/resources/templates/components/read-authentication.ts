import type { TemplateButton, TemplateComponent } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { componentNotTaken } from '../errors.ts'
import { type Given, isObject, readName, readOptionalText, readText } from './text-rules.ts'

/*
 * Authentication templates say what the service lets them say: whoever reads a code shall not have to read anything else. What a read
 * shows can be sent back as it is, so our own texts are taken and no others.
 */

const otpTypes = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'] as const
const maxButtonText = 25
const maxApps = 5
const maxPackageName = 224
const signatureHashLength = 11
const maxMinutes = 90

export function readAuthenticationBody(given: Given, place: string): TemplateComponent {
  const { add_security_recommendation: isRecommended, text } = given
  if (isRecommended !== undefined && typeof isRecommended !== 'boolean') {
    throw badArgument(argumentWrong(`${place}.add_security_recommendation`, { expected: 'true or false' }))
  }
  const code = '*{{1}}* is your verification code.'
  const own = isRecommended ? `${code} For your security, do not share this code.` : code
  checkOwnText(text, own, place, 'text in its BODY')
  return {
    type: 'BODY',
    text: own,
    ...(isRecommended !== undefined && { add_security_recommendation: isRecommended }),
    example: { body_text: [['123456']] },
  }
}

export function readAuthenticationFooter(given: Given, place: string): TemplateComponent {
  const { code_expiration_minutes: minutes, text } = given
  const at = `${place}.code_expiration_minutes`
  const expected = `an integer from 1 to ${maxMinutes}`
  if (minutes === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (typeof minutes !== 'number' || !Number.isInteger(minutes) || minutes < 1 || minutes > maxMinutes) {
    throw badArgument(argumentWrong(at, { expected }))
  }
  const own = `This code expires in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  checkOwnText(text, own, place, 'text in its FOOTER')
  return { type: 'FOOTER', text: own, code_expiration_minutes: minutes }
}

function checkOwnText(text: unknown, own: string, place: string, what: string): void {
  if (text !== undefined && text !== own) throw badArgument(componentNotTaken(`${place}.text`, { what }))
}

/** The one button of an authentication template. */
export function readOtpButton(given: Given, place: string): TemplateButton {
  const otp_type = readName(given, 'otp_type', place, otpTypes)
  const text = readOptionalText(given, 'text', place, maxButtonText) ?? 'Copy code'
  if (otp_type === 'COPY_CODE') return { type: 'OTP', otp_type, text }
  const button: TemplateButton = {
    type: 'OTP',
    otp_type,
    text,
    autofill_text: readOptionalText(given, 'autofill_text', place, maxButtonText) ?? 'Autofill',
    supported_apps: readApps(given, place),
  }
  if (otp_type === 'ONE_TAP') return button
  if (given['zero_tap_terms_accepted'] !== true) {
    throw badArgument(argumentWrong(`${place}.zero_tap_terms_accepted`, { expected: 'true with ZERO_TAP' }))
  }
  return { ...button, zero_tap_terms_accepted: true }
}

/** The apps that may take the code by themselves: a list of them, or one on the button itself. */
function readApps(given: Given, place: string): { package_name: string; signature_hash: string }[] {
  const { supported_apps, package_name, signature_hash } = given
  if (supported_apps === undefined && (package_name !== undefined || signature_hash !== undefined)) {
    return [readApp(given, place)]
  }
  const at = `${place}.supported_apps`
  const expected = `an array of 1 to ${maxApps} items, each with package_name and signature_hash`
  if (supported_apps === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (!Array.isArray(supported_apps) || supported_apps.length < 1 || supported_apps.length > maxApps) {
    throw badArgument(argumentWrong(at, { expected }))
  }
  return supported_apps.map((app: unknown, index) => {
    if (!isObject(app)) throw badArgument(argumentWrong(`${at}[${index}]`, { expected: 'an object' }))
    return readApp(app, `${at}[${index}]`)
  })
}

function readApp(given: Given, place: string): { package_name: string; signature_hash: string } {
  const package_name = readText(given, 'package_name', place, maxPackageName)
  const signature_hash = readText(given, 'signature_hash', place, signatureHashLength)
  if (signature_hash.length !== signatureHashLength) {
    const expected = `a string of ${signatureHashLength} characters`
    throw badArgument(argumentWrong(`${place}.signature_hash`, { expected }))
  }
  return { package_name, signature_hash }
}
