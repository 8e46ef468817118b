import type { Row } from '../../../server/src/graph/operation.ts'
import { refusedKeyword } from '../../../server/src/graph/schemas.ts'
import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import { exampleIdOf } from '../../../server/src/http/openapi/arguments.ts'
import {
  type ClientCall,
  isLink,
  listCalls,
  type ResultKind,
  resultOf,
  toCamelCase,
} from '../../../server/src/http/openapi/client-methods.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { describeRow } from '../../../server/src/http/openapi/rows.ts'
import { toJsonSchema, writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { fullInput, isOperation, pathMembersOf, placeholdersOf } from '../../../server/src/http/route-table.ts'
import { buildOperations } from '../../../server/src/operations.ts'
import { describeKinds, type Parameter, requireOne } from './kinds-of-messages.ts'
import { describePrecisely, type PreciseSchemas } from './precise-schemas.ts'

/** An argument of the path, in its place. */
interface PathArgument {
  /** `phoneNumberId` */
  readonly name: string
  readonly example: string
}

/** An argument that is sent as a member. */
interface MemberArgument {
  /** `messageId` */
  readonly name: string
  readonly member: string
}

/** A method of the client: a row of the table, or one of the things that a row does. */
export interface Method {
  readonly row: Row
  readonly sentence: string
  /** `gateway.messages`: the member of the client. */
  readonly resource: string
  /** `write`: the method of the resource. */
  readonly name: string
  /** `GatewayMessagesWrite`: begins the names of its types. */
  readonly typeName: string
  /** With `{}` for each argument and `{product}` for the product's name; without the version. */
  readonly path: string
  readonly pathArguments: readonly PathArgument[]
  /** Members of the input that are arguments of their own. */
  readonly memberArguments: readonly MemberArgument[]
  /** What is sent beside the parameters. */
  readonly fixed: Readonly<Record<string, string>>
  /** The values of an example. */
  readonly example: Readonly<Record<string, unknown>>
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

/** Every method that a vocabulary has, in the order of the table. */
export function describeMethods(vocabulary: Vocabulary): Method[] {
  return buildOperations(vocabulary).flatMap((row) =>
    listCalls(row.name).map((call) => toMethod(call, row, vocabulary)),
  )
}

function outputOf(row: Row): JsonSchema | undefined {
  if (isOperation(row)) return toJsonSchema(row.output)
  const json = row.content['application/json']
  return json && toJsonSchema(json)
}

function toMethod(call: ClientCall, row: Row, vocabulary: Vocabulary): Method {
  const input = toJsonSchema(fullInput(row))
  const required = [...((input['required'] ?? []) as string[]), ...(call.needs ?? [])]
  const inPath = pathMembersOf(row)
  const known = describePrecisely(vocabulary)
  const properties = Object.entries(input['properties'] as Record<string, JsonSchema>).map(([name, schema]) => {
    const precise = known.members[row.name]?.[name]
    return [name, precise ? describeMember(toJsonSchema(precise), schema) : schema] as const
  })
  const all = properties
    .filter(([name, schema]) => !inPath.includes(name) && !optionHeaders.includes(name) && isOffered(schema))
    .map(([name, schema]) => ({ name, schema, required: required.includes(name) && name !== 'messaging_product' }))
  const kinds = describeKinds(`${call.resource}.${call.name}`, all, vocabulary)
  const parameters = call.takes && !kinds ? all.filter(({ name }) => call.takes?.includes(name)) : all
  const union = kinds ?? (call.needsOne && requireOne(parameters, call.needsOne))
  const shown = outputOf(row)
  const output = shown && makePrecise(shown, known.shown)
  return {
    row,
    sentence: call.sentence ?? row.sentence,
    resource: call.resource,
    name: call.name,
    typeName: writeTypeName(`${call.resource}.${call.name}`),
    path: writePath(row, vocabulary),
    pathArguments: describePath(row),
    memberArguments: (call.args ?? []).map((member) => ({ member, name: toCamelCase(member) })),
    fixed: call.fixed ?? {},
    example: call.example ?? row.examples.input ?? {},
    parameters,
    ...(union && { kinds: union }),
    headers: (row.headers ?? []).filter((name) => !optionHeaders.includes(name)),
    hasProduct: properties.some(([name]) => name === 'messaging_product'),
    hasKey: row.headers?.includes(keyHeader) ?? false,
    result: resultOf(row),
    output: output && call.gives ? chooseOutput(row, output, call.gives) : output,
  }
}

/** The response of a row that may respond with more than a method of it gives. */
function chooseOutput(row: Row, output: JsonSchema, members: readonly string[]): JsonSchema {
  const variants = (output['anyOf'] ?? [output]) as JsonSchema[]
  const namesOf = ({ properties }: JsonSchema) => Object.keys(properties as object)
  const found = variants.find((one) => members.every((name) => namesOf(one).includes(name)))
  if (!found) throw new Error(`${row.name} never gives ${members.join()}`)
  const properties = Object.entries(found['properties'] as object).filter(([name]) => members.includes(name))
  return { ...found, properties: Object.fromEntries(properties), required: members }
}

/** The description of a member is for the member, that of its type for the type. */
function describeMember(precise: JsonSchema, { description }: JsonSchema): JsonSchema {
  return { ...precise, description, 'x-of-type': precise['description'] }
}

/** Parameters that are only there to be refused are none of the client. */
function isOffered(schema: JsonSchema): boolean {
  return !(refusedKeyword in schema)
}

function makePrecise(schema: JsonSchema, shown: PreciseSchemas): JsonSchema {
  const { properties, items, anyOf, title } = schema
  const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, member]) => {
    const precise = shown[String(title)]?.[name]
    return [name, precise ? toJsonSchema(precise) : makePrecise(member, shown)]
  })
  return {
    ...schema,
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(items !== undefined && { items: makePrecise(items as JsonSchema, shown) }),
    ...(anyOf !== undefined && { anyOf: (anyOf as JsonSchema[]).map((one) => makePrecise(one, shown)) }),
  }
}

/** `/{Version}/{Phone-Number-ID}/messages` → `/{}/messages` */
function writePath(row: Row, { product }: Vocabulary): string {
  const withoutVersion = row.path.replaceAll(product, '{product}').replace(/^\/\{Version\}/, '')
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
