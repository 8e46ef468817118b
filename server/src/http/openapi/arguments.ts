import { isDeepStrictEqual } from 'node:util'
import { describeNodeIds, uploadIdPattern } from '../../graph/nodes.ts'
import type { ServedVersions } from '../../graph/versions.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { nodeKinds } from '../../operations.ts'
import { nodeKindOf } from '../route-table.ts'
import { type Examples, type JsonSchema, type Parameter, type RequestBody, refTo } from './document.ts'
import { type Argument, type DescribedRow, neutralPlaceholder } from './rows.ts'
import { isStructured, toFormExample, toFormSchema, toMultipartSchema, writeTypeName } from './schemas.ts'

/** For objects that no world file holds: a request creates them. */
const madeUpId = '9000000000000001'

export function describeVersion({ all, newest }: ServedVersions, vocabulary: Vocabulary): Parameter {
  return {
    name: 'Version',
    in: 'path',
    required: true,
    description: `The version of the API; ${newest} is ${newest === all.at(-1) ? 'the newest' : 'how all are served'}${vocabulary.habits.version_optional ? ', and what a path without a version means' : ''}.`,
    schema: { type: 'string', enum: all },
    example: newest,
  }
}

/** The id of the node that a placeholder of the specification stands for. */
export function describeNodeId(
  placeholder: string,
  [first]: readonly [DescribedRow, ...DescribedRow[]],
  vocabulary: Vocabulary,
): Parameter {
  return { ...describeId(placeholder, [first.kind], vocabulary), example: exampleIdOf(first) }
}

/** The id when the kind of node selects the row. Its examples are named after the rows, like those of other parameters. */
export function describeNeutralId(rows: readonly DescribedRow[], vocabulary: Vocabulary): Parameter {
  const examples = rows.map((row) => [row.operation.name, { value: exampleIdOf(row) }])
  const kinds = rows.map(({ kind }) => kind)
  return { ...describeId(neutralPlaceholder, kinds, vocabulary), examples: Object.fromEntries(examples) }
}

const uploadName = { digits: '`upload:` and what names it', pattern: uploadIdPattern }

function describeId(name: string, kinds: readonly string[], vocabulary: Vocabulary): Parameter {
  const digits = describeNodeIds(vocabulary)
  const forms = [...new Set(kinds.map((kind) => (kind === 'upload' ? uploadName : digits)))]
  return {
    name,
    in: 'path',
    required: true,
    description: `The id of ${orList.format(kinds.map(withArticle))}: ${orList.format(forms.map((form) => form.digits))}.`,
    schema: { type: 'string', pattern: forms.map(({ pattern }) => pattern.source).join('|') },
  }
}

export function exampleIdOf({ operation }: DescribedRow): string {
  return operation.examples.node ?? nodeKinds[nodeKindOf(operation)]?.example ?? madeUpId
}

const orList = new Intl.ListFormat('en', { type: 'disjunction' })

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** The further placeholders of a path. */
export function describePathMembers(rows: readonly DescribedRow[]): Parameter[] {
  return unite(rows, ({ pathMembers }) => pathMembers).map((parameter) => ({
    ...parameter,
    in: 'path',
    required: true,
  }))
}

/** The header parameters of all rows together. */
export function describeHeaderMembers(rows: readonly DescribedRow[]): Parameter[] {
  return unite(rows, ({ headerMembers }) => headerMembers).map((parameter) => ({ ...parameter, in: 'header' }))
}

/** The query parameters of a GET, of all its rows together. */
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
    const schema = uniteSchemas(ofName)
    const description = uniteDescriptions(ofName, rows.length)
    const examples = uniteExamples(ofName)
    return {
      name,
      in: 'query',
      ...(ofName.length === rows.length && ofName.every(({ argument }) => argument.required) && { required: true }),
      ...(description !== undefined && { description }),
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
    const { description: _description, ...schema } = argument.schema
    if (!schemas.some((known) => isDeepStrictEqual(known, schema))) schemas.push(schema)
  }
  return schemas.length === 1 ? (schemas[0] as JsonSchema) : { anyOf: schemas }
}

/** The description of a parameter: one text when all rows agree, otherwise one for each kind of node. */
function uniteDescriptions(uses: readonly Use[], rowCount: number): string | undefined {
  const texts = uses.map(({ argument }) => argument.schema['description'] as string | undefined)
  if (new Set(texts).size === 1 && uses.length === rowCount) return texts[0]
  const common = findCommonStart(texts)
  const lines = uses.map(({ row }, index) => {
    const own = texts[index]?.slice(common.length)
    return own === undefined ? `- ${row.kind}` : `- ${row.kind}: ${own}`
  })
  return [...(common === '' ? [] : [common.trim(), '']), ...lines].join('\n')
}

