import { Type } from 'typebox'
import { type ErrorStatus, errorStatuses } from '../../graph/graph-error.ts'
import type { Row } from '../../graph/operation.ts'
import type { ReplyContent } from '../../graph/reply.ts'
import type { ServedVersions } from '../../graph/versions.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { formatRate, type Rate, type RateClassName, rateClasses } from '../../limits/classes.ts'
import { chapters } from '../../operations.ts'
import { isOperation, versionOf } from '../route-table.ts'
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
} from './arguments.ts'
import type {
  Components,
  OpenApiDocument,
  OperationObject,
  Parameter,
  PathItem,
  Reference,
  Response,
  Tag,
} from './document.ts'
import { type JsonSchema, refTo } from './document.ts'
import {
  type DocumentName,
  describeNeed,
  describeSecurity,
  doorOf,
  scopesOf,
  securityOf,
  securityOfAll,
  tagOf,
  titles,
} from './doors.ts'
import {
  describeErrorResponse,
  describeErrorSchema,
  errorResponseName,
  errorSchemaName,
  shownStatuses,
} from './errors.ts'
import { explainExample } from './examples.ts'
import { describeHeaders, headersOf } from './headers.ts'
import { type DescribedRow, groupByPath, neutralPlaceholder, type PathRows } from './rows.ts'
import { toJsonSchema, writeTypeName } from './schemas.ts'

export interface OpenApiOptions {
  /** The table; a document describes the rows whose doors belong to it. */
  readonly operations: readonly Row[]
  /** By default that of the business API. */
  readonly document?: DocumentName
  readonly vocabulary: Vocabulary
  /** Oldest first. */
  readonly versions: ServedVersions
  /** The limits in force; by default the built-in ones. */
  readonly rates?: Readonly<Record<RateClassName, readonly Rate[]>>
  readonly serverUrl: string
  readonly packageVersion: string
}

/** The rows of some doors as an OpenAPI 3.1 document. */
export function buildOpenApi(options: OpenApiOptions): OpenApiDocument {
  const { vocabulary, serverUrl, packageVersion, document = 'business' } = options
  const rows = options.operations.filter((row) => doorOf(row).document === document)
  const paths = groupByPath(rows)
  const securitySchemes = describeSecurity(document, vocabulary)
  return {
    openapi: '3.1.1',
    info: { ...introductions[document](vocabulary), version: packageVersion },
    servers: [{ url: serverUrl }],
    security: securityOfAll(securitySchemes),
    tags: listTags(document, rows),
    paths: Object.fromEntries(paths.map((pathRows) => [pathRows.path, describePath(pathRows, options)])),
    components: { securitySchemes, ...describeComponents(paths, options) },
  }
}

function listTags(document: DocumentName, rows: readonly Row[]): Tag[] {
  const used = new Set(rows.map(tagOf))
  const tags: readonly (readonly [string, string])[] =
    document === 'business' ? chapters.map(({ name, title }) => [name, title]) : Object.entries(titles[document])
  return tags.filter(([name]) => used.has(name)).map(([name, title]) => ({ name, 'x-displayName': title }))
}

type Introduction = Omit<OpenApiDocument['info'], 'version'>

const introductions: Readonly<Record<DocumentName, (vocabulary: Vocabulary) => Introduction>> = {
  business: (vocabulary) => ({
    title: 'Switchboard',
    summary: 'The management API of a self-hosted business messaging platform.',
    description: [
      `A business account owns phone numbers; through this API an app reads and changes both, and what belongs to them. Every path starts with the version and the id of a node: an account, a phone number, a business.`,
      `Every request carries an access token${vocabulary.habits.token_in_query ? ', in the header `Authorization` or as the argument `access_token`' : ' in the header `Authorization`'}. An id that the token may not see answers 404, like one that does not exist.`,
      'Errors have one form. On 429, and wherever `is_transient` is true, try again with exponential backoff.',
    ].join('\n\n'),
  }),
  gateway: () => ({
    title: 'Switchboard gateway',
    summary: "The users' half of the platform.",
    description:
      "The network's edge acts here for the users' phones: it grants call permissions, calls, answers, and joins groups, and hands in what users write. So do tests and virtual phones. Every request carries a token with the scope `gateway`; events may carry the signature of an app instead, and what a link or a picture opens is open to anyone.",
  }),
  operator: () => ({
    title: 'Switchboard for operators',
    summary: 'What whoever runs the service sees and does.',
    description:
      'The state of the service and of every tenant: nodes, tokens, secrets of apps, webhooks with every try, subscribers, and who did what. Every request carries a token with the scope `operator`; one that is limited to businesses or accounts sees those alone. Every write is in the audit log.',
  }),
}

