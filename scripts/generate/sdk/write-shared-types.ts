import { isDeepStrictEqual } from 'node:util'
import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { type Declaration, declareSchema } from './declarations.ts'
import type { EventSchemas } from './describe-events.ts'
import type { Method } from './describe-methods.ts'
import { commentMembers } from './member-comments.ts'
import { makeNames, type NameShapes } from './named-shapes.ts'
import { type Direction, listTitled, listWords } from './write-type.ts'

export interface NamedTypes {
  readonly methods: readonly Method[]
  readonly events: EventSchemas
  /** The named types. */
  readonly declarations: readonly Declaration[]
}

/** Names the shapes that occur in several places, and declares each of them once. */
export function nameTypes(methods: readonly Method[], events: EventSchemas, vocabulary: Vocabulary): NamedTypes {
  const nameSent = makeNames('sent', Object.fromEntries(methods.flatMap(listSent)), vocabulary)
  const nameReceived = makeNames(
    'received',
    {
      ...Object.fromEntries(methods.flatMap(({ row, output }) => (output ? [[row.name, output]] : []))),
      ...prefixKeys('inbound', events.inbound),
      ...prefixKeys('event', events.values),
    },
    vocabulary,
  )
  const named = methods.map((method) => nameMethod(method, nameSent, nameReceived))
  const namedEvents = {
    inbound: mapComments(mapValues(events.inbound, nameReceived), (kind) => `Inbound${writeTypeName(kind)}`),
    values: mapComments(mapValues(events.values, nameReceived), (field) => `${writeTypeName(field)}Value`),
  }
  const sent = named.flatMap(({ kinds, parameters }) => (kinds ? [kinds] : parameters.map(({ schema }) => schema)))
  const outputs = named.flatMap(({ output }) => (output ? [output] : []))
  const received = [...outputs, ...Object.values(namedEvents.inbound), ...Object.values(namedEvents.values)]
  const declared = new Map(declareAll(sent, 'sent').map((one) => [one.name, one]))
  for (const one of declareAll(received, 'received')) {
    const before = declared.get(one.name)
    // Lists of values are the same in both directions; objects are not.
    if (before && !isDeepStrictEqual(before, one)) throw new Error(`${one.name} differs between sent and received`)
    declared.set(one.name, one)
  }
  return { methods: named, events: namedEvents, declarations: [...declared.values()] }
}

/** The imports of the types that a text uses from beside it. */
export function writeTypeImports(text: string, names: readonly string[]): string {
  const words = listWords(text)
  const used = names.filter((name) => words.has(name)).sort()
  const lines = [
    ...(words.has('Vocabulary') ? ["import type { Vocabulary } from './constants.ts'\n"] : []),
    ...(used.length > 0 ? [`import type { ${used.join(', ')} } from './types.ts'\n`] : []),
  ]
  return lines.length === 0 ? '' : `${lines.join('')}\n`
}

type Schemas = Readonly<Record<string, JsonSchema>>

function listSent({ row, parameters }: Method): [string, JsonSchema][] {
  return parameters.map(({ name, schema }) => [`${row.name}(${name})`, schema])
}

function prefixKeys(prefix: string, schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${prefix}.${name}`, schema]))
}

function mapValues(schemas: Schemas, change: NameShapes): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]))
}

function mapComments(schemas: Schemas, nameOf: (key: string) => string): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, commentMembers(schema, nameOf(key))]))
}

function nameMethod(method: Method, nameSent: NameShapes, nameReceived: NameShapes): Method {
  const { parameters, kinds, output } = method
  return {
    ...method,
    parameters: parameters.map((parameter) => ({
      ...parameter,
      schema: commentMembers(nameSent(parameter.schema)),
    })),
    ...(kinds && { kinds: commentMembers(nameSent(kinds)) }),
    output: output && commentMembers(nameReceived(output)),
  }
}

function declareAll(schemas: readonly JsonSchema[], direction: Direction): Declaration[] {
  const titled = new Map<string, Declaration>()
  for (const schema of schemas) {
    for (const [title, found] of listTitled(schema)) {
      const sentence = found['x-of-type'] ?? found['description']
      const one = declareSchema(title, found, direction, sentence === undefined ? undefined : String(sentence))
      const before = titled.get(title)
      if (before && JSON.stringify([before.members, before.type]) !== JSON.stringify([one.members, one.type])) {
        throw new Error(`two schemas have the title ${title}`)
      }
      titled.set(title, before ?? one)
    }
  }
  return [...titled.values()]
}
