import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type Decipheriv,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { findCountry } from './international-number.ts'

const cipher = 'aes-256-ecb'
const blockBytes = 16
/** Of a block, the number; the rest is the check. A 1 in front keeps the zeros that twenty digits may begin with. */
const numberBytes = 9
const checkBytes = blockBytes - numberBytes
const numberPattern = /^\d{1,20}$/
const storedPattern = /^1\d{1,20}$/
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const bitsOfCharacter = 5
/** Of 28 characters: the block, and 12 bits of the check. */
const codeBytes = blockBytes + 2
const codeCharacters = 28
const namePattern = /^[A-Z]{2}\.([A-Z2-7]{28})$/
const noCountry = 'ZZ'
/** More than are named within a moment; beyond it everything is forgotten. */
const maxCached = 10_000

/**
 * Names phone numbers by a country and 28 characters: the same for a number in a scope each time, different in another scope, and no way back
 * without the key. With the key a name is turned back into its number, so that nothing of it has to be stored.
 */
export class ScopedNumbers {
  /** Blocks by themselves: so one of each serves for all of them. */
  readonly #sealing: Cipheriv
  readonly #opening: Decipheriv
  readonly #checkKey: KeyObject
  /** Finding the country takes as long as all the rest. */
  readonly #cached = new Map<string, string>()

  constructor(secret: string) {
    const derive = (purpose: string) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `scoped numbers: ${purpose}`, 32)))
    const key = derive('cipher')
    this.#sealing = createCipheriv(cipher, key, null).setAutoPadding(false)
    this.#opening = createDecipheriv(cipher, key, null).setAutoPadding(false)
    this.#checkKey = derive('check')
  }

  /** Undefined for what is no number. */
  write(scope: string, digits: string): string | undefined {
    const key = `${scope} ${digits}`
    const known = this.#cached.get(key)
    if (known !== undefined) return known
    if (!numberPattern.test(digits)) return undefined
    const name = `${findCountry(digits) ?? noCountry}.${this.#encode(scope, digits)}`
    if (this.#cached.size >= maxCached) this.#cached.clear()
    this.#cached.set(key, name)
    return name
  }

  /** The digits; undefined for what is no name of this scope. The country is not compared: countries get other numbers. */
  read(scope: string, name: string): string | undefined {
    const code = namePattern.exec(name)?.[1]
    if (code === undefined) return undefined
    const block = this.#opening.update(readCode(code).subarray(0, blockBytes))
    const stored = BigInt(`0x${block.toString('hex', 0, numberBytes)}`).toString()
    if (!storedPattern.test(stored)) return undefined
    const digits = stored.slice(1)
    return this.#encode(scope, digits) === code ? digits : undefined
  }

  /** The scope is in the check alone, and the check is under the cipher too: so all of it changes with the scope. */
  #encode(scope: string, digits: string): string {
    const check = createHmac('sha256', this.#checkKey).update(`${scope}\0${digits}`).digest()
    const block = Buffer.alloc(blockBytes)
    block.write(
      BigInt(`1${digits}`)
        .toString(16)
        .padStart(2 * numberBytes, '0'),
      'hex',
    )
    check.copy(block, numberBytes, 0, checkBytes)
    return writeCode(
      Buffer.concat([this.#sealing.update(block), check.subarray(checkBytes, checkBytes + codeBytes - blockBytes)]),
    )
  }
}

/** The first 140 bits, five to a character. */
function writeCode(bytes: Buffer): string {
  let code = ''
  let bits = 0
  let count = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    count += 8
    while (count >= bitsOfCharacter && code.length < codeCharacters) {
      count -= bitsOfCharacter
      code += alphabet[(bits >> count) & 31]
    }
    bits &= (1 << count) - 1
  }
  return code
}

function readCode(code: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let count = 0
  for (const character of code) {
    bits = (bits << bitsOfCharacter) | alphabet.indexOf(character)
    count += bitsOfCharacter
    if (count < 8) continue
    count -= 8
    bytes.push((bits >> count) & 255)
    bits &= (1 << count) - 1
  }
  return Buffer.from(bytes)
}