function describePath(pathRows: PathRows, options: OpenApiOptions): PathItem {
  const byMethod = Map.groupBy(pathRows.rows, ({ operation }) => operation.method)
  return Object.fromEntries(
    [...byMethod].map(([method, rows]) => [method.toLowerCase(), describeOperation(pathRows, rows, options)]),
  )
}

function describeOperation(
  pathRows: PathRows,
  rows: readonly DescribedRow[],
  options: OpenApiOptions,
): OperationObject {
  const { vocabulary } = options
  const [{ operation: first }] = rows as [DescribedRow]
  const single = rows.length === 1
  const requestBody = hasBody(rows) ? describeBody(rows) : undefined
  const statuses = errorStatusesOf(rows, vocabulary)
  const security = securityOf(first, vocabulary)
  return {
    operationId: single ? first.name : nameMerged(pathRows, first.method),
    tags: [...new Set(rows.map(({ operation }) => tagOf(operation)))],
    summary: single ? withoutStop(first.sentence) : summarizeMerged(first.method, rows),
    description: single ? describeTerms(first, options) : describeMerged(rows, options),
    ...(security && { security }),
    parameters: [
      ...(versionOf(first) === 'required' ? [refTo('parameters', 'Version')] : []),
      ...(pathRows.placeholder === undefined ? [] : [describeNodeOf(pathRows.placeholder, rows, vocabulary)]),
      ...describePathMembers(rows),
      ...describeHeaderMembers(rows),
      ...(first.method === 'GET' ? describeQuery(rows) : []),
    ],
    ...(requestBody && { requestBody }),
    responses: {
      200: describeSuccess(rows, vocabulary),
      ...Object.fromEntries(statuses.map((status) => [status, describeError(status, rows, vocabulary)])),
      ...describeReplies(first, vocabulary),
    },
    'x-operations': rows.map(({ operation, kind }) => ({
      name: operation.name,
      node: kind.replaceAll(' ', '_'),
      sentence: operation.sentence,
      permission: scopesOf(operation, vocabulary),
      rate_class: rateClassOf(operation) ?? null,
    })),
  }
}

/** Rows with the same example share the component of a node's id. Without a neutral placeholder it belongs to one row. */
function describeNodeOf(
  placeholder: string,
  rows: readonly DescribedRow[],
  vocabulary: Vocabulary,
): Parameter | Reference {
  if (placeholder === neutralPlaceholder) return describeNeutralId(rows, vocabulary)
  const [row] = rows as [DescribedRow]
  return row.operation.examples.node === undefined
    ? refTo('parameters', placeholder)
    : describeNodeId(placeholder, [row], vocabulary)
}

/** Whether a route takes a body. */
function hasBody(rows: readonly DescribedRow[]): boolean {
  return rows.some((row) => row.operation.method !== 'GET' && (row.members.length > 0 || isRaw(row)))
}

/** `node.get`, `node.post_groups`: rows that share a path have no common name. */
function nameMerged({ path }: PathRows, method: string): string {
  const edges = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
  return `node.${[method.toLowerCase(), ...edges].join('_')}`
}

const verbs = { GET: 'Reads', POST: 'Changes', PUT: 'Replaces', DELETE: 'Deletes' } as const

function summarizeMerged(method: Row['method'], rows: readonly DescribedRow[]): string {
  return `${verbs[method]} a node: ${rows.map(({ kind }) => kind).join(', ')}`
}

