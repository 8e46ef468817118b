/** An object of JSON whose members nobody has checked. */
export type Members = Readonly<Record<string, unknown>>

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

export function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
