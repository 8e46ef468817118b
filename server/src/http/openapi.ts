import { writePermission } from '../auth/scopes.ts'
import { type ErrorStatus, errorStatuses } from '../graph/errors.ts'
import { chapters, type Operation } from '../graph/operation.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { formatRate, type Rate, type RateClassName, rateClasses } from '../limits/classes.ts'
import {
  anyOf,
  describeBody,
  describeHeaderMembers,
  describeInputs,
  describeNeutralId,
  describeNodeId,
  describePathMembers,
  describeQuery,
  describeVersion,
  isRaw,
} from './openapi/arguments.ts'
import type {
  Components,
  OpenApiDocument,
  OperationObject,
  Parameter,
  PathItem,
  Reference,
  Response,
  SecurityScheme,
} from './openapi/document.ts'
import { refTo } from './openapi/document.ts'
import { describeErrorResponse, describeErrorSchema, errorResponseName, errorSchemaName } from './openapi/errors.ts'
import { explainExample } from './openapi/examples.ts'
import { describeHeaders, headersOf } from './openapi/headers.ts'
import { type DescribedRow, findPlaces, neutralPlaceholder, type Place } from './openapi/rows.ts'
import { toJsonSchema, writeTypeName } from './openapi/schemas.ts'

export interface OpenApiOptions {
  readonly operations: readonly Operation[]
  readonly words: Vocabulary
  /** Oldest first. */
  readonly versions: readonly string[]
  /** The limits that hold; left out: the defaults. */
  readonly rates?: Readonly<Record<RateClassName, readonly Rate[]>>
  readonly serverUrl: string
  readonly packageVersion: string
}

/** The table of operations as an OpenAPI 3.1 document. */
export function buildOpenApi(options: OpenApiOptions): OpenApiDocument {
  const { operations, words, serverUrl, packageVersion } = options
  const places = findPlaces(operations)
  const used = new Set(operations.map(({ chapter }) => chapter))
  const securitySchemes = describeSecurity(words)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Switchboard',
      summary: 'The management API of a self-hosted business messaging platform.',
      description: introduce(words),
      version: packageVersion,
    },
    servers: [{ url: serverUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    tags: Object.entries(chapters)
      .filter(([chapter]) => used.has(chapter as Operation['chapter']))
      .map(([chapter, title]) => ({ name: chapter, 'x-displayName': title })),
    paths: Object.fromEntries(places.map((place) => [place.path, describePlace(place, options)])),
    components: { securitySchemes, ...describeComponents(places, options) },
  }
}

function introduce(words: Vocabulary): string {
  return [
    `A business account owns phone numbers; through this API an app reads and changes both, and what belongs to them. Every path starts with the version and the id of a node: an account, a phone number, a business.`,
    `Every request carries an access token${words.habits.token_in_query ? ', in the header `Authorization` or as the argument `access_token`' : ' in the header `Authorization`'}. An id that the token may not see answers 404, like one that does not exist.`,
    'Errors have one form. On 429, and wherever `is_transient` is true, try again with growing pauses.',
  ].join('\n\n')
}

function describeSecurity(words: Vocabulary): Record<string, SecurityScheme> {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The access token of an app: `./switchboard token create --app ID` prints a new one.',
    },
    ...(words.habits.token_in_query && {
      access_token: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same token, in the query.' },
    }),
  }
}

function describePlace(place: Place, options: OpenApiOptions): PathItem {
  const byMethod = Map.groupBy(place.rows, ({ operation }) => operation.method)
  return Object.fromEntries(
    [...byMethod].map(([method, rows]) => [method.toLowerCase(), describeOperation(place, rows, options)]),
  )
}

function describeOperation(place: Place, rows: readonly DescribedRow[], options: OpenApiOptions): OperationObject {
  const { words } = options
  const [{ operation: first }] = rows as [DescribedRow]
  const single = rows.length === 1
  const requestBody = hasBody(rows) ? describeBody(rows) : undefined
  const statuses = errorStatusesOf(rows)
  return {
    operationId: single ? first.name : nameMerged(place, first.method),
    tags: [...new Set(rows.map(({ operation }) => operation.chapter))],
    summary: single ? withoutStop(first.sentence) : summarizeMerged(first.method, rows),
    description: single ? describeTerms(first, options) : describeMerged(rows, options),
    parameters: [
      refTo('parameters', 'Version'),
      describeNodeOf(place, rows),
      ...describePathMembers(rows),
      ...describeHeaderMembers(rows),
      ...(first.method === 'GET' ? describeQuery(rows) : []),
    ],
    ...(requestBody && { requestBody }),
    responses: {
      200: describeSuccess(rows, words),
      ...Object.fromEntries(statuses.map((status) => [status, errorReference(status, rows, words)])),
    },
    'x-operations': rows.map(({ operation, kind }) => ({
      name: operation.name,
      node: kind.replaceAll(' ', '_'),
      sentence: operation.sentence,
      permission: writePermission(operation.permission, words),
      rate_class: operation.rateClass ?? null,
    })),
  }
}

/** The id of a node is the same component wherever its example is the same. Without a neutral placeholder it is one row's. */
function describeNodeOf({ placeholder }: Place, rows: readonly DescribedRow[]): Parameter | Reference {
  if (placeholder === neutralPlaceholder) return describeNeutralId(rows)
  const [row] = rows as [DescribedRow]
  return row.operation.examples.node === undefined
    ? refTo('parameters', placeholder)
    : describeNodeId(placeholder, [row])
}

