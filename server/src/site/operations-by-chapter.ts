import type { SampleCall } from '../../../console/shared/samples.js'
import { YieldingTask } from '../base/work/yielding-task.ts'
import type { Preparation, RowExamples } from '../graph/examples.ts'
import type { Row } from '../graph/operation.ts'
import { isLink, listCalls, resultOf } from '../http/openapi/client-methods.ts'
import type { JsonSchema, OpenApiDocument, OperationObject, Parameter, Response } from '../http/openapi/document.ts'
import { doorOf } from '../http/openapi/doors.ts'
import { buildOpenApi, type OpenApiOptions } from '../http/openapi/openapi.ts'
import { fullInput, isOperation, placeholdersOf } from '../http/route-table.ts'
import { chapters } from '../operations.ts'

/** Whose token a request carries; nobody's when none is needed. */
export type Who = 'owner' | 'partner' | 'spare' | 'gateway' | 'operator' | 'nobody'

/** An operation in the reference: with the path as the specification writes it, and one request that works. */
export interface ReferenceOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly sentence: string
  /** The required scopes and the rate limits. */
  readonly terms: string
  readonly who: Who
  /** The parameters in the path, the query and the headers. */
  readonly parameters: readonly ReferenceArgument[]
  /** The JSON body. */
  readonly body: { readonly members: readonly ReferenceArgument[]; readonly example: object } | undefined
  /** A body that is not JSON, in base64. */
  readonly bytes: string | undefined
  readonly first: readonly Preparation[]
  /** What else the request needs, as a sentence. */
  readonly needs: string | undefined
  readonly response: unknown
  readonly errors: readonly string[]
  readonly sdk: SampleCall
}

export interface ReferenceArgument {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'body'
  readonly required: boolean
  readonly description: string | undefined
  readonly schema: JsonSchema
  readonly example: unknown
}

export interface ReferenceChapter {
  readonly name: string
  readonly title: string
  readonly operations: readonly ReferenceOperation[]
}

/**
 * Every operation by chapter, in the specification's order, followed by the other doors for programs. Describing all of them takes a
 * while, so other work runs in between.
 */
export async function buildReference(options: OpenApiOptions): Promise<ReferenceChapter[]> {
  const { operations } = options
  const task = new YieldingTask()
  const described: { readonly row: Row; readonly operation: ReferenceOperation }[] = []
  for (const row of operations.filter(isOfBusinesses)) {
    described.push({ row, operation: describeRow(row, options) })
    await task.yieldIfDue()
  }
  const byChapter = Map.groupBy(described, ({ row }) => row.chapter)
  const own = chapters.map(({ name, title }) => ({
    name,
    title,
    operations: (byChapter.get(name) ?? []).map(({ operation }) => operation),
  }))
  const rows = new Map(operations.map((row) => [row.name as string, row]))
  const linked = new Set<string>(operations.filter(({ door }) => door === 'edge_link').map(({ name }) => name))
  const others: ReferenceChapter[] = []
  for (const name of ['gateway', 'operator'] as const) {
    const document = buildOpenApi({ ...options, document: name })
    await task.yieldIfDue()
    // Pages, pictures and files are opened by links in responses, not called.
    for (const tag of document.tags.filter((one) => !tagsOfPages.includes(one.name))) {
      const operations = listOperations(document)
        .filter(({ operation }) => operation.tags.includes(tag.name) && !linked.has(operation.operationId))
        .map((found) => describe(document, found, rows.get(found.operation.operationId), options))
      others.push({ name: tag.name, title: tag['x-displayName'], operations })
    }
  }
  return [...own, ...others].filter((chapter) => chapter.operations.length > 0)
}

/** Of what a browser opens. */
const tagsOfPages = ['public', 'sign_up']

/** What apps call, and no page that a browser opens. */
function isOfBusinesses(row: Row): boolean {
  return doorOf(row).document === 'business' && (isOperation(row) || !('text/html' in row.content))
}

/** A document of this row alone: its path and parameters are not merged with those of others. */
function describeRow(row: Row, options: OpenApiOptions): ReferenceOperation {
  const document = buildOpenApi({ ...options, operations: [row] })
  const [described] = listOperations(document)
  if (!described) throw new Error(`${row.name} is missing in its own document`)
  return describe(document, described, row, options)
}

