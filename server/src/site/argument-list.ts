import type { JsonSchema } from '../http/openapi/document.ts'
import { escapeHtml } from '../replies/page.ts'
import type { ReferenceArgument } from './operations-by-chapter.ts'

/** The parameters of an operation as a list: name, type, whether it is required, and its meaning. */
export function writeArguments(list: readonly ReferenceArgument[]): string {
  const items = list.map(({ name, in: where, required, description, schema }) =>
    writeArgument(name, where === 'body' ? schema : { ...schema, where }, required, description),
  )
  return `<dl>${items.join('')}</dl>`
}

function writeArgument(name: string, schema: JsonSchema, required: boolean, description: string | undefined): string {
  const { where } = schema as { where?: string }
  const marks = [
    `<span>${escapeHtml(describeKind(schema))}</span>`,
    ...(where === undefined ? [] : [`<span>in the ${where}</span>`]),
    ...(required ? ['<span class="must">required</span>'] : []),
  ]
  const lines = [...(description === undefined ? [] : [writeMarkdown(description)]), ...writeValues(schema)]
  return `<div><dt><code class="named">${escapeHtml(name)}</code>${marks.join('')}</dt><dd class="meaning">${lines.join(' ')}${writeMembers(schema)}</dd></div>`
}

/** The members of an object, or of the objects in a list, one level deeper. */
function writeMembers(schema: JsonSchema): string {
  const inner = (schema['items'] ?? schema) as JsonSchema
  const { properties, required = [] } = inner as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  if (properties === undefined) return ''
  const items = Object.entries(properties).map(([name, member]) =>
    writeArgument(name, member, required.includes(name), member['description'] as string | undefined),
  )
  return `<dl class="members">${items.join('')}</dl>`
}

function writeValues({ enum: values, items }: JsonSchema): string[] {
  const listed = values ?? (items as JsonSchema | undefined)?.['enum']
  if (!Array.isArray(listed)) return []
  return [`One of ${listed.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ')}.`]
}

function describeKind(schema: JsonSchema): string {
  const { type, anyOf, items, const: only } = schema
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map((one) => describeKind(one as JsonSchema)))].join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (type === 'array') return `list of ${describeKind((items ?? {}) as JsonSchema)}${describeRange(schema, 'Items')}`
  if (type === 'string') return `string${describeRange(schema, 'Length')}`
  if (type === 'integer' || type === 'number') return `${type}${describeRange(schema, 'imum')}`
  return typeof type === 'string' ? type : 'any'
}

function describeRange(schema: JsonSchema, what: 'Items' | 'Length' | 'imum'): string {
  const least = schema[`min${what}`]
  const most = schema[`max${what}`]
  if (least === undefined && most === undefined) return ''
  if (least === undefined) return ` (at most ${most})`
  return most === undefined ? ` (at least ${least})` : ` (${least} to ${most})`
}

/** The subset of Markdown that descriptions use: code, lists, paragraphs. */
export function writeMarkdown(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => writeCodeSpans(line.replace(/^- /, '· '))).join('<br>')
}

function writeCodeSpans(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
