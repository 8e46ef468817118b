import { breakObject } from './breaking.ts'
import type { FuzzedOperation, MediaType, Parameter, Schema } from './document.ts'
import type { Draw } from './draw.ts'
import { encodeBody, encodeQuery, escapeText, writeText } from './encode.ts'
import type { MemoryOfAnswers } from './memory-of-answers.ts'
import { chooseId, chooseProof } from './people.ts'
import type { Values } from './values.ts'

export type Mood = 'valid' | 'broken' | 'absurd' | 'wire'

export interface FuzzRequest {
  /** The operation whose promise the answer must keep; undefined: the request names none. */
  readonly operation: FuzzedOperation | undefined
  readonly mood: Mood
  readonly method: string
  /** Path and query, as they go over the wire. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  /** Sent in the place of all of it: what no client would write. */
  readonly bytes?: Buffer
  /** Asks for the bytes of a media file, which no document describes. */
  readonly isDownload?: boolean
  /** How it goes over a connection of its own. */
  readonly play?: Play
}

/** How bytes go over a connection of their own. */
export interface Play {
  readonly bytes: Buffer
  /** The length of each write; what is left goes in the last. */
  readonly pieces: readonly number[]
  /** What follows the last byte: answers are waited for, or the connection is half closed, closed or reset. */
  readonly ending: 'wait' | 'end' | 'close' | 'reset'
  /** The requests that are whole, in order: each must be answered when answers are waited for. */
  readonly whole: readonly FuzzRequest[]
  /** How many bytes the head has whose body waits until it is asked for. */
  readonly headBytes?: number
}

export interface RequestSources {
  readonly values: Values
  readonly memory: MemoryOfAnswers
}

/** A request for an operation that its document takes, or one that is broken in one place. */
export function makeRequest(
  draw: Draw,
  operation: FuzzedOperation,
  mood: 'valid' | 'broken',
  { values, memory }: RequestSources,
): FuzzRequest {
  const row = draw.pick(operation.rows)
  const chosen = new Map(
    operation.parameters
      .filter((parameter) => parameter.required || draw.chance(parameter.in === 'header' ? 70 : 35))
      .map((parameter) => [parameter, chooseArgument(draw, operation, parameter, row, { values, memory })]),
  )
  const path = fillPath(operation.path, chosen)
  const query = listOf(chosen, 'query')
  const headers = listOf(chosen, 'header').map(([name, value]) => [name, writeText(value)] as const)
  const breaksBody = operation.body !== undefined && draw.chance(80)
  const body =
    operation.body && makeBody(draw, operation.body, row.name, row.node, mood === 'broken' && breaksBody, values)
  const shown = mood === 'broken' && !breaksBody ? breakQuery(draw, operation, query) : query
  return {
    operation: isReadable(path) ? operation : undefined,
    mood,
    method: operation.method,
    target: shown.length > 0 ? `${path}?${encodeQuery(shown)}` : path,
    headers: [
      ...chooseProof(draw, operation, body?.bytes),
      ...(body ? [['Content-Type', body.contentType] as const] : []),
      ...headers.filter(([, value]) => /^[\x20-\x7e]*$/.test(value)),
    ],
    body: body?.bytes,
  }
}

/** A path whose escapes are not UTF-8 is none. */
function isReadable(path: string): boolean {
  return !/%ED%[AB]/.test(path)
}