function describeMerged(rows: readonly DescribedRow[], options: OpenApiOptions): string {
  const parts = rows.map(({ operation, placeholder }) => {
    const { sentence, fields, name } = operation
    const shown = fields ? ` Fields: ${fields.available.map((field) => `\`${field}\``).join(', ')}.` : ''
    const rateClass = rateClassOf(operation)
    const limits = rateClass === undefined ? '' : ` ${describeLimits([rateClass], options)}`
    return `- \`{${placeholder}}\` (\`${name}\`): ${sentence}${shown} ${describeNeed(operation, options.vocabulary)}${limits}${addExampleNote(operation)}`
  })
  return [
    'The kind of node that the id names decides what happens:',
    '',
    ...parts,
    '',
    describeLimits(['platform'], options),
  ].join('\n')
}

/** The required scopes and the rate limits of an operation. */
function describeTerms(operation: Row, options: OpenApiOptions): string {
  const own = rateClassOf(operation)
  const limits = doorOf(operation).counted
    ? ` ${describeLimits(['platform', ...(own === undefined ? [] : [own])], options)}`
    : ''
  const version =
    versionOf(operation) === 'optional'
      ? ` A version may stand before the path: \`/${options.versions.newest}${operation.path}\`.`
      : ''
  return `${describeNeed(operation, options.vocabulary)}${version}${limits}${addExampleNote(operation)}`
}

function rateClassOf(operation: Row): string | undefined {
  return operation.door === 'business' ? operation.rateClass : undefined
}

function addExampleNote({ examples }: Row): string {
  const note = explainExample(examples)
  return note === undefined ? '' : ` ${note}`
}

function describeLimits(classes: readonly string[], { rates }: OpenApiOptions): string {
  const limits = (classes as RateClassName[]).map((name) => {
    const { sentence, rates: defaults } = rateClasses[name]
    const shown = (rates?.[name] ?? defaults).map(formatRate).join(' and ')
    return `\`${name}\` (${shown}; ${lowerFirst(withoutStop(sentence))})`
  })
  return `Limited by ${limits.join(' and ')}.`
}

function describeSuccess(rows: readonly DescribedRow[], vocabulary: Vocabulary): Response {
  const [{ operation: first }] = rows as [DescribedRow]
  const headers = headersOf(200, vocabulary, doorOf(first).counted)
  if (!isOperation(first)) return { description: 'As asked.', headers, content: describeContent(first.content) }
  const examples = rows.map(({ operation: { name, sentence, examples } }) => [
    name,
    { summary: sentence, value: examples.output },
  ])
  return {
    description: rows.length === 1 ? 'Done as asked.' : 'Done as asked; the form depends on the kind of node.',
    headers,
    content: {
      'application/json': { schema: anyOf(rows.map(outputName)), examples: Object.fromEntries(examples) },
    },
  }
}

function describeContent(content: ReplyContent): Response['content'] {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: toJsonSchema(schema) }]))
}

/** The further responses of a row, besides its success and the error envelope. */
function describeReplies(row: Row, vocabulary: Vocabulary): Record<string, Response | Reference> {
  if (isOperation(row)) return row.waits ? { 408: describeLate(vocabulary) } : {}
  const headers = headersOf(200, vocabulary, false)
  const envelope = { schema: refTo('schemas', errorSchemaName(false)) as unknown as JsonSchema }
  return {
    ...(row.repeated && { 304: { description: 'It is as `If-None-Match` says.', headers, content: {} } }),
    ...(row.repeated === 'ranges' && {
      206: { description: 'The range that `Range` asks for.', headers, content: describeContent(row.content) },
      416: {
        description: 'The range begins behind the end.',
        headers,
        content: { 'application/json': envelope },
      },
    }),
    ...(row.missing === 'envelope' && { 404: refTo('responses', errorResponseName(404, false, vocabulary)) }),
    ...(row.missing === 'page' && {
      404: {
        description:
          'Nothing is there, or nothing any more: a page for whoever accepts `text/html`, else the envelope.',
        headers,
        content: { ...describeContent(row.content['text/html'] ? row.content : page), 'application/json': envelope },
      },
    }),
    ...(row.redirects && { 303: { description: 'A redirect to the address in `Location`.', headers, content: {} } }),
    ...(row.unready && { 503: { description: 'Not now.', headers, content: describeContent(row.unready) } }),
  }
}

