import { defineError } from '../../graph/define-error.ts'

export const minModulusBits = 2048
/** A larger key only makes encryption slower, and some libraries refuse it. */
export const maxModulusBits = 8192
const rightKey = `an RSA public key of ${minModulusBits} to ${maxModulusBits} bits` as const

export const privateKey = defineError({
  id: 'private_key',
  status: 400,
  text: 'business_public_key: it holds a private key, which only its owner may have; create a new pair, and send only its public key.',
})
export const keyLineEndsEscaped = defineError({
  id: 'key_line_ends_escaped',
  status: 400,
  text: 'business_public_key: its line ends are written as a backslash and a letter; send real line ends.',
})
export const keyBlockUnended = defineError({
  id: 'key_block_unended',
  status: 400,
  text: 'business_public_key: its block does not end; the last line must be -----END {label}-----.',
})
export const textAfterKey = defineError({
  id: 'text_after_key',
  status: 400,
  text: 'business_public_key: there is text after -----END {label}-----; send one key and nothing else.',
})
export const textBeforeKey = defineError({
  id: 'text_before_key',
  status: 400,
  text: 'business_public_key: there is text before -----BEGIN; send one key and nothing else.',
})
export const keyNotPem = defineError({
  id: 'key_not_pem',
  status: 400,
  text: `business_public_key: it is not in PEM; send ${rightKey} that starts with the line -----BEGIN PUBLIC KEY-----.`,
})
export const keyIsCertificate = defineError({
  id: 'key_is_certificate',
  status: 400,
  text: 'business_public_key: it is a certificate; send the public key that the certificate is for.',
})
export const keyLabelUnknown = defineError({
  id: 'key_label_unknown',
  status: 400,
  text: `business_public_key: {label} is not accepted; send "PUBLIC KEY" or "RSA PUBLIC KEY", ${rightKey}.`,
})
export const keyLineNotBase64 = defineError({
  id: 'key_line_not_base64',
  status: 400,
  text: 'business_public_key: line {line} of it is not base64; send the block as it was made{hint}.',
})
export const keyBase64CutOff = defineError({
  id: 'key_base64_cut_off',
  status: 400,
  text: 'business_public_key: its base64 is cut off or has the wrong padding; send the block as it was made.',
})
export const notAPublicKey = defineError({
  id: 'not_a_public_key',
  status: 400,
  text: `business_public_key: its block is not a public key; send ${rightKey}.`,
})
export const keyOfAnotherKind = defineError({
  id: 'key_of_another_kind',
  status: 400,
  text: `business_public_key: it is a key of another kind ({kind}); send ${rightKey}.`,
})
export const keySizeWrong = defineError({
  id: 'key_size_wrong',
  status: 400,
  text: `business_public_key: it has {bits} bits; send ${rightKey}.`,
})
export const keyExponentWrong = defineError({
  id: 'key_exponent_wrong',
  status: 400,
  text: 'business_public_key: its exponent must be an odd number from 3 to {max}; make the key with the usual 65537.',
})
export const keyModulusEven = defineError({
  id: 'key_modulus_even',
  status: 400,
  text: `business_public_key: its modulus is even, so it is not an RSA key; send ${rightKey}.`,
})
export const keyNotExactDer = defineError({
  id: 'key_not_exact_der',
  status: 400,
  text: `business_public_key: its block is not exactly one key in DER; export it again, as ${rightKey}.`,
})
