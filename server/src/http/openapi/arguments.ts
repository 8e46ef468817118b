import { isDeepStrictEqual } from 'node:util'
import { type NodeKind, nodeIdPattern } from '../../graph/nodes.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { nodeKindOf } from '../route-table.ts'
import { type Examples, type JsonSchema, type Parameter, type RequestBody, refTo } from './document.ts'
import type { Argument, DescribedRow } from './rows.ts'
import { isStructured, toFormExample, toFormSchema, writeTypeName } from './schemas.ts'

/** Ids of the demo world, so that an example works when it is tried. */
const exampleIds: Readonly<Record<NodeKind, string>> = {
  business: '2000000000000001',
  application: '3000000000000001',
  account: '1000000000000001',
  phone_number: '4000000000000001',
  account_number: '4100000000000001',
  bot: '5000000000000001',
  migration_intent: '8000000000000001',
}

export function describeVersion(versions: readonly string[], words: Vocabulary): Parameter {
  const newest = versions.at(-1) ?? ''
  return {
    name: 'Version',
    in: 'path',
    required: true,
    description: `The version of the API; ${newest} is the newest${words.habits.version_optional ? ', and what a path without a version means' : ''}.`,
    schema: { type: 'string', enum: versions },
    examples: { newest: { value: newest } },
  }
}

/** The id of the node that the rows hang on. */
export function describeNodeId(placeholder: string, rows: readonly DescribedRow[]): Parameter {
  const kinds = new Map(rows.map((row) => [row.kind, exampleIds[nodeKindOf(row.operation)]]))
  return {
    name: placeholder,
    in: 'path',
    required: true,
    description: `The id of ${[...kinds.keys()].map(withArticle).join(', or ')}: 15 or 16 digits.`,
    schema: { type: 'string', pattern: nodeIdPattern.source },
    examples: Object.fromEntries([...kinds].map(([kind, value]) => [kind.replaceAll(' ', '_'), { value }])),
  }
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** What the further placeholders of a path hold. */
export function describePathMembers(rows: readonly DescribedRow[]): Parameter[] {
  return unite(rows, ({ pathMembers }) => pathMembers).map((parameter) => ({
    ...parameter,
    in: 'path',
    required: true,
  }))
}

/** The arguments of a GET, those of all its rows together. */
export function describeQuery(rows: readonly DescribedRow[]): Parameter[] {
  return unite(rows, ({ members }) => members)
}

interface Use {
  readonly row: DescribedRow
  readonly argument: Argument
}

function unite(rows: readonly DescribedRow[], argumentsOf: (row: DescribedRow) => readonly Argument[]): Parameter[] {
  const uses: Use[] = rows.flatMap((row) => argumentsOf(row).map((argument) => ({ row, argument })))
  return [...Map.groupBy(uses, ({ argument }) => argument.name)].map(([name, ofName]) => {
    const { description, ...schema } = uniteSchemas(ofName)
    const text = uniteDescriptions(ofName, rows.length) ?? description
    const examples = uniteExamples(ofName)
    return {
      name,
      in: 'query',
      ...(ofName.length === rows.length && ofName.every(({ argument }) => argument.required) && { required: true }),
      ...(text !== undefined && { description: String(text) }),
      // A structured argument is JSON text in a query.
      ...(isStructured(schema)
        ? { content: { 'application/json': { schema, ...examples } } }
        : { schema, ...examples }),
    }
  })
}

function uniteSchemas(uses: readonly Use[]): JsonSchema {
  const schemas: JsonSchema[] = []
  for (const { argument } of uses) {
    const { description: _told, ...schema } = argument.schema
    if (!schemas.some((known) => isDeepStrictEqual(known, schema))) schemas.push(schema)
  }
  return schemas.length === 1 ? (schemas[0] as JsonSchema) : { anyOf: schemas }
}

/** What an argument means: one text where all rows agree, one for each kind of node where they do not. */
function uniteDescriptions(uses: readonly Use[], rowCount: number): string | undefined {
  const texts = new Set(uses.map(({ argument }) => argument.schema['description'] as string | undefined))
  if (texts.size === 1 && uses.length === rowCount) return [...texts][0]
  return uses
    .map(({ row, argument }) => `- ${row.kind}: ${argument.schema['description'] ?? row.operation.sentence}`)
    .join('\n')
}

function uniteExamples(uses: readonly Use[]): { examples?: Examples } {
  const shown = uses.filter(({ argument }) => argument.example !== undefined)
  if (shown.length === 0) return {}
  return {
    examples: Object.fromEntries(shown.map(({ row, argument }) => [row.operation.name, { value: argument.example }])),
  }
}

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data']

/** The body of a POST or DELETE in the three content types; undefined where no row takes an argument. */
export function describeBody(rows: readonly DescribedRow[]): RequestBody | undefined {
  if (rows.every(({ members }) => members.length === 0)) return undefined
  const json = { schema: anyOf(rows.map((row) => inputName(row))), ...bodyExamples(rows, (input) => input) }
  const form = { schema: anyOf(rows.map((row) => formName(row))), ...bodyExamples(rows, toFormExample) }
  return {
    required: rows.every(({ members }) => members.some(({ required }) => required)),
    description: `Any of the arguments may come in the query instead; where both have one, the body wins.${
      rows.some(hasStructure) ? ' In a form, an array or object is one field that holds JSON.' : ''
    }`,
    content: { 'application/json': json, ...Object.fromEntries(formTypes.map((type) => [type, form])) },
  }
}

function bodyExamples(
  rows: readonly DescribedRow[],
  write: (input: Record<string, unknown>) => Record<string, unknown>,
): { examples?: Examples } {
  const shown = rows.filter(({ operation }) => operation.examples.input !== undefined)
  if (shown.length === 0) return {}
  const examples = shown.map(({ operation, members }) => {
    const input = members.filter(({ example }) => example !== undefined).map(({ name, example }) => [name, example])
    return [operation.name, { summary: operation.sentence, value: write(Object.fromEntries(input)) }]
  })
  return { examples: Object.fromEntries(examples) }
}

/** The schemas of the bodies of a row, by the name of their component. */
export function describeInputs(row: DescribedRow): Record<string, JsonSchema> {
  const { operation, members } = row
  if (operation.method === 'GET') return {}
  const required = members.filter((member) => member.required).map(({ name }) => name)
  const schema = {
    title: operation.name,
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members.map((member) => [member.name, member.schema])),
  }
  return { [inputName(row)]: schema, ...(hasStructure(row) && { [formName(row)]: toFormSchema(schema) }) }
}

function inputName({ operation }: DescribedRow): string {
  return `${writeTypeName(operation.name)}Input`
}

function formName(row: DescribedRow): string {
  return hasStructure(row) ? `${writeTypeName(row.operation.name)}Form` : inputName(row)
}

function hasStructure({ members }: DescribedRow): boolean {
  return members.some(({ schema }) => isStructured(schema))
}

/** One of several components, or the only one. */
export function anyOf(names: readonly string[]): JsonSchema {
  const refs = names.map((name) => refTo('schemas', name) as unknown as JsonSchema)
  return refs.length === 1 ? (refs[0] as JsonSchema) : { anyOf: refs }
}
