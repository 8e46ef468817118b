import type { Row } from '../../graph/operation.ts'
import { fullInput, namesNode, nodeKindOf, pathMembersOf, placeholdersOf, shapeOf } from '../route-table.ts'
import type { JsonSchema } from './document.ts'
import { toJsonSchema } from './schemas.ts'

/** A row of the table with its arguments sorted by where they go. */
export interface DescribedRow {
  readonly operation: Row
  /** The kind of its node, in words; `none` when its path names no node. */
  readonly kind: string
  /** The placeholder of its node's id; undefined when its path names no node. */
  readonly placeholder: string | undefined
  /** The further placeholders. */
  readonly pathMembers: readonly Argument[]
  /** The header parameters. */
  readonly headerMembers: readonly Argument[]
  /** All others: the query of a GET, the body of other methods. */
  readonly members: readonly Argument[]
}

export interface Argument {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly example: unknown
}

/** Rows whose paths differ only in the names of placeholders, which OpenAPI treats as one path. */
export interface PathRows {
  readonly path: string
  /** The path's name for the node's id: the specification's placeholder, or a neutral one when rows differ. */
  readonly placeholder: string | undefined
  readonly rows: readonly DescribedRow[]
}

export const neutralPlaceholder = 'Node-ID'

export function describeRow(operation: Row): DescribedRow {
  const pathNames = pathMembersOf(operation)
  const placeholder = namesNode(operation) ? placeholdersOf(operation.path).at(-1 - pathNames.length) : undefined
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
    kind: placeholder === undefined ? 'none' : nodeKindOf(operation).replaceAll('_', ' '),
    placeholder,
    pathMembers: described.filter(({ name }) => pathNames.includes(name)),
    headerMembers: described.filter(({ name }) => headerNames.includes(name)),
    members: described.filter(({ name }) => !pathNames.includes(name) && !headerNames.includes(name)),
  }
}

/** Groups the rows by path and method, in the order of the table. */
export function groupByPath(operations: readonly Row[]): PathRows[] {
  const byShape = Map.groupBy(operations.map(describeRow), ({ operation }) => shapeOf(operation))
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
