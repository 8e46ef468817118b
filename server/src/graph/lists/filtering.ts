import { type RawBuilder, sql } from 'kysely'
import { badArgument } from '../define-error.ts'
import {
  argumentWrong,
  conditionNotAnObject,
  conditionValueNotAnArray,
  filteringNotAnArray,
  filteringNotJson,
  filteringTooLong,
} from '../errors.ts'

/** A field that a list can be filtered by. */
export interface FilterField {
  /** The compared column, or an expression that derives the value, from the current time too if the field depends on it. */
  readonly expression: RawBuilder<unknown> | ((now: number) => RawBuilder<unknown>)
  /** The values that it can have. */
  readonly values: readonly (string | boolean)[]
}

const operators = ['EQUAL', 'NOT_EQUAL', 'IN', 'NOT_IN'] as const
type Operator = (typeof operators)[number]

const maxConditions = 20

/** Parses `filtering`, a JSON array of conditions joined by AND, as one SQL condition on the state at `now`. */
export function readFilter(
  fields: Readonly<Record<string, FilterField>>,
  text: string | undefined,
  now: number,
): RawBuilder<boolean> | undefined {
  if (text === undefined || text === '') return undefined
  const conditions = parseConditions(text)
  if (conditions.length === 0) return undefined
  return sql<boolean>`${sql.join(
    conditions.map((condition, index) => readCondition(fields, condition, `filtering[${index}]`, now)),
    sql` AND `,
  )}`
}

function parseConditions(text: string): unknown[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw filteringNotJson()
  }
  if (!Array.isArray(parsed)) throw filteringNotAnArray()
  if (parsed.length > maxConditions) throw filteringTooLong({ max: maxConditions })
  return parsed
}

function readCondition(
  fields: Readonly<Record<string, FilterField>>,
  condition: unknown,
  place: string,
  now: number,
): RawBuilder<boolean> {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) {
    throw badArgument(conditionNotAnObject(place))
  }
  const { field, operator, value } = condition as Record<string, unknown>
  const name = Object.keys(fields).find((known) => known === field)
  const filterField = name === undefined ? undefined : fields[name]
  if (!filterField) {
    throw badArgument(argumentWrong(`${place}.field`, { expected: `one of ${Object.keys(fields).join(', ')}` }))
  }
  const knownOperator = operators.find((known) => known === operator)
  if (!knownOperator)
    throw badArgument(argumentWrong(`${place}.operator`, { expected: `one of ${operators.join(', ')}` }))
  const expression = typeof filterField.expression === 'function' ? filterField.expression(now) : filterField.expression
  return compare(expression, filterField.values, knownOperator, value, place)
}

function compare(
  expression: RawBuilder<unknown>,
  values: FilterField['values'],
  operator: Operator,
  value: unknown,
  place: string,
): RawBuilder<boolean> {
  const read = (one: unknown, at: string): string | boolean => {
    // A boolean may come as text, because some clients build every condition from strings.
    const found = values.find((known) => known === one || (typeof known === 'boolean' && String(known) === one))
    if (found === undefined) throw badArgument(argumentWrong(at, { expected: `one of ${values.join(', ')}` }))
    return found
  }
  const valuePlace = `${place}.value`
  if (operator === 'EQUAL') return sql`${expression} = ${read(value, valuePlace)}`
  if (operator === 'NOT_EQUAL') return sql`${expression} <> ${read(value, valuePlace)}`
  if (!Array.isArray(value) || value.length === 0 || value.length > 100) {
    throw badArgument(conditionValueNotAnArray(valuePlace, { operator }))
  }
  const list = sql.join(value.map((one, index) => read(one, `${valuePlace}[${index}]`)))
  return operator === 'IN' ? sql`${expression} IN (${list})` : sql`${expression} NOT IN (${list})`
}
