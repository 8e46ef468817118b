import { type TObject, type TProperties, Type } from 'typebox'
import { makeFieldReader } from '../graph/fields.ts'
import type { Habits } from '../graph/habits.ts'
import { compileInput, type InputReader } from '../graph/input/input.ts'
import { pageArguments } from '../graph/lists/paging.ts'
import type { NodeKind } from '../graph/nodes.ts'
import type { BusinessOperation, Door, OpenOperation, Operation, Row } from '../graph/operation.ts'
import type { ErrorForm } from '../graph/shown-errors/render-error.ts'
import { type RateClassName, rateClasses } from '../limits/classes.ts'
import { nodeKinds } from '../operations.ts'
import { emptyMembers } from './empty-members.ts'

/** A row with everything that is computed once and not at every request. */
export interface PreparedRow {
  readonly operation: Row
  /** The kind of node in its path; undefined when it names none. */
  readonly kind: NodeKind | undefined
  /** Its own members, plus `fields` and the arguments of lists. */
  readonly input: TObject
  readonly readInput: InputReader
  /** Undefined when the operation has no `fields`. */
  readonly readFields: ((asked: string | undefined) => readonly string[]) | undefined
  readonly rateClass: RateClassName | undefined
}

/** The rows that share a method and a path shape; when the path names a node, the node's kind selects one. */
export interface Route {
  readonly door: Door
  readonly method: Row['method']
  /** The path with every placeholder as `{}`. */
  readonly shape: string
  /** Whether the path begins with a version, or one may stand before it. */
  readonly version: 'required' | 'optional' | undefined
  /** Whether the path names a node, whose kind selects the row. */
  readonly namesNode: boolean
  /** The names of the placeholders that are members of the input. */
  readonly pathMembers: readonly string[]
  readonly rows: ReadonlyMap<string | undefined, PreparedRow>
  readonly errorForm: ErrorForm
}

/** A table that cannot be served: found at the start, not at the first request. */
class BadTable extends Error {}

