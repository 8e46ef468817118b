/** Makes a value that several readers share immutable, with everything in it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  for (const held of Object.values(value)) freezeDeep(held)
  return Object.freeze(value)
}

export function freezeAll(values: readonly unknown[]): void {
  for (const value of values) freezeDeep(value)
}