/** Whether a route takes a body. */
function hasBody(rows: readonly DescribedRow[]): boolean {
  return rows.some((row) => row.operation.method !== 'GET' && (row.members.length > 0 || isRaw(row)))
}

/** `node.get`, `node.post_groups`: rows that share a path have no name of their own together. */
function nameMerged({ path }: Place, method: string): string {
  const edges = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
  return `node.${[method.toLowerCase(), ...edges].join('_')}`
}

const verbs = { GET: 'Reads', POST: 'Changes', DELETE: 'Deletes' } as const

function summarizeMerged(method: Operation['method'], rows: readonly DescribedRow[]): string {
  return `${verbs[method]} a node: ${rows.map(({ kind }) => kind).join(', ')}`
}

function describeMerged(rows: readonly DescribedRow[], options: OpenApiOptions): string {
  const parts = rows.map(({ operation, placeholder }) => {
    const { sentence, fields, name } = operation
    const shown = fields ? ` Fields: ${fields.available.map((field) => `\`${field}\``).join(', ')}.` : ''
    const limits = operation.rateClass === undefined ? '' : ` ${describeLimits([operation.rateClass], options)}`
    return `- \`{${placeholder}}\` (\`${name}\`): ${sentence}${shown} ${describePermission(operation, options)}${limits}${addExampleNote(operation)}`
  })
  return [
    'The kind of node that the id names decides what happens:',
    '',
    ...parts,
    '',
    describeLimits(['platform'], options),
  ].join('\n')
}

/** What a caller needs and what it is counted under. */
function describeTerms(operation: Operation, options: OpenApiOptions): string {
  const classes = ['platform', ...(operation.rateClass === undefined ? [] : [operation.rateClass])]
  return `${describePermission(operation, options)} ${describeLimits(classes, options)}${addExampleNote(operation)}`
}

function addExampleNote({ examples }: Operation): string {
  const note = explainExample(examples)
  return note === undefined ? '' : ` ${note}`
}

function describePermission({ permission }: Operation, { words }: OpenApiOptions): string {
  const scopes = writePermission(permission, words).map((scope) => `\`${scope}\``)
  return `Needs the permission ${scopes.join(' or ')}.`
}

function describeLimits(classes: readonly string[], { rates }: OpenApiOptions): string {
  const limits = (classes as RateClassName[]).map((name) => {
    const { sentence, rates: defaults } = rateClasses[name]
    const shown = (rates?.[name] ?? defaults).map(formatRate).join(' and ')
    return `\`${name}\` (${shown}; ${lowerFirst(withoutStop(sentence))})`
  })
  return `Limited by ${limits.join(' and ')}.`
}

function describeSuccess(rows: readonly DescribedRow[], words: Vocabulary): Response {
  const examples = rows.map(({ operation: { name, sentence, examples } }) => [
    name,
    { summary: sentence, value: examples.output },
  ])
  return {
    description: rows.length === 1 ? 'Done as asked.' : 'Done as asked; the form depends on the kind of node.',
    headers: headersOf(200, words),
    content: {
      'application/json': { schema: anyOf(rows.map(outputName)), examples: Object.fromEntries(examples) },
    },
  }
}

function errorStatusesOf(rows: readonly DescribedRow[]): ErrorStatus[] {
  return errorStatuses.filter((status) =>
    rows.some(({ operation: { errors } }) => (errors ?? errorStatuses).includes(status)),
  )
}

/** One route answers its errors in one form, before it is known which of its rows is meant. */
function isBrief([first]: readonly DescribedRow[]): boolean {
  return first?.operation.briefErrors ?? false
}

function errorReference(status: ErrorStatus, rows: readonly DescribedRow[], words: Vocabulary): Reference {
  return refTo('responses', errorResponseName(status, isBrief(rows), words))
}

function outputName({ operation }: DescribedRow): string {
  return `${writeTypeName(operation.name)}Output`
}

/** Everything that operations refer to, and nothing that none does. */
function describeComponents(
  places: readonly Place[],
  { words, versions }: OpenApiOptions,
): Omit<Components, 'securitySchemes'> {
  const rows = places.flatMap((place) => place.rows)
  const routes = places.flatMap((place) => [...Map.groupBy(place.rows, ({ operation }) => operation.method).values()])
  const named = places.filter(({ placeholder }) => placeholder !== neutralPlaceholder)
  const byPlaceholder = Map.groupBy(
    named.flatMap((place) => place.rows).filter(({ operation }) => operation.examples.node === undefined),
    ({ placeholder }) => placeholder,
  )
  const responses = routes.flatMap((route) =>
    errorStatusesOf(route).map((status) => {
      const brief = isBrief(route)
      return [errorResponseName(status, brief, words), describeErrorResponse(status, brief, words)] as const
    }),
  )
  const inputs = routes
    .filter((route) => hasBody(route))
    .flatMap((route) => route.filter((row) => !isRaw(row)).map(describeInputs))
  const outputs = rows.map((row) => ({
    [outputName(row)]: { title: row.operation.name, ...toJsonSchema(row.operation.output) },
  }))
  const briefs = [...new Set(routes.map(isBrief))]
  return {
    parameters: {
      Version: describeVersion(versions, words),
      ...Object.fromEntries(
        [...byPlaceholder].map(([name, ofName]) => [name, describeNodeId(name, ofName as [DescribedRow])]),
      ),
    },
    headers: describeHeaders(words),
    responses: Object.fromEntries(responses),
    schemas: {
      ...Object.fromEntries(briefs.map((brief) => [errorSchemaName(brief), describeErrorSchema(brief, words)])),
      ...Object.assign({}, ...inputs, ...outputs),
    },
  }
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
