/** The members of an object that is written as JSON; undefined for any other text. */
export function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value)
}

export function isListOf<T>(isOne: (value: unknown) => value is T, value: unknown): value is T[] {
  return Array.isArray(value) && value.every(isOne)
}
