import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import type { Method } from './describe-methods.ts'
import { writeLiteral, writeValue } from './write-type.ts'

/** What the console has to know of the methods at the business door, to write a request that it saw as a call of the client. */
export function writeMethodTable(methods: readonly Method[]): string {
  const rows = methods
    .filter(({ row }) => row.door === 'business')
    .map((method) => `  ${writeLiteral(method.row.name)}: ${writeValue(describe(method))},\n`)
  return `export interface ClientMethod {
  /** \`phoneNumbers.list\` */
  readonly call: string
  /** With \`{}\` for each id and \`{product}\` for the product's name; without the version. */
  readonly path: string
  /** Parameters that are no text: in a query or a form they are JSON. */
  readonly parsed?: readonly string[]
  /** Parameters that are headers. */
  readonly headers?: readonly string[]
  /** The parameter that is a file. */
  readonly file?: string
  /** Its body is bytes. */
  readonly raw?: boolean
}

/** By the names of operations. */
export const clientMethods: Readonly<Record<string, ClientMethod>> = {
${rows.join('')}}
`
}

function describe({ row, group, name, path, parameters, headers }: Method): object {
  const parsed = parameters.filter(({ schema }) => !takesText(schema)).map((parameter) => parameter.name)
  return {
    call: `${group}.${name}`,
    path,
    ...(parsed.length > 0 && { parsed }),
    ...(headers.length > 0 && { headers }),
    ...(row.file && { file: row.file.name }),
    ...(row.body === 'raw' && { raw: true }),
  }
}

function takesText(schema: JsonSchema): boolean {
  if (schema['anyOf']) return (schema['anyOf'] as JsonSchema[]).some(takesText)
  const values = 'const' in schema ? [schema['const']] : ((schema['enum'] ?? []) as unknown[])
  return schema['type'] === 'string' || values.some((value) => typeof value === 'string')
}
