import { createPublicKey, type KeyObject } from 'node:crypto'
import { badArgument, type GraphError } from '../../graph/errors.ts'
import type { SignatureStatus } from './schemas.ts'
import { isSignatureGood } from './signatures.ts'
import type { SignedPublicKey } from './store.ts'

const minModulusBits = 2048
/** Encrypting with a larger key only costs more, and some libraries refuse to. */
const maxModulusBits = 8192
/** The largest public exponent that the usual libraries take: 31 bits. */
const maxExponent = 0x7fff_ffffn

const rightKey = `an RSA public key of ${minModulusBits} to ${maxModulusBits} bits`

/** The two ways to write an RSA public key, by what stands behind BEGIN. */
const encodings = { 'PUBLIC KEY': 'spki', 'RSA PUBLIC KEY': 'pkcs1' } as const
type Label = keyof typeof encodings

/**
 * Checks that a text is one RSA public key in PEM and nothing else, and returns it as it is kept: as it came, but with LF as
 * line ends (what travels as multipart gets CRLF on the way) and without blank space around it except the last line end.
 */
export function readPublicKey(text: string): string {
  const pem = text.replaceAll('\r\n', '\n')
  const block = pem.trim()
  const { label, der } = readBlock(block)
  const key = readDer(label, der)
  checkAlgorithm(key)
  checkNumbers(key)
  checkDer(key, label, der)
  const tail = pem.slice(pem.trimEnd().length)
  return tail.includes('\n') ? `${block}\n` : block
}

function readBlock(block: string): { label: Label; der: Buffer } {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(block)) {
    throw refuse(
      'it holds a private key, which nobody but its owner may have; make a new pair, and send its public key alone.',
    )
  }
  if (/-----\\[nr]/.test(block)) {
    throw refuse('its line ends are written as a backslash and a letter; send real line ends.')
  }
  const [first = '', ...rest] = block.split('\n')
  const label = readLabel(first, block)
  const end = rest.indexOf(`-----END ${label}-----`)
  if (end === -1) throw refuse(`its block does not end; the last line must be -----END ${label}-----.`)
  if (end !== rest.length - 1) {
    throw refuse(`something stands after -----END ${label}-----; send one key and nothing else.`)
  }
  return { label, der: decodeLines(rest.slice(0, end)) }
}

function readLabel(firstLine: string, block: string): Label {
  const label = /^-----BEGIN ([A-Z0-9 ]{1,40})-----$/.exec(firstLine)?.[1]
  if (label === undefined) {
    throw block.includes('-----BEGIN ') && !block.startsWith('-----BEGIN ')
      ? refuse('something stands before -----BEGIN; send one key and nothing else.')
      : refuse(`it is not in PEM; send ${rightKey} that starts with the line -----BEGIN PUBLIC KEY-----.`)
  }
  if (label.endsWith('CERTIFICATE'))
    throw refuse('it is a certificate; send the public key that the certificate is for.')
  if (!Object.hasOwn(encodings, label)) {
    throw refuse(`${JSON.stringify(label)} is not taken; send "PUBLIC KEY" or "RSA PUBLIC KEY", ${rightKey}.`)
  }
  return label as Label
}

function decodeLines(lines: readonly string[]): Buffer {
  for (const [index, line] of lines.entries()) {
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(line)) continue
    const hint = line.includes(' ') ? ', with the + of base64 as %2B where the body is a form' : ''
    throw refuse(`line ${index + 2} of it is not base64; send the block as it was made${hint}.`)
  }
  const text = lines.join('')
  const bytes = Buffer.from(text, 'base64')
  if (text === '' || bytes.toString('base64') !== text) {
    throw refuse('its base64 is cut off or has the wrong padding; send the block as it was made.')
  }
  return bytes
}

function readDer(label: Label, der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: encodings[label] })
  } catch (cause) {
    throw refuse(`what its block holds is not a public key; send ${rightKey}.`, cause)
  }
}

/** RSA-PSS keys are refused too: they can sign and not encrypt. */
function checkAlgorithm({ asymmetricKeyType }: KeyObject): void {
  if (asymmetricKeyType !== 'rsa') {
    throw refuse(`it is a key of another kind (${asymmetricKeyType ?? 'unknown'}); send ${rightKey}.`)
  }
}

function checkNumbers(key: KeyObject): void {
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (bits < minModulusBits || bits > maxModulusBits) throw refuse(`it has ${bits} bits; send ${rightKey}.`)
  if (exponent < 3n || exponent > maxExponent || exponent % 2n === 0n) {
    throw refuse(`its exponent must be an odd number from 3 to ${maxExponent}; make the key with the usual 65537.`)
  }
  const modulus = Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url')
  if ((modulus.at(-1) ?? 0) % 2 === 0) throw refuse(`its modulus is even, so it is no RSA key; send ${rightKey}.`)
}

/** Reading is lenient about what stands behind a key and how its numbers are written; writing the same numbers anew is not. */
function checkDer(key: KeyObject, label: Label, der: Buffer): void {
  const anew = createPublicKey({ key: key.export({ format: 'jwk' }), format: 'jwk' })
  if (!anew.export({ format: 'der', type: encodings[label] }).equals(der)) {
    throw refuse(`what its block holds is not exactly one key in DER; write it anew, as ${rightKey}.`)
  }
}

function refuse(problem: string, cause?: unknown): GraphError {
  const error = badArgument('business_public_key', problem)
  if (cause !== undefined) error.cause = cause
  return error
}

/** `VALID` while the number is registered as it was at the upload, and neither key nor signature was touched since. */
export function judgeSignature(record: SignedPublicKey): SignatureStatus {
  const { registration_epoch, current_epoch, public_key, signature } = record
  if (registration_epoch !== current_epoch || public_key === null) return 'MISMATCH'
  return isSignatureGood(public_key, record, signature) ? 'VALID' : 'MISMATCH'
}
