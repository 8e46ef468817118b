/** Numbers that JavaScript cannot hold as they are written: too many digits, or with an exponent. */
const delicateNumber = /[:,[\s]-?(?:[\d.]{16,}|[\d.]+[eE]|0[^.])/

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(source: string): object
}

/**
 * The same as `parsed`, but with every number written out again exactly as it was written in the text: members that nobody
 * here knows are passed on as they came.
 */
export function keepNumbers(text: string, parsed: unknown): unknown {
  if (!delicateNumber.test(text)) return parsed
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && JSON.stringify(value) !== source ? exact.rawJSON(source) : value,
  )
}