function describeLate(vocabulary: Vocabulary): Response {
  const envelope = { schema: refTo('schemas', errorSchemaName(false)) as unknown as JsonSchema }
  const headers = headersOf(200, vocabulary, false)
  return { description: 'It did not come in time.', headers, content: { 'application/json': envelope } }
}

const page: ReplyContent = { 'text/html': Type.String({ contentMediaType: 'text/html' }) }

function errorStatusesOf(rows: readonly DescribedRow[], vocabulary: Vocabulary): ErrorStatus[] {
  const listed = errorStatuses.filter((status) =>
    rows.some(({ operation }) => (operation.errors ?? doorOf(operation).errors).includes(status)),
  )
  return shownStatuses(
    listed,
    vocabulary,
    rows.some(({ operation }) => doorOf(operation).counted),
  )
}

/** A route has one error format, because the format is chosen before the row is known. */
function isBrief([first]: readonly DescribedRow[], { habits }: Vocabulary): boolean {
  return !habits.titled_errors && (first?.operation.briefErrors ?? false)
}

/** Where only people come, an error is a page; before the path is known, it is the envelope there too. */
function describeError(
  status: ErrorStatus,
  rows: readonly DescribedRow[],
  vocabulary: Vocabulary,
): Response | Reference {
  if (rows.some(({ operation }) => operation.errorPage)) {
    const { description, headers, content } = describeErrorResponse(status, false, vocabulary, false)
    return { description, headers, content: { ...describeContent(page), ...content } }
  }
  return refTo('responses', errorResponseName(status, isBrief(rows, vocabulary), vocabulary))
}

function outputName({ operation }: DescribedRow): string {
  return `${writeTypeName(operation.name)}Output`
}

/** The components that operations refer to, and no others. */
function describeComponents(
  paths: readonly PathRows[],
  { vocabulary, versions }: OpenApiOptions,
): Omit<Components, 'securitySchemes'> {
  const rows = paths.flatMap((pathRows) => pathRows.rows)
  const routes = paths.flatMap((pathRows) => [
    ...Map.groupBy(pathRows.rows, ({ operation }) => operation.method).values(),
  ])
  const named = paths.filter(({ placeholder }) => placeholder !== neutralPlaceholder)
  const byPlaceholder = Map.groupBy(
    named.flatMap((pathRows) => pathRows.rows).filter(({ operation }) => operation.examples.node === undefined),
    ({ placeholder }) => placeholder,
  )
  const counted = rows.some(({ operation }) => doorOf(operation).counted)
  const responses = routes.flatMap((route) =>
    errorStatusesOf(route, vocabulary).map((status) => {
      const brief = isBrief(route, vocabulary)
      return [
        errorResponseName(status, brief, vocabulary),
        describeErrorResponse(status, brief, vocabulary, counted),
      ] as const
    }),
  )
  const inputs = routes
    .filter((route) => hasBody(route))
    .flatMap((route) => route.filter((row) => !isRaw(row)).map(describeInputs))
  const outputs = rows.flatMap(({ operation, ...row }) =>
    isOperation(operation)
      ? [{ [outputName({ operation, ...row })]: { title: operation.name, ...toJsonSchema(operation.output) } }]
      : [],
  )
  const briefs = [...new Set(routes.map((route) => isBrief(route, vocabulary)))]
  return {
    parameters: {
      ...(rows.some(({ operation }) => versionOf(operation) === 'required') && {
        Version: describeVersion(versions, vocabulary),
      }),
      ...Object.fromEntries(
        [...byPlaceholder].flatMap(([name, ofName]) =>
          name === undefined ? [] : [[name, describeNodeId(name, ofName as [DescribedRow], vocabulary)]],
        ),
      ),
    },
    headers: describeHeaders(vocabulary, counted),
    responses: Object.fromEntries(responses),
    schemas: {
      ...Object.fromEntries(briefs.map((brief) => [errorSchemaName(brief), describeErrorSchema(brief, vocabulary)])),
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