interface Described {
  readonly path: string
  readonly method: string
  readonly operation: OperationObject
}

function listOperations(document: OpenApiDocument): Described[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function describe(
  document: OpenApiDocument,
  { path, method, operation }: Described,
  row: Row | undefined,
  { versions }: OpenApiOptions,
): ReferenceOperation {
  const name = operation.operationId
  if (!row) throw new Error(`${name} is no row of the table`)
  const examples: Partial<RowExamples> = row.examples
  const taken = new Set(examples.first?.map(({ take }) => take?.as))
  const parameters = operation.parameters.map((given) => {
    const parameter = resolve(document, given) as Parameter
    const shown = parameter.content?.['application/json'] ?? parameter
    return {
      name: parameter.name,
      in: parameter.in,
      required: parameter.required ?? false,
      description: parameter.description,
      schema: resolveAll(document, (shown.schema ?? {}) as JsonSchema),
      // A value from another response is unknown until that request is sent.
      example: taken.has(parameter.name) ? undefined : shown.examples ? shown.examples[name]?.value : parameter.example,
    }
  })
  const response = resolve(document, operation.responses['200'] ?? {}) as Response
  const who = chooseToken(document, operation, examples)
  return {
    name,
    method,
    path,
    sentence: row.sentence,
    terms: operation.description,
    who,
    parameters,
    body: describeBody(document, operation, taken),
    bytes: examples.bytes,
    first: examples.first ?? [],
    needs: examples.needs,
    response: response.content['application/json']?.examples?.[name]?.value,
    errors: Object.keys(operation.responses).filter((status) => status !== '200'),
    sdk: describeCall(row, who, versions.newest),
  }
}

/** How the client calls a row. */
function describeCall(row: Row, who: Who, version: string): SampleCall {
  const { properties } = fullInput(row)
  const inPath = placeholdersOf(row.path)
  return {
    calls: listCalls(row.name).map(({ resource, name, fixed, args }) => ({
      call: `${resource}.${name}`,
      ...(fixed && { fixed }),
      ...(args && { args }),
    })),
    args: inPath.filter((placeholder) => placeholder !== 'Version'),
    result: resultOf(row),
    link: isLink(row),
    params: Object.keys(properties).some((member) => !inPath.includes(member)),
    product: 'messaging_product' in properties,
    token: doorOf(row).document === 'business' && who !== 'nobody' ? 'token' : clientTokens[who],
    version,
  }
}

/** The options of the client in which it gets tokens. */
const clientTokens: Readonly<Record<Who, SampleCall['token']>> = {
  owner: 'token',
  partner: 'token',
  spare: 'token',
  gateway: 'gatewayToken',
  operator: 'operatorToken',
  nobody: undefined,
}

function chooseToken({ security }: OpenApiDocument, operation: OperationObject, { by }: Partial<RowExamples>): Who {
  if ((operation.security ?? security).length === 0) return 'nobody'
  const permission = operation['x-operations'][0]?.permission ?? []
  for (const scope of ['gateway', 'operator'] as const) if (permission.includes(scope)) return scope
  return by ?? 'owner'
}

function describeBody(document: OpenApiDocument, operation: OperationObject, taken: ReadonlySet<unknown>) {
  const content = operation.requestBody?.content['application/json']
  if (!content) return undefined
  const { properties = {}, required = [] } = resolveAll(document, content.schema) as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  const example = { ...(content.examples?.[operation.operationId]?.value as Record<string, unknown> | undefined) }
  for (const name of Object.keys(example)) {
    if (taken.has(name)) example[name] = ''
    if (taken.has(`${name}/0`)) example[name] = ['']
  }
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'body' as const,
    required: required.includes(name),
    description: schema['description'] as string | undefined,
    schema,
    example: example[name],
  }))
  return { members, example }
}

function resolve(document: OpenApiDocument, value: object): object {
  if (!('$ref' in value)) return value
  let found: unknown = document
  for (const name of String(value.$ref).split('/').slice(1)) found = (found as Record<string, unknown>)[name]
  return found as object
}

/** A schema without references. None of ours refers to itself. */
function resolveAll(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (_key, value) =>
      typeof value === 'object' && value !== null ? resolve(document, value) : value,
    ),
  )
}
