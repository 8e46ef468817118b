import type { TSchema } from 'typebox'
import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../../src/graph/vocabulary.ts'
import { fullInput, isOperation } from '../../src/http/route-table.ts'
import { buildOperations } from '../../src/operations.ts'
import { makeEnvelopeSchemas } from '../../src/resources/webhooks/inbound/envelope-schemas.ts'
import { commonMessage, interactiveKinds, messageKinds } from '../../src/resources/webhooks/inbound/message-kinds.ts'
import { worldSchema } from '../../src/world/parts.ts'

export interface NamedSchema {
  readonly name: string
  readonly schema: TSchema
  /** The source of its values: a request, an inbound event, a world file, or the service itself. */
  readonly of: 'request' | 'event' | 'world' | 'answer'
}

/** Every schema that validates values in the service, in both vocabularies. */
export function listSchemas(): NamedSchema[] {
  const world: NamedSchema = { name: 'the world file', schema: worldSchema, of: 'world' }
  return [world, ...vocabularyNames.flatMap(listOfVocabulary)]
}

function listOfVocabulary(spoken: VocabularyName): NamedSchema[] {
  const vocabulary = chooseVocabulary(spoken)
  const table = buildOperations(vocabulary).filter(isOperation)
  const rows = table.flatMap((row) => [
    {
      name: `${row.name} (${spoken})`,
      schema: fullInput(row),
      of: row.door === 'receiver' ? ('event' as const) : ('request' as const),
    },
    { name: `${row.name} (${spoken}, answer)`, schema: row.output, of: 'answer' as const },
  ])
  const parts = { ...makeEnvelopeSchemas(vocabulary), ...messageKinds, ...interactiveKinds, commonMessage }
  const events = Object.entries<TSchema>(parts)
  return [...rows, ...events.map(([name, schema]) => ({ name: `event: ${name}`, schema, of: 'event' as const }))]
}

/** A part of a schema, with the members that tests read. */
export interface SchemaPart {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}

/** Every part of a schema, itself included, with its place. */
export function* walkSchema(schema: unknown, place = ''): Generator<{ part: SchemaPart; place: string }> {
  if (typeof schema !== 'object' || schema === null) return
  yield { part: schema as SchemaPart, place }
  const { properties, items, anyOf } = schema as {
    properties?: Readonly<Record<string, unknown>>
    items?: unknown
    anyOf?: readonly unknown[]
  }
  for (const [name, member] of Object.entries(properties ?? {})) yield* walkSchema(member, `${place}.${name}`)
  if (items !== undefined) yield* walkSchema(items, `${place}[]`)
  for (const [index, choice] of (anyOf ?? []).entries()) yield* walkSchema(choice, `${place}|${index}`)
}
