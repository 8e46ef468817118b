import type { Row } from '../../../server/src/graph/operation.ts'
import { refusedKeyword } from '../../../server/src/graph/schemas.ts'
import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../../../server/src/graph/vocabulary.ts'
import { exampleIdOf } from '../../../server/src/http/openapi/arguments.ts'
import {
  isLink,
  nameMethod,
  type ResultKind,
  renameGroup,
  resultOf,
  toCamelCase,
} from '../../../server/src/http/openapi/client-methods.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { describeRow } from '../../../server/src/http/openapi/rows.ts'
import { toJsonSchema, writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { fullInput, isOperation, pathMembersOf, placeholdersOf } from '../../../server/src/http/route-table.ts'
import { buildOperations } from '../../../server/src/operations.ts'
import { describeKinds, type Parameter } from './kinds-of-messages.ts'
import { mergeSchemas } from './merge-schemas.ts'
import { preciseMembers, preciseShown } from './precise-schemas.ts'

/** An argument of the path, in its place. */
interface PathArgument {
  /** `phoneNumberId` */
  readonly name: string
  readonly example: string
}

/** A row of the table as a method of the client. */
export interface Method {
  readonly row: Row
  /** The vocabulary that alone has it. */
  readonly onlyIn?: VocabularyName
  /** `phoneNumbers`: the member of the client. */
  readonly group: string
  /** `readInfo`: the method of the group. */
  readonly name: string
  /** `PhoneNumbersReadInfo`: begins the names of its types. */
  readonly typeName: string
  /** With `{}` for each argument and `{product}` for the product's name; without the version. */
  readonly path: string
  readonly pathArguments: readonly PathArgument[]
  readonly parameters: readonly Parameter[]
  /** The parameters as a union, where one of them says which others there are. */
  readonly kinds?: JsonSchema
  /** Parameters that are sent as headers. */
  readonly headers: readonly string[]
  /** Whether the client fills in `messaging_product`. */
  readonly hasProduct: boolean
  /** Whether a key makes it safe to send it again. */
  readonly hasKey: boolean
  readonly result: ResultKind
  readonly output: JsonSchema | undefined
}

/** Headers that are options of a request, not parameters. */
const keyHeader = 'idempotency-key'
const optionHeaders = [keyHeader, 'last-event-id']

/** Every row as a method, in the order of the table; what differs between the vocabularies is in one type. */
export function describeMethods(): Method[] {
  const all = vocabularyNames.map(describeIn)
  const byName = Map.groupBy(all.flat(), ({ name }) => name)
  return [...byName.values()].map(([one, other]) => toMethod(one as Described, other))
}

interface Described {
  readonly name: string
  readonly vocabulary: VocabularyName
  readonly row: Row
  readonly path: string
  readonly input: JsonSchema
  readonly output: JsonSchema | undefined
}

function describeIn(name: VocabularyName): Described[] {
  const vocabulary = chooseVocabulary(name)
  return buildOperations(vocabulary).map((row) => ({
    name: row.name,
    vocabulary: name,
    row,
    path: row.path.replaceAll(vocabulary.product, '{product}'),
    input: toJsonSchema(fullInput(row)),
    output: outputOf(row),
  }))
}

function outputOf(row: Row): JsonSchema | undefined {
  if (isOperation(row)) return toJsonSchema(row.output)
  const json = row.content['application/json']
  return json && toJsonSchema(json)
}

function toMethod(one: Described, other: Described | undefined): Method {
  const { row } = one
  if (!other) return { ...toMethod(one, one), onlyIn: one.vocabulary }
  if (one.path !== other.path) throw new Error(`${row.name} has different paths: ${one.path} and ${other.path}`)
  const input = mergeSchemas(one.input, other.input)
  const required = (input['required'] ?? []) as string[]
  const inPath = pathMembersOf(row)
  const properties = Object.entries(input['properties'] as Record<string, JsonSchema>).map(([name, schema]) => {
    const precise = preciseMembers[row.name]?.[name]
    return [name, precise ? describeMember(toJsonSchema(precise), schema) : schema] as const
  })
  const parameters = properties
    .filter(([name, schema]) => !inPath.includes(name) && !optionHeaders.includes(name) && isOffered(schema))
    .map(([name, schema]) => ({ name, schema, required: required.includes(name) && name !== 'messaging_product' }))
  const kinds = describeKinds(row.name, parameters)
  const [prefix = ''] = row.name.split('.')
  return {
    row,
    ...nameMethod(row.name),
    typeName: writeTypeName(row.name.replace(prefix, renameGroup(prefix))),
    path: writePath(one),
    pathArguments: describePath(row),
    parameters,
    ...(kinds && { kinds }),
    headers: (row.headers ?? []).filter((name) => !optionHeaders.includes(name)),
    hasProduct: properties.some(([name]) => name === 'messaging_product'),
    hasKey: row.headers?.includes(keyHeader) ?? false,
    result: resultOf(row),
    output: one.output && other.output && makePrecise(mergeSchemas(one.output, other.output)),
  }
}

/** The description of a member is for the member, that of its type for the type. */
function describeMember(precise: JsonSchema, { description }: JsonSchema): JsonSchema {
  return { ...precise, description, 'x-of-type': precise['description'] }
}

/** Parameters that are only there to be refused are none of the client. */
function isOffered(schema: JsonSchema): boolean {
  return !(refusedKeyword in schema)
}

function makePrecise(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, title } = schema
  const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, member]) => {
    const precise = preciseShown[String(title)]?.[name]
    return [name, precise ? toJsonSchema(precise) : makePrecise(member)]
  })
  return {
    ...schema,
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(items !== undefined && { items: makePrecise(items as JsonSchema) }),
    ...(anyOf !== undefined && { anyOf: (anyOf as JsonSchema[]).map(makePrecise) }),
  }
}

/** `/{Version}/{Phone-Number-ID}/messages` → `/{}/messages` */
function writePath({ row, path }: Described): string {
  const withoutVersion = path.replace(/^\/\{Version\}/, '')
  // A link is complete as it was received; only where it begins is known.
  if (isLink(row)) return withoutVersion.replace(/\{.*$/, '')
  return withoutVersion.replaceAll(/\{(?!product\})[^{}]+\}/g, '{}')
}

function describePath(row: Row): PathArgument[] {
  if (isLink(row)) return [{ name: 'url', example: '…' }]
  const members = pathMembersOf(row)
  return placeholdersOf(row.path)
    .filter((placeholder) => placeholder !== 'Version')
    .map((placeholder) => ({
      name: toCamelCase(placeholder.replaceAll('-', '_').toLowerCase()),
      example: members.includes(placeholder)
        ? String(row.examples.input?.[placeholder] ?? '…')
        : exampleIdOf(describeRow(row)),
    }))
}
