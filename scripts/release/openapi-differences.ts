// What changed between the OpenAPI documents of two releases.
import { type Change, compareSchemas, type Direction, type Schema } from './schema-differences.ts'

interface Reference {
  readonly $ref?: string
}

interface Parameter extends Reference {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Body extends Reference, Content {
  readonly required?: boolean
}

interface Response extends Reference, Content {
  readonly headers?: Readonly<Record<string, unknown>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Response>>
  readonly 'x-operations'?: readonly { readonly name: string }[]
}

export interface OpenApiDocument {
  readonly info?: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface OpenApiChange extends Change {
  /** `POST /{Version}/{Phone-Number-ID}/messages` */
  readonly address: string
}

interface Side {
  readonly document: OpenApiDocument
  readonly operation: Operation
}

export function compareDocuments(before: OpenApiDocument, after: OpenApiDocument): OpenApiChange[] {
  const [had, has] = [listOperations(before), listOperations(after)]
  const found: OpenApiChange[] = []
  for (const [address, old] of had) {
    const now = has.get(address)
    const changes = now
      ? compareOperations({ document: before, operation: old }, { document: after, operation: now })
      : namesOf(old).map((operation) => ({ operation, breaking: true, text: 'is gone' }))
    found.push(...changes.map((change) => ({ ...change, address })))
  }
  for (const [address, now] of has) {
    const names = had.has(address) ? [] : namesOf(now)
    found.push(...names.map((operation) => ({ operation, address, breaking: false, text: 'is new' })))
  }
  return withoutRepeats(found)
}

function listOperations({ paths }: OpenApiDocument): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, value]) => value.responses)
        .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  )
}

/** Operations on bare nodes share a path. */
function namesOf(operation: Operation): string[] {
  return operation['x-operations']?.map(({ name }) => name) ?? [operation.operationId]
}

function compareOperations(before: Side, after: Side): Change[] {
  const names = namesOf(after.operation)
  const operation = before.operation.operationId
  const gone = namesOf(before.operation).filter((name) => !names.includes(name))
  return [
    ...gone.map((name) => ({ operation: name, breaking: true, text: 'is gone' })),
    ...compareParameters(before, after, operation),
    ...compareBodies(before, after, operation),
    ...compareResponses(before, after, operation),
  ]
}

function compareParameters(before: Side, after: Side, operation: string): Change[] {
  const [had, has] = [listParameters(before), listParameters(after)]
  const found: Change[] = []
  const note = (breaking: boolean, text: string) => found.push({ operation, breaking, text })
  for (const [key, old] of had) {
    const now = has.get(key)
    if (!now) note(true, `parameter \`${old.name}\` is no longer known`)
    else {
      if (now.required && !old.required) note(true, `parameter \`${now.name}\` is required`)
      found.push(
        ...comparePair(before, after, old.schema, now.schema, { direction: 'request', operation, path: now.name }),
      )
    }
  }
  for (const [key, now] of has) {
    if (!had.has(key))
      note(now.required === true, `parameter \`${now.name}\` is new${now.required ? ' and required' : ''}`)
  }
  return found
}

function listParameters({ document, operation }: Side): Map<string, Parameter> {
  const all = (operation.parameters ?? []).map((parameter) => resolve(document, parameter))
  // The names of what is in a path are not sent.
  return new Map(all.filter((one) => one.in !== 'path').map((one) => [`${one.in} ${one.name}`, one]))
}

function compareBodies(before: Side, after: Side, operation: string): Change[] {
  const old = before.operation.requestBody && resolve(before.document, before.operation.requestBody)
  const now = after.operation.requestBody && resolve(after.document, after.operation.requestBody)
  if (!old && !now) return []
  if (!now) return [{ operation, breaking: true, text: 'takes no body' }]
  const found: Change[] = []
  if (now.required && !old?.required) found.push({ operation, breaking: true, text: 'requires a body' })
  if (!old) return found
  return [...found, ...compareContent(before, after, old, now, 'request', operation)]
}

function compareResponses(before: Side, after: Side, operation: string): Change[] {
  const found: Change[] = []
  const [had, has] = [before.operation.responses, after.operation.responses]
  for (const [status, reference] of Object.entries(had)) {
    const old = resolve(before.document, reference)
    const now = has[status] && resolve(after.document, has[status])
    if (!now) {
      // An error that no longer happens is missed by nobody.
      found.push({ operation, breaking: /^[23]/.test(status), text: `responds no longer with ${status}` })
      continue
    }
    for (const name of Object.keys(old.headers ?? {}).filter((one) => !(one in (now.headers ?? {})))) {
      found.push({ operation, breaking: true, text: `response ${status} has no header \`${name}\`` })
    }
    found.push(...compareContent(before, after, old, now, 'response', operation))
  }
  for (const status of Object.keys(has).filter((one) => !(one in had))) {
    found.push({ operation, breaking: false, text: `may respond with ${status}` })
  }
  return found
}

function compareContent(
  before: Side,
  after: Side,
  old: Content,
  now: Content,
  direction: Direction,
  operation: string,
) {
  const [had, has] = [old.content ?? {}, now.content ?? {}]
  const found: Change[] = []
  for (const type of Object.keys(had).filter((one) => !(one in has))) {
    found.push({ operation, breaking: true, text: `${direction} is no longer ${type}` })
  }
  // Forms hold the same members as JSON, written as text.
  const types = 'application/json' in had && 'application/json' in has ? ['application/json'] : Object.keys(had)
  for (const type of types) {
    found.push(...comparePair(before, after, had[type]?.schema, has[type]?.schema, { direction, operation, path: '' }))
  }
  return found
}

function comparePair(
  before: Side,
  after: Side,
  old: Schema | undefined,
  now: Schema | undefined,
  place: Parameters<typeof compareSchemas>[2],
): Change[] {
  const side = ({ document }: Side, schema: Schema | undefined) => ({
    schema,
    resolve: (one: Schema) => resolve(document, one),
  })
  return compareSchemas(side(before, old), side(after, now), place)
}

function resolve<T extends Reference>(document: OpenApiDocument, value: T): T {
  if (value.$ref === undefined) return value
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(value.$ref) ?? []
  const found = document.components?.[kind ?? '']?.[name ?? '']
  if (!found) throw new Error(`the document has no ${value.$ref}`)
  return resolve(document, found as T)
}

/** What operations share, such as the form of errors, is named once, at the first of them. */
function withoutRepeats(changes: readonly OpenApiChange[]): OpenApiChange[] {
  const seen = new Set<string>()
  return changes.filter(({ operation, address, text }) => {
    const key = `${operation} ${address} ${text}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
