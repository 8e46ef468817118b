import { type TSchema, Type } from 'typebox'
import { tokenEntries } from '../auth/world.ts'
import { chapters } from '../operations.ts'
import type { WorldPart } from '../world-part/part.ts'

/**
 * The order in which sibling keys are read, checked, written and exported, so that the same store always gives the same file. A key
 * comes after the keys that it refers to. Keys that are not listed come last.
 */
const order = [
  ...['businesses', 'apps', 'tokens', 'accounts', 'call_permissions'],
  ...['subscribed_apps', 'phone_numbers', 'bots', 'schedules', 'migration_intents', 'onbehalf_requests', 'templates'],
  ...['profile', 'compliance', 'qr_codes', 'groups'],
]

/** Every part of the file, parents before children. */
export const worldParts: readonly WorldPart[] = listParts(
  [tokenEntries, ...chapters.flatMap(({ world = [] }) => world)].sort((a, b) => rankOf(a) - rankOf(b)),
)

function rankOf({ key }: WorldPart): number {
  const rank = order.indexOf(key)
  return rank === -1 ? order.length : rank
}

function listParts(parts: readonly WorldPart[], under?: WorldPart): WorldPart[] {
  return parts.filter((part) => part.under === under).flatMap((part) => [part, ...listParts(parts, part)])
}

/** The children of a part, or the parts at the top of the file. */
export function partsUnder(part: WorldPart | undefined): WorldPart[] {
  return worldParts.filter(({ under }) => under === part)
}

const keys = partsUnder(undefined).map(({ key }) => key)
// Intl.ListFormat would take milliseconds of every start.
const listedKeys = `${keys.slice(0, -1).join(', ')} and ${keys.at(-1)}`

/** The schema of the whole file. The API ignores unknown members; in a file they are mistakes, at every depth. */
export const worldSchema = refuseUnknownKeys(
  Type.Object(describeParts(undefined), { 'x-expects': `a mapping with the keys ${listedKeys}` }),
)

function describeParts(under: WorldPart | undefined): Record<string, TSchema> {
  return Object.fromEntries(
    partsUnder(under).map((part) => {
      const schema = addMembers(part.schema, describeParts(part))
      return [part.key, Type.Optional(part.form === 'list' ? Type.Array(schema) : schema)]
    }),
  )
}

/** The members are optional, so that required ones stay as they are. */
function addMembers(schema: TSchema, members: Record<string, TSchema>): TSchema {
  const { properties } = schema as { properties?: Record<string, TSchema> }
  return properties ? { ...schema, properties: { ...properties, ...members } } : schema
}

function refuseUnknownKeys<S extends TSchema>(schema: S): S {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (properties) {
    const closed = Object.entries(properties).map(([key, member]) => [key, refuseUnknownKeys(member)])
    return { ...schema, properties: Object.fromEntries(closed), additionalProperties: false }
  }
  return items ? { ...schema, items: refuseUnknownKeys(items) } : schema
}
