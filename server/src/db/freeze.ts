/** Makes a value that several readers share immutable, with everything in it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  // Rows have few members that are objects: to make a list of all members would take as long as the rest.
  for (const key in value) {
    const held = value[key]
    if (typeof held === 'object' && held !== null) freezeDeep(held)
  }
  return Object.freeze(value)
}