/** The common text up to the first colon, so that it is written once and not for every kind. */
function findCommonStart(texts: readonly (string | undefined)[]): string {
  const [start, ...others] = new Set(texts.map((text) => /^.*?: /.exec(text ?? '')?.[0] ?? ''))
  return others.length === 0 ? (start ?? '') : ''
}

function uniteExamples(uses: readonly Use[]): { examples?: Examples } {
  const shown = uses.filter(({ argument }) => argument.example !== undefined)
  if (shown.length === 0) return {}
  return {
    examples: Object.fromEntries(shown.map(({ row, argument }) => [row.operation.name, { value: argument.example }])),
  }
}

/** The body of a POST or DELETE: arguments in the three content types, a JSON object, or bytes. */
export function describeBody(rows: readonly DescribedRow[]): RequestBody {
  const byArguments = rows.filter((row) => !isRaw(row))
  const raw = rows.filter(isRaw)
  const bytes = { 'application/octet-stream': { schema: {} } }
  if (byArguments.length === 0) {
    return { required: false, description: 'The bytes, with any content type.', content: bytes }
  }
  const body = describeArguments(byArguments)
  if (raw.length === 0) return body
  return {
    required: false,
    description: `${body.description} For ${orList.format(raw.map(({ kind }) => withArticle(kind)))}, the body is bytes, with any content type.`,
    content: { ...body.content, ...bytes },
  }
}

export function isRaw({ operation }: DescribedRow): boolean {
  return operation.body === 'raw'
}

/** Whether the body is one JSON object that is passed on. */
function isJson({ operation }: DescribedRow): boolean {
  return operation.body === 'json'
}

function describeArguments(rows: readonly DescribedRow[]): RequestBody {
  const json = { schema: anyOf(rows.map((row) => inputName(row))), ...bodyExamples(rows, (input) => input) }
  if (rows.every(isJson)) {
    return {
      required: true,
      description: 'Members that are not named pass on as they came.',
      content: { 'application/json': json },
    }
  }
  const form = { schema: anyOf(rows.map((row) => formName(row))), ...bodyExamples(rows, toFormExample) }
  // The bytes of a file cannot be written as an example.
  const multipart = rows.some(hasFile) ? { schema: anyOf(rows.map((row) => multipartName(row))) } : form
  return {
    required: rows.every(({ members }) => members.some(({ required }) => required)),
    description: `Any of the arguments may come in the query instead; where both have one, the body wins.${
      rows.some(hasStructure) ? ' In a form, an array or object is one field that holds JSON.' : ''
    }`,
    content: {
      'application/json': json,
      'application/x-www-form-urlencoded': form,
      'multipart/form-data': multipart,
    },
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

/** The body schemas of a row, by component name. */
export function describeInputs(row: DescribedRow): Record<string, JsonSchema> {
  const { operation, members } = row
  const required = members.filter((member) => member.required).map(({ name }) => name)
  const schema = {
    title: operation.name,
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members.map((member) => [member.name, member.schema])),
  }
  return {
    [inputName(row)]: schema,
    ...(hasStructure(row) && !isJson(row) && { [formName(row)]: toFormSchema(schema) }),
    ...(operation.file && { [multipartName(row)]: toMultipartSchema(schema, operation.file.name) }),
  }
}

function inputName({ operation }: DescribedRow): string {
  return `${writeTypeName(operation.name)}Input`
}

function formName(row: DescribedRow): string {
  return hasStructure(row) ? `${writeTypeName(row.operation.name)}Form` : inputName(row)
}

function multipartName(row: DescribedRow): string {
  return hasFile(row) ? `${writeTypeName(row.operation.name)}Multipart` : formName(row)
}

function hasFile({ operation }: DescribedRow): boolean {
  return operation.file !== undefined
}

function hasStructure({ members }: DescribedRow): boolean {
  return members.some(({ schema }) => isStructured(schema))
}

/** One component, or a choice of several. */
export function anyOf(names: readonly string[]): JsonSchema {
  const refs = names.map((name) => refTo('schemas', name) as unknown as JsonSchema)
  return refs.length === 1 ? (refs[0] as JsonSchema) : { anyOf: refs }
}
