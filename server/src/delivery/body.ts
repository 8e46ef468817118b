/**
 * Writes an event as the bytes that are signed and sent: JSON in ASCII, everything else as `\uXXXX` in lower case, one
 * for each half of a character beyond the basic plane. So no change of encoding on the way can break the signature.
 */
export function writeBody(event: object): Buffer {
  return writeAscii(JSON.stringify(event))
}

/** The same for an event that is JSON text already. */
export function writeAscii(json: string): Buffer {
  // Without the flag `u` the pattern goes by UTF-16 units, which is what an escape stands for.
  const ascii = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return Buffer.from(ascii, 'latin1')
}
