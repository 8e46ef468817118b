/** The parts of an OpenAPI document that the fuzzer reads, with every reference replaced by what it refers to. */
export type Schema = Readonly<Record<string, unknown>>

export interface MediaType {
  readonly schema?: Schema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema?: Schema
  readonly content?: Readonly<Record<string, MediaType>>
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface DescribedHeader {
  readonly required?: boolean
  readonly schema?: Schema
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, DescribedHeader>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface FuzzedOperation {
  readonly name: string
  readonly method: string
  /** With its placeholders. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** By content type; undefined where it takes no body. */
  readonly body: Readonly<Record<string, MediaType>> | undefined
  readonly answers: Readonly<Record<string, DescribedAnswer>>
  /** Names of the schemes of which one is enough; none where nobody has to prove anything. */
  readonly proofs: readonly string[]
  readonly tag: string
  /** The rows behind it: what kind of node each is for. */
  readonly rows: readonly { readonly name: string; readonly node: string }[]
}

export interface FuzzedApi {
  readonly operations: readonly FuzzedOperation[]
  /** The schema of a response that belongs to no operation, because the request names none. */
  readonly refusal: DescribedAnswer
}

type Json = Readonly<Record<string, unknown>>
/**
 * A stream never ends, a wait may take longer than the fuzzer waits, and an export is sent in pieces, without the length that the
 * fuzzer reads responses by. Resets, restored snapshots, faults and a moved clock would take from the other operations what they need.
 * They have tests of their own.
 */
const leftOut = [
  'get /operator/stream',
  'get /operator/wait',
  'get /operator/world',
  'post /operator/reset',
  'post /operator/snapshots/{name}/restore',
  'put /operator/faults',
  'post /operator/clock',
]
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Reads everything that some documents promise. */
export function readDocuments(documents: readonly unknown[]): FuzzedApi {
  const operations = documents.flatMap((document) => readOperations(document as Json))
  const [first] = documents as readonly { components?: { responses?: Record<string, unknown> } }[]
  const refusal = first?.components?.responses?.['BadRequest']
  if (!refusal) throw new Error('the first document describes no BadRequest')
  return { operations, refusal: inline(first as Json, refusal, new Map()) as DescribedAnswer }
}

function readOperations(document: Json): FuzzedOperation[] {
  const paths = document['paths'] as Record<string, Record<string, Json>>
  const security = (document['security'] ?? []) as readonly Json[]
  const known = new Map<string, unknown>()
  return Object.entries(paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method] && !leftOut.includes(`${method} ${path}`))
      .map((method) => {
        const described = inline(document, item[method], known) as Json
        const body = described['requestBody'] as { content: Record<string, MediaType> } | undefined
        const proofs = ((described['security'] ?? security) as readonly Json[]).flatMap((one) => Object.keys(one))
        return {
          name: String(described['operationId']),
          method: method.toUpperCase(),
          path,
          parameters: (described['parameters'] ?? []) as readonly Parameter[],
          body: body?.content,
          answers: described['responses'] as Record<string, DescribedAnswer>,
          proofs,
          tag: String((described['tags'] as readonly string[] | undefined)?.[0]),
          rows: (described['x-operations'] ?? []) as FuzzedOperation['rows'],
        }
      }),
  )
}

/**
 * A copy without references. No schema of the documents refers to itself, so it ends. What is referred to twice is one object,
 * because its check is compiled once for each.
 */
function inline(document: Json, value: unknown, known: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(document, item, known))
  if (typeof value !== 'object' || value === null) return value
  const { $ref } = value as { $ref?: unknown }
  if (typeof $ref === 'string') {
    const found = known.get($ref) ?? inline(document, follow(document, $ref), known)
    known.set($ref, found)
    return found
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inline(document, member, known)]))
}

function follow(document: Json, reference: string): unknown {
  const [start, ...names] = reference.split('/')
  let found: unknown = document
  for (const name of names) found = (found as Json | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')]
  if (start !== '#' || found === undefined) throw new Error(`the document refers to ${reference}, which is not there`)
  return found
}

/** Every example that the documents give for a body. */
export function listExamples({ operations }: FuzzedApi): unknown[] {
  const bodies = operations.flatMap(({ body }) => Object.values(body ?? {}))
  return bodies.flatMap(({ examples }) => Object.values(examples ?? {}).map(({ value }) => value))
}