function chooseArgument(
  draw: Draw,
  operation: FuzzedOperation,
  parameter: Parameter,
  row: FuzzedOperation['rows'][number],
  { values, memory }: RequestSources,
): unknown {
  const { name, schema = {}, content } = parameter
  if (parameter.in === 'path' && isNodeId(parameter)) return chooseId(draw, operation, row.node, memory)
  const linked = parameter.in === 'path' ? memory.recall(operation.path.replace(/\{.*/, '')) : []
  if (linked.length > 0 && draw.chance(50)) return draw.pick(linked)
  const examples = parameter.examples ?? content?.['application/json']?.examples
  const example = examples?.[row.name]?.value ?? parameter.example
  if (example !== undefined && draw.chance(35)) return example
  const inner = content?.['application/json']?.schema
  return inner ? JSON.stringify(values.make(draw, inner, name)) : values.make(draw, schema, name)
}

/** The placeholders of nodes are written in the specification's way, or are a pattern of ids. */
function isNodeId({ name, schema }: Parameter): boolean {
  return name !== 'Version' && String(schema?.['pattern']).includes('[1-9]\\d{14,15}')
}

/** An empty part would make another path of it. */
function fillPath(path: string, chosen: ReadonlyMap<Parameter, unknown>): string {
  const byName = new Map(
    [...chosen].filter(([{ in: place }]) => place === 'path').map(([{ name }, value]) => [name, value]),
  )
  return path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => escapeText(writeText(byName.get(name))) || '0')
}

function listOf(chosen: ReadonlyMap<Parameter, unknown>, place: Parameter['in']): [string, unknown][] {
  return [...chosen].filter(([parameter]) => parameter.in === place).map(([{ name }, value]) => [name, value])
}

function breakQuery(draw: Draw, operation: FuzzedOperation, query: readonly [string, unknown][]): [string, unknown][] {
  const known = operation.parameters.filter((parameter) => parameter.in === 'query')
  const schema = {
    required: known.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(known.map((parameter) => [parameter.name, parameter.schema ?? {}])),
  }
  const { value, twice } = breakObject(draw, schema, Object.fromEntries(query))
  const members = Object.entries(value as object)
  return [...members, ...members.filter(([name]) => name === twice)]
}

function makeBody(
  draw: Draw,
  content: Readonly<Record<string, MediaType>>,
  rowName: string,
  node: string,
  breaks: boolean,
  values: Values,
) {
  const types = Object.keys(content)
  const byArguments = types.filter((type) => type !== 'application/octet-stream')
  if (byArguments.length === 0 || (node === 'upload' && types.length > byArguments.length)) {
    return {
      contentType: 'application/octet-stream',
      bytes: Buffer.from(draw.pick(['', 'x'.repeat(100), 'half of it'])),
    }
  }
  const contentType = draw.chance(40) ? (byArguments[0] as string) : draw.pick(byArguments)
  const { schema = {}, examples = {} } = content[contentType] as MediaType
  const ofRow = schemaOf(schema, rowName)
  const example = examples[rowName]?.value ?? content['application/json']?.examples?.[rowName]?.value
  const value = startFrom(draw, ofRow, example as Record<string, unknown> | undefined, values)
  if (!breaks) return encodeBody(draw, contentType, value, undefined)
  const broken = breakObject(draw, ofRow, value)
  return encodeBody(draw, contentType, broken.value, broken.twice)
}

/** A body of several rows is one of each of them; the title names the row. */
function schemaOf(schema: Schema, rowName: string): Schema {
  const choices = schema['anyOf'] as readonly Schema[] | undefined
  return choices?.find(({ title }) => title === rowName) ?? choices?.[0] ?? schema
}

/** The documented example, as it is or with a member of another value, or a value that is made up as a whole. */
function startFrom(
  draw: Draw,
  schema: Schema,
  example: Readonly<Record<string, unknown>> | undefined,
  values: Values,
): Record<string, unknown> {
  const made = values.make(draw, schema, '') as Record<string, unknown>
  if (!example || draw.chance(40)) return made
  const fitting = Object.entries(example).filter(([name]) => !isFile(schema, name))
  const files = Object.entries(made).filter(([name]) => isFile(schema, name))
  const names = Object.keys(made)
  const changed = names.length > 0 && draw.chance(60) ? [draw.pick(names)].map((name) => [name, made[name]]) : []
  return Object.fromEntries([...fitting, ...files, ...changed])
}

function isFile(schema: Schema, name: string): boolean {
  const members = (schema['properties'] ?? {}) as Record<string, Schema>
  return members[name]?.['format'] === 'binary'
}