/** Groups the rows into routes; refuses two rows with the same method, path and kind. */
export function buildRoutes(operations: readonly Row[], habits: Habits): Route[] {
  const routes = new Map<string, Route & { rows: Map<string | undefined, PreparedRow> }>()
  for (const operation of operations) {
    const row = prepareRow(operation, habits)
    const shape = shapeOf(operation)
    const key = `${operation.method} ${shape}`
    const route = routes.get(key) ?? {
      door: operation.door,
      method: operation.method,
      shape,
      version: versionOf(operation),
      namesNode: namesNode(operation),
      pathMembers: pathMembersOf(operation),
      rows: new Map(),
      errorForm: {
        briefErrors: operation.briefErrors ?? false,
        errorData: operation.errorData ?? false,
        isBusiness: isBusiness(operation) || operation.door === 'token' || versionOf(operation) !== undefined,
        page: operation.errorPage,
      },
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

/** The first path segments that are not versions: `gateway`, `docs`. */
export function segmentsOf(operations: readonly Row[]): string[] {
  const others = operations.filter((row) => versionOf(row) !== 'required')
  return [...new Set(others.map(({ path }) => path.split('/')[1] as string))].filter((segment) => segment !== '')
}

/** Finds the door of a row, or of the rows that share a path, by the name in the log; `unknown` for what is no row. */
export function makeDoorFinder(operations: readonly Row[]): (name: string) => string {
  const byName = new Map<string, string>()
  for (const row of operations) byName.set(row.name, row.door).set(`${row.method} ${shapeOf(row)}`, row.door)
  return (name) => byName.get(name) ?? 'unknown'
}

/** A row's path with every placeholder as `{}`. */
export function shapeOf({ path }: Row): string {
  return path.replaceAll(/\{[^{}]+\}/g, '{}')
}

/** Whether the path of a row begins with a version; `optional`: it does not, and one may stand before it. */
export function versionOf(row: Row): 'required' | 'optional' | undefined {
  if (row.path.startsWith('/{Version}/')) return 'required'
  return 'versions' in row ? row.versions : undefined
}

/** The path in the notation of the specification: `/{Version?}/debug_token`. */
export function shownPathOf(row: Row): string {
  return versionOf(row) === 'optional' ? `/{Version?}${row.path}` : row.path
}

/** Whether the path of a row names a node. */
export function namesNode({ door }: Row): boolean {
  return door === 'business' || door === 'link'
}

/** How many placeholders of a path are not members of the input: the version and the node's id. */
function foreignPlaceholdersOf(row: Row): number {
  return (versionOf(row) === 'required' ? 1 : 0) + (namesNode(row) ? 1 : 0)
}

/** The placeholders that are members of the input. */
export function pathMembersOf(row: Row): string[] {
  return placeholdersOf(row.path).slice(foreignPlaceholdersOf(row))
}

export function isBusiness(row: Row): row is BusinessOperation {
  return row.door === 'business'
}

/** Whether anyone may call it as a part of the API. */
function isOpenCall(row: Row): row is OpenOperation {
  return row.door === 'open' && isOperation(row)
}

/** Whether a row responds with an object of the API. */
export function isOperation(row: Row): row is Operation {
  return 'output' in row
}

/** The kind of node that a row belongs to, given by the last placeholder that is not a member of its input. */
export function nodeKindOf(operation: Row): NodeKind {
  const placeholder = placeholdersOf(operation.path)[foreignPlaceholdersOf(operation) - 1]
  const kind = Object.entries(nodeKinds).find(([, info]) => info.placeholder === placeholder)?.[0]
  if (kind === undefined) throw new BadTable(`${operation.name}: {${placeholder}} is not a kind of node`)
  return kind as NodeKind
}

/** Far more than the names of all fields of any operation. */
const maxFieldsLength = 8192

/** Every argument of an operation, including the common ones. */
export function fullInput({ input, fields, list }: Row): TObject {
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

/** Takes the first source as it is: at the open door the path, and at others what they have checked themselves. */
const takeFirst: InputReader = ([first]) => ({ ...first?.values })

function makeInputReader(operation: Row, input: TObject, habits: Habits): InputReader {
  switch (operation.door) {
    // The contents of a link are not arguments: a malformed link leads nowhere, and the row says so.
    case 'open':
      return isOpenCall(operation) || operation.redirects || operation.takesArguments ? compileInput(input) : takeFirst
    case 'handshake':
      return takeFirst
    case 'receiver': {
      const check = operation.compileCheck()
      return ([body]) => {
        check(body?.values)
        return body?.values ?? {}
      }
    }
    case 'business':
    case 'token':
      return compileInput(input, {
        headers: operation.headers,
        jsonInJson: habits.json_in_json,
        emptyMembers: habits.empty_is_left_out ? (emptyMembers[operation.name] ?? []) : undefined,
      })
    default:
      return compileInput(input, { headers: operation.headers, knownInQuery: knownInQuery(operation, input) })
  }
}

/** Reads of our own doors refuse what they do not know, because a misspelt filter would show everything. */
function knownInQuery({ door, method, path }: Row, input: TObject): readonly string[] | undefined {
  if (method !== 'GET' || (door !== 'operator' && door !== 'gateway')) return undefined
  const inPath = placeholdersOf(path)
  return Object.keys(input.properties).filter((name) => !inPath.includes(name))
}

function prepareRow(operation: Row, habits: Habits): PreparedRow {
  const input = fullInput(operation)
  const rateClass = isBusiness(operation) ? operation.rateClass : undefined
  if (rateClass !== undefined && !Object.hasOwn(rateClasses, rateClass)) {
    throw new BadTable(`${operation.name}: ${rateClass} is not a rate class`)
  }
  return {
    operation,
    kind: namesNode(operation) ? nodeKindOf(operation) : undefined,
    input,
    readInput: makeInputReader(operation, input, habits),
    readFields: operation.fields && makeFieldReader(operation.fields),
    rateClass: rateClass as RateClassName | undefined,
  }
}
