import { type TObject, type TProperties, Type } from 'typebox'
import { makeFieldReader } from '../graph/fields.ts'
import { compileInput, type InputReader } from '../graph/input.ts'
import { type NodeKind, nodePlaceholders } from '../graph/nodes.ts'
import type { Operation } from '../graph/operation.ts'
import { pageArguments } from '../graph/paging.ts'
import { type RateClassName, rateClasses } from '../limits/classes.ts'

/** A row with everything that is worked out once instead of at every request. */
export interface PreparedRow {
  readonly operation: Operation
  readonly kind: NodeKind
  /** Its own members, with `fields` and the arguments of lists. */
  readonly input: TObject
  readonly readInput: InputReader
  /** Undefined where the operation has no `fields`. */
  readonly readFields: ((asked: string | undefined) => readonly string[]) | undefined
  readonly rateClass: RateClassName | undefined
}

/** The rows that share a method and the shape of a path; the kind of the node picks one. */
export interface Route {
  readonly method: Operation['method']
  /** The path with every placeholder as `{}`. */
  readonly shape: string
  /** The names of the placeholders behind the node's, for the input. */
  readonly pathMembers: readonly string[]
  readonly rows: ReadonlyMap<string, PreparedRow>
  readonly briefErrors: boolean
}

/** A table that cannot be served: found at the start, not at the first request. */
export class BadTable extends Error {}

/** Groups the rows into routes; refuses two rows with the same method, path and kind. */
export function buildRoutes(operations: readonly Operation[]): Route[] {
  const routes = new Map<string, Route & { rows: Map<string, PreparedRow> }>()
  for (const operation of operations) {
    const row = prepareRow(operation)
    const shape = operation.path.replaceAll(/\{[^{}]+\}/g, '{}')
    const key = `${operation.method} ${shape}`
    const route = routes.get(key) ?? {
      method: operation.method,
      shape,
      pathMembers: placeholdersOf(operation.path).slice(2),
      rows: new Map(),
      briefErrors: operation.briefErrors ?? false,
    }
    if (route.rows.has(row.kind)) {
      throw new BadTable(`two rows for ${operation.method} ${operation.path}: ${operation.name} is the second`)
    }
    route.rows.set(row.kind, row)
    routes.set(key, route)
  }
  return [...routes.values()]
}

export function placeholdersOf(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string)
}

/** The kind of node that a row hangs on, told by the placeholder behind the version. */
export function nodeKindOf(operation: Operation): NodeKind {
  const placeholder = placeholdersOf(operation.path)[1]
  const kind = Object.entries(nodePlaceholders).find(([, known]) => known === placeholder)?.[0]
  if (kind === undefined) throw new BadTable(`${operation.name}: {${placeholder}} is not a kind of node`)
  return kind as NodeKind
}

/** Far more than the names of all fields of any operation. */
const maxFieldsLength = 8192

/** Every argument that an operation takes, those that it shares with others included. */
export function fullInput({ input, fields, list }: Operation): TObject {
  const shared: TProperties = {
    ...(fields && {
      fields: Type.Optional(
        Type.String({
          maxLength: maxFieldsLength,
          description: `Names of the fields to return, separated by commas: ${fields.available.join(', ')}. ${
            fields.mode === 'add' ? 'Added to' : 'Instead of'
          } the defaults ${fields.defaults.join(', ')}.`,
        }),
      ),
    }),
    ...(list && pageArguments(list)),
  }
  return Type.Object({ ...input.properties, ...shared })
}

function prepareRow(operation: Operation): PreparedRow {
  const input = fullInput(operation)
  const { rateClass } = operation
  if (rateClass !== undefined && !Object.hasOwn(rateClasses, rateClass)) {
    throw new BadTable(`${operation.name}: ${rateClass} is not a rate class`)
  }
  return {
    operation,
    kind: nodeKindOf(operation),
    input,
    readInput: compileInput(input),
    readFields: operation.fields && makeFieldReader(operation.fields),
    rateClass: rateClass as RateClassName | undefined,
  }
}
