/** The digits of a phone number as people write it: empty for nothing, undefined for what is no number. */
export function readNumber(text: string): string | undefined {
  if (text.trim() === '') return ''
  const digits = text.replaceAll(/\D/g, '')
  return digits === '' || /\p{L}/u.test(text) ? undefined : digits
}
