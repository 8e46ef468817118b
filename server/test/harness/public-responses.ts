import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import type { Database } from '../../src/db/database.ts'
import type { BusinessOperation, Row } from '../../src/graph/operation.ts'
import type { Vocabulary } from '../../src/graph/vocabulary.ts'
import { isBusiness, nodeKindOf } from '../../src/http/route-table.ts'
import { type PublicSchema, publicKeyOf, publicOperations } from './public-document.ts'
import { type PublicException, publicExceptions } from './public-exceptions.ts'

/** A response that was checked. */
export interface PublicResponse {
  readonly row: BusinessOperation
  readonly body: unknown
  /** Asked for with `fields`: what was not asked for may be left out. */
  readonly fields: string | undefined
}

/** The response schema of a row's public operation; undefined when the public document has none. */
export function publicSchemaOf(row: BusinessOperation): PublicSchema | undefined {
  return publicOperations[publicKeyOf(row) ?? '']?.responses?.['200']
}

/** Says in what a response differs from the public document, besides the known exceptions. */
export function findPublicDifferences(
  { row, body, fields }: PublicResponse,
  exceptions: readonly PublicException[] = publicExceptions,
): readonly object[] {
  const schema = publicSchemaOf(row)
  if (!schema) return []
  const check = compileOnce(row.name, schema, exceptions, fields !== undefined)
  return check.Check(body) ? [] : check.Errors(body)[1]
}

export function checkPublicly(response: PublicResponse): void {
  const { row, body } = response
  assert.deepEqual(
    findPublicDifferences(response),
    [],
    `${row.name} responds with another shape than "${publicKeyOf(row)}" of docs/spec/public.json: change it in this vocabulary, or add it to public-exceptions.ts with the reason. ${JSON.stringify(body)}`,
  )
}

type Check = ReturnType<typeof Compile>
const compiled = new WeakMap<readonly PublicException[], Map<string, Check>>()

function compileOnce(
  name: string,
  schema: PublicSchema,
  exceptions: readonly PublicException[],
  isSelection: boolean,
): Check {
  const checks = compiled.get(exceptions) ?? new Map<string, Check>()
  compiled.set(exceptions, checks)
  const key = `${name} ${isSelection}`
  const check = checks.get(key) ?? Compile(Type.Unsafe(adapt(schema, name, exceptions, isSelection) as object))
  checks.set(key, check)
  return check
}

/** Every list links to the pages beside it; the document names the links for some lists only. */
const pageLinks: Readonly<Record<string, PublicSchema>> = { next: { type: 'string' }, previous: { type: 'string' } }

/** Where the objects are whose members `fields` selects. */
const projected = ['', 'data[]', 'data[].business_profile']

/** The schema that responses have: of the document, closed to members that it does not name, and with the exceptions. */
function adapt(
  schema: PublicSchema,
  operation: string,
  exceptions: readonly PublicException[],
  isSelection: boolean,
): PublicSchema {
  const known = exceptions.filter((one) => one.operation === operation)
  const isExcepted = (member: string, is: PublicException['is']) =>
    known.some((one) => one.member === member && one.is === is)

  function adaptAt(part: PublicSchema, at: string): PublicSchema {
    if (isExcepted(at, 'different')) return {}
    const { format, nullable, ...rest } = part
    return {
      ...rest,
      // The other formats are those of numbers, which types tell already.
      ...(format !== undefined && part.type === 'string' && { format }),
      ...(nullable && { type: [rest.type, 'null'].flat() as string[] }),
      ...(part.items && { items: adaptAt(part.items, `${at}[]`) }),
      ...(part.oneOf && { oneOf: part.oneOf.map((one) => adaptAt(one, at)) }),
      ...(part.properties && adaptMembers(part, at)),
    }
  }

  function adaptMembers({ properties = {}, required = [], additionalProperties = false }: PublicSchema, at: string) {
    const path = (name: string) => (at === '' ? name : `${at}.${name}`)
    const unnamed = known.filter(({ member, is }) => is === 'unnamed' && path(lastNameOf(member)) === member)
    const isProjected = isSelection && projected.includes(at)
    return {
      properties: {
        ...(at === 'paging' && pageLinks),
        ...Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, adaptAt(part, path(name))])),
        ...Object.fromEntries(unnamed.map(({ member }) => [lastNameOf(member), {}])),
      },
      required: isProjected ? [] : required.filter((name) => !isExcepted(path(name), 'left out')),
      additionalProperties,
    }
  }

  return adaptAt(schema, '')
}

function lastNameOf(member: string): string {
  return member.slice(member.lastIndexOf('.') + 1)
}

/** Finds rows by requests as clients make them, and checks the responses. */
export class PublicResponses {
  readonly #rows: readonly BusinessOperation[]
  readonly #database: Database
  /** Every response that was checked. */
  readonly checked: PublicResponse[] = []

  constructor(rows: readonly Row[], database: Database) {
    this.#rows = rows.filter(isBusiness)
    this.#database = database
  }

  /** Makes the check of the response to a request. Call it before the request, which may delete the object that its path names. */
  async expect(method: string, target: string): Promise<((status: number, body: unknown) => void) | undefined> {
    const { pathname, searchParams } = new URL(target, 'http://service')
    const steps = pathname.split('/').filter((step) => step !== '')
    if (/^v\d/.test(steps[0] ?? '')) steps.shift()
    const candidates = this.#rows.filter((row) => row.method === method && isPathOf(row, steps))
    const kind = candidates.length === 0 ? undefined : await this.#findKind(steps[0] ?? '')
    const row = candidates.find((candidate) => nodeKindOf(candidate) === kind)
    if (!row || !publicSchemaOf(row)) return undefined
    const fields = searchParams.get('fields') ?? undefined
    return (status, body) => {
      if (status < 200 || status > 299) return
      const response = { row, body, fields }
      this.checked.push(response)
      checkPublicly(response)
    }
  }

  async #findKind(id: string): Promise<string | undefined> {
    const found = this.#database.read.query.selectFrom('nodes').select('kind').where('id', '=', id)
    return (await found.executeTakeFirst())?.kind
  }
}

/** What checks the responses of a server; undefined in the vocabulary that the public document does not describe. */
export function publicResponsesOf(
  { name }: Vocabulary,
  rows: readonly Row[],
  database: Database,
): PublicResponses | undefined {
  return name === 'whatsapp' ? new PublicResponses(rows, database) : undefined
}

function isPathOf(row: BusinessOperation, steps: readonly string[]): boolean {
  const [, ...expected] = row.path.split('/').slice(1)
  return expected.length === steps.length && expected.every((step, at) => step.startsWith('{') || step === steps[at])
}
