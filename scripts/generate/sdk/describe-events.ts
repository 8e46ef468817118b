import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import { toJsonSchema } from '../../../server/src/http/openapi/schemas.ts'
import { describeInbound, describeValues } from './event-schemas.ts'
import type { Roots } from './named-shapes.ts'

/** What events hold, as JSON Schema: messages by kind, values by field. */
export interface EventSchemas {
  readonly inbound: Roots
  readonly values: Roots
}

export function describeEvents(vocabulary: Vocabulary): EventSchemas {
  const values = Object.entries(describeValues(vocabulary)).map(([field, schema]) => [field, toJsonSchema(schema)])
  const inbound = Object.entries(describeInbound(vocabulary)).map(([kind, schema]) => [kind, toJsonSchema(schema)])
  return { inbound: Object.fromEntries(inbound), values: Object.fromEntries(values) }
}
