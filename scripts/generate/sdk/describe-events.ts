import type { TSchema } from 'typebox'
import { chooseVocabulary, vocabularyNames } from '../../../server/src/graph/vocabulary.ts'
import { toJsonSchema } from '../../../server/src/http/openapi/schemas.ts'
import { describeInbound, describeValues } from './event-schemas.ts'
import { mergeSchemas } from './merge-schemas.ts'
import type { Roots } from './named-shapes.ts'

/** What events hold, as JSON Schema: messages by kind, values by field. */
export interface EventSchemas {
  readonly inbound: Roots
  readonly values: Roots
}

export function describeEvents(): EventSchemas {
  const [one = {}, other = {}] = vocabularyNames.map((name): Values => describeValues(chooseVocabulary(name)))
  const values = Object.entries(one).map(([field, schema]) => [
    field,
    mergeSchemas(toJsonSchema(schema), toJsonSchema(other[field] as TSchema)),
  ])
  const inbound = Object.entries(describeInbound()).map(([kind, schema]) => [kind, toJsonSchema(schema)])
  return { inbound: Object.fromEntries(inbound), values: Object.fromEntries(values) }
}

type Values = Readonly<Record<string, TSchema>>
