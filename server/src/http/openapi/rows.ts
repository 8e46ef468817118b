import type { Operation } from '../../graph/operation.ts'
import { fullInput, nodeKindOf, placeholdersOf } from '../route-table.ts'
import type { JsonSchema } from './document.ts'
import { toJsonSchema } from './schemas.ts'

/** A row of the table with its arguments sorted by where they go. */
export interface DescribedRow {
  readonly operation: Operation
  /** The kind of its node, in words. */
  readonly kind: string
  /** The placeholder of its node's id. */
  readonly placeholder: string
  /** What further placeholders hold. */
  readonly pathMembers: readonly Argument[]
  /** What comes as headers. */
  readonly headerMembers: readonly Argument[]
  /** Everything else: the query of a GET, the body of the others. */
  readonly members: readonly Argument[]
}

export interface Argument {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly example: unknown
}

/** The rows whose paths differ in nothing but the names of their placeholders, which OpenAPI takes for one path. */
export interface Place {
  readonly path: string
  /** What the path calls the node's id: the specification's placeholder, or a neutral one where rows differ. */
  readonly placeholder: string
  readonly rows: readonly DescribedRow[]
}

export const neutralPlaceholder = 'Node-ID'

export function describeRow(operation: Operation): DescribedRow {
  const [, placeholder = '', ...pathNames] = placeholdersOf(operation.path)
  const { properties, required = [] } = toJsonSchema(fullInput(operation)) as {
    properties: Record<string, JsonSchema>
    required?: string[]
  }
  const described = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
    example: operation.examples.input?.[name],
  }))
  const headerNames = operation.headers ?? []
  return {
    operation,
    kind: nodeKindOf(operation).replaceAll('_', ' '),
    placeholder,
    pathMembers: described.filter(({ name }) => pathNames.includes(name)),
    headerMembers: described.filter(({ name }) => headerNames.includes(name)),
    members: described.filter(({ name }) => !pathNames.includes(name) && !headerNames.includes(name)),
  }
}

/** Sorts the rows into places, in the order of the table. */
export function findPlaces(operations: readonly Operation[]): Place[] {
  const byShape = Map.groupBy(operations.map(describeRow), ({ operation }) =>
    operation.path.replaceAll(/\{[^{}]+\}/g, '{}'),
  )
  return [...byShape.values()].map((rows) => {
    const [first, ...others] = rows as [DescribedRow, ...DescribedRow[]]
    const { path } = first.operation
    if (others.every(({ operation }) => operation.path === path)) return { path, placeholder: first.placeholder, rows }
    return {
      path: path.replace(`{${first.placeholder}}`, `{${neutralPlaceholder}}`),
      placeholder: neutralPlaceholder,
      rows,
    }
  })
}
