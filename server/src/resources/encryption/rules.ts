import { createPublicKey, type KeyObject } from 'node:crypto'
import {
  keyBase64CutOff,
  keyBlockUnended,
  keyExponentWrong,
  keyIsCertificate,
  keyLabelUnknown,
  keyLineEndsEscaped,
  keyLineNotBase64,
  keyModulusEven,
  keyNotExactDer,
  keyNotPem,
  keyOfAnotherKind,
  keySizeWrong,
  maxModulusBits,
  minModulusBits,
  notAPublicKey,
  privateKey,
  textAfterKey,
  textBeforeKey,
} from './errors.ts'
import type { SignatureStatus } from './schemas.ts'
import { isSignatureGood } from './signatures.ts'
import type { SignedPublicKey } from './store.ts'

/** The largest public exponent that common libraries accept: 31 bits. */
const maxExponent = 0x7fff_ffffn

/** The two forms of an RSA public key, by the label after BEGIN. */
const encodings = { 'PUBLIC KEY': 'spki', 'RSA PUBLIC KEY': 'pkcs1' } as const
type Label = keyof typeof encodings

/**
 * Checks that a text is exactly one RSA public key in PEM, and returns it normalized: LF as line ends (multipart changes them to CRLF),
 * and no surrounding white space except the last line end.
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
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(block)) throw privateKey()
  if (/-----\\[nr]/.test(block)) throw keyLineEndsEscaped()
  const [first = '', ...rest] = block.split('\n')
  const label = readLabel(first, block)
  const end = rest.indexOf(`-----END ${label}-----`)
  if (end === -1) throw keyBlockUnended({ label })
  if (end !== rest.length - 1) throw textAfterKey({ label })
  return { label, der: decodeLines(rest.slice(0, end)) }
}

function readLabel(firstLine: string, block: string): Label {
  const label = /^-----BEGIN ([A-Z0-9 ]{1,40})-----$/.exec(firstLine)?.[1]
  if (label === undefined) {
    throw block.includes('-----BEGIN ') && !block.startsWith('-----BEGIN ') ? textBeforeKey() : keyNotPem()
  }
  if (label.endsWith('CERTIFICATE')) throw keyIsCertificate()
  if (!Object.hasOwn(encodings, label)) throw keyLabelUnknown({ label: JSON.stringify(label) })
  return label as Label
}

function decodeLines(lines: readonly string[]): Buffer {
  for (const [index, line] of lines.entries()) {
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(line)) continue
    const hint = line.includes(' ') ? ', with the + of base64 as %2B where the body is a form' : ''
    throw keyLineNotBase64({ line: index + 2, hint })
  }
  const text = lines.join('')
  const bytes = Buffer.from(text, 'base64')
  if (text === '' || bytes.toString('base64') !== text) {
    throw keyBase64CutOff()
  }
  return bytes
}

function readDer(label: Label, der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: encodings[label] })
  } catch (cause) {
    throw notAPublicKey({ cause })
  }
}

/** RSA-PSS keys are refused too: they can sign but not encrypt. */
function checkAlgorithm({ asymmetricKeyType }: KeyObject): void {
  if (asymmetricKeyType !== 'rsa') throw keyOfAnotherKind({ kind: asymmetricKeyType ?? 'unknown' })
}

function checkNumbers(key: KeyObject): void {
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (bits < minModulusBits || bits > maxModulusBits) throw keySizeWrong({ bits })
  if (exponent < 3n || exponent > maxExponent || exponent % 2n === 0n) {
    throw keyExponentWrong({ max: String(maxExponent) })
  }
  const modulus = Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url')
  if ((modulus.at(-1) ?? 0) % 2 === 0) throw keyModulusEven()
}

/** The parser tolerates trailing bytes and odd encodings of numbers; encoding the key again and comparing does not. */
function checkDer(key: KeyObject, label: Label, der: Buffer): void {
  const anew = createPublicKey({ key: key.export({ format: 'jwk' }), format: 'jwk' })
  if (!anew.export({ format: 'der', type: encodings[label] }).equals(der)) {
    throw keyNotExactDer()
  }
}

/** `VALID` while the number's registration, the key and the signature are unchanged since the upload. */
export function judgeSignature(record: SignedPublicKey): SignatureStatus {
  const { registration_epoch, current_epoch, public_key, signature } = record
  if (registration_epoch !== current_epoch || public_key === null) return 'MISMATCH'
  return isSignatureGood(public_key, record, signature) ? 'VALID' : 'MISMATCH'
}
