import type { TObject } from 'typebox'
import { requestBounds } from '../../src/graph/input/json-bounds.ts'

/** The members of a schema that inputs are made from. */
interface Part {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Part>>
  readonly items?: Part
  readonly anyOf?: readonly Part[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly maxLength?: number
  readonly maxItems?: number
}

/** A few less than a body may have: what has more is refused whatever it is sent to, which the generic bodies show. */
const mostValues = requestBounds.values - 100
const wide = `{${Array.from({ length: mostValues }, (_, index) => `"${index.toString(36)}":0`).join()}}`

/** Marks where a value goes that is written by hand. */
const hole = 'the worst value goes here'

/**
 * For each member of an input, at any depth, inputs that are right but for it: a text as long as the body may be, or as long as
 * itself may be, an array full of items, an object full of members.
 */
export function* worstInputs(
  input: TObject,
  example: Readonly<Record<string, unknown>>,
  bytes: number,
): Generator<{ name: string; json: string }> {
  const room = bytes - JSON.stringify(example).length - 2000
  for (const { part, put, place } of listPlaces(input as Part, example, (value) => value, '')) {
    for (const { name, value } of listValues(part, room)) {
      yield {
        name: `${place || 'the body'} is ${name}`,
        json: JSON.stringify(put(hole)).replace(`"${hole}"`, () => value),
      }
    }
  }
}

interface Place {
  readonly part: Part
  readonly place: string
  /** The whole input with a value at this place. */
  readonly put: (value: unknown) => unknown
}

function* listPlaces(part: Part, example: unknown, put: Place['put'], place: string): Generator<Place> {
  if (place !== '') yield { part, put, place }
  for (const choice of part.anyOf ?? []) yield { part: choice, put, place }
  const members = typeof example === 'object' && example !== null ? (example as Record<string, unknown>) : {}
  for (const [name, member] of Object.entries(part.properties ?? {})) {
    const inner = place === '' ? name : `${place}.${name}`
    yield* listPlaces(member, members[name], (value) => put({ ...members, [name]: value }), inner)
  }
  if (part.items) {
    const [first] = Array.isArray(example) ? example : []
    yield* listPlaces(part.items, first, (value) => put([value]), `${place}[0]`)
  }
}

function* listValues(part: Part, room: number): Generator<{ name: string; value: string }> {
  const long = (repeated: string, length: number) =>
    JSON.stringify(`${repeated.repeat(Math.max(1, Math.floor(length / repeated.length) - 1))} `)
  if (part.type === 'string' && part.enum === undefined) {
    yield { name: 'a long text', value: long('@.', room) }
    const most = part.maxLength ?? room
    if (most < room) yield { name: 'as long as it may be', value: long('@.', most) }
  } else if (part.type === 'array') {
    const item = JSON.stringify(sampleOf(part.items ?? {}))
    const fill = (one: string, count: number) => `[${`${one},`.repeat(count - 1)}${one}]`
    const fitting = Math.floor(mostValues / (1 + [...item.matchAll(/[,[{]/g)].length))
    yield { name: 'an array of as many right items as are read', value: fill(item, fitting) }
    yield { name: 'an array of as many wrong items as are read', value: fill('0', mostValues) }
    if (part.maxItems !== undefined) yield { name: 'an array with all items', value: fill(item, part.maxItems) }
  } else if (part.type === 'object') {
    yield { name: 'an object of as many members as are read', value: wide }
    yield { name: 'as deep as is read', value: `${'['.repeat(50)}${']'.repeat(50)}` }
  }
}

/** A small value that a schema might take. */
function sampleOf(part: Part): unknown {
  if (part.enum) return part.enum[0]
  if (part.const !== undefined) return part.const
  if (part.properties)
    return Object.fromEntries(Object.entries(part.properties).map(([name, one]) => [name, sampleOf(one)]))
  return part.type === 'integer' || part.type === 'number' ? 0 : part.type === 'boolean' ? true : '1'
}
