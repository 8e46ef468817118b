import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import type { Method } from './describe-methods.ts'
import { writeLiteral, writeValue } from './write-type.ts'

/** What the console has to know of the methods at the business door, to write a request that it saw as a call of the client. */
export function writeMethodTable(methods: readonly Method[]): string {
  const rows = Map.groupBy(
    methods.filter(({ row }) => row.door === 'business'),
    ({ row }) => row.name,
  )
  const lines = [...rows].map(([name, ofRow]) => `  ${writeLiteral(name)}: ${writeValue(describe(ofRow))},\n`)
  return `export interface ClientMethod {
  /** The calls that send it; of several the first is meant whose fixed members and arguments are there. */
  readonly calls: readonly {
    /** \`phoneNumbers.list\` */
    readonly call: string
    /** What the call itself sends. */
    readonly fixed?: Readonly<Record<string, string>>
    /** Members that are arguments of their own. */
    readonly args?: readonly string[]
  }[]
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
${lines.join('')}}
`
}

function describe(methods: readonly Method[]): object {
  const [{ row, path, headers }] = methods as [Method, ...Method[]]
  const all = methods.flatMap(({ parameters }) => parameters)
  const parsed = new Set(all.filter(({ schema }) => !takesText(schema)).map((parameter) => parameter.name))
  return {
    calls: methods.map(({ resource, name, fixed, memberArguments }) => ({
      call: `${resource}.${name}`,
      ...(Object.keys(fixed).length > 0 && { fixed }),
      ...(memberArguments.length > 0 && { args: memberArguments.map(({ member }) => member) }),
    })),
    path,
    ...(parsed.size > 0 && { parsed: [...parsed] }),
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
