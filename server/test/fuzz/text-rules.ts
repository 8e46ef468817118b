import type { Schema } from './document.ts'

/** The formats that the documents name, as far as the form of a text shows them. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => /^[a-z][a-z0-9+.-]*:\S*$/i.test(text) && URL.canParse(text),
  email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})$/i.test(text) && !Number.isNaN(Date.parse(text)),
  binary: () => true,
}

/** The length as JSON Schema counts it. */
export function lengthOf(text: string): number {
  return [...text].length
}

export function fitsText(schema: Schema, text: string): boolean {
  const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema as TextSchema
  if (lengthOf(text) < minLength || lengthOf(text) > maxLength) return false
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return false
  return format === undefined || (formats[format]?.(text) ?? false)
}

interface TextSchema {
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
}
