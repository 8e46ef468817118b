/** The id of a message that a user writes here: with it the message is sent again without arriving twice. */
export function drawMessageId(product: string): string {
  const drawn = [...crypto.getRandomValues(new Uint8Array(18))]
  const digits = drawn.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return product === 'whatsapp' ? `wamid.${writePublic(drawn, digits.slice(-32).toUpperCase())}` : `wamid.${digits}`
}

/** The form of the service for users' messages, with random digits in place of a phone number. */
function writePublic(drawn: readonly number[], name: string): string {
  const number = `1${drawn
    .slice(0, 10)
    .map((byte) => byte % 10)
    .join('')}`
  return btoa(`\x1c\x18\x0b${number}\x15\x02\x00\x12\x18\x20${name}\x00`)
}
