import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import type { EventSchemas } from './describe-events.ts'
import type { Method } from './describe-methods.ts'
import { makeNames, type NameShapes } from './named-shapes.ts'
import { type Direction, declareType, listTitled, listWords, writeComment } from './write-type.ts'

export interface NamedTypes {
  readonly methods: readonly Method[]
  readonly events: EventSchemas
  /** The module that declares the named types. */
  readonly text: string
  readonly names: readonly string[]
}

/** Names the shapes that occur in several places, and declares each of them once. */
export function nameTypes(methods: readonly Method[], events: EventSchemas): NamedTypes {
  const nameSent = makeNames('sent', Object.fromEntries(methods.flatMap(listSent)))
  const nameReceived = makeNames('received', {
    ...Object.fromEntries(methods.flatMap(({ row, output }) => (output ? [[row.name, output]] : []))),
    ...prefixKeys('inbound', events.inbound),
    ...prefixKeys('event', events.values),
  })
  const named = methods.map((method) => nameMethod(method, nameSent, nameReceived))
  const namedEvents = {
    inbound: mapValues(events.inbound, nameReceived),
    values: mapValues(events.values, nameReceived),
  }
  const sent = named.flatMap(({ kinds, parameters }) => (kinds ? [kinds] : parameters.map(({ schema }) => schema)))
  const outputs = named.flatMap(({ output }) => (output ? [output] : []))
  const received = [...outputs, ...Object.values(namedEvents.inbound), ...Object.values(namedEvents.values)]
  const declared = new Map(declareAll(sent, 'sent'))
  for (const [name, text] of declareAll(received, 'received')) {
    // Lists of values are the same in both directions; objects are not.
    if ((declared.get(name) ?? text) !== text) throw new Error(`${name} differs between what is sent and received`)
    declared.set(name, text)
  }
  return { methods: named, events: namedEvents, text: [...declared.values()].join('\n'), names: [...declared.keys()] }
}

/** The import of the named types that a text uses. */
export function writeTypeImports(text: string, names: readonly string[]): string {
  const words = listWords(text)
  const used = names.filter((name) => words.has(name)).sort()
  return used.length === 0 ? '' : `import type { ${used.join(', ')} } from './types.ts'\n\n`
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

function nameMethod(method: Method, nameSent: NameShapes, nameReceived: NameShapes): Method {
  const { parameters, kinds, output } = method
  return {
    ...method,
    parameters: parameters.map((parameter) => ({ ...parameter, schema: nameSent(parameter.schema) })),
    ...(kinds && { kinds: nameSent(kinds) }),
    output: output && nameReceived(output),
  }
}

function declareAll(schemas: readonly JsonSchema[], direction: Direction): [name: string, text: string][] {
  const titled = new Map<string, JsonSchema>()
  for (const schema of schemas) {
    for (const [title, found] of listTitled(schema)) {
      const before = titled.get(title)
      if (before && declareType(title, before, direction) !== declareType(title, found, direction)) {
        throw new Error(`two schemas have the title ${title}`)
      }
      titled.set(title, before ?? found)
    }
  }
  return [...titled].map(([name, schema]) => {
    const description = schema['x-of-type'] ?? schema['description']
    const comment = writeComment(description === undefined ? [] : [String(description)], '')
    return [name, `${comment}export ${declareType(name, schema, direction)}`]
  })
}
