import { readFileSync } from 'node:fs'
import type { NodeKind } from '../../src/graph/nodes.ts'
import type { Row } from '../../src/graph/operation.ts'
import { isBusiness, nodeKindOf, placeholdersOf, shapeOf } from '../../src/http/route-table.ts'

/** A schema of the public document: JSON Schema, with `nullable`. */
export interface PublicSchema {
  readonly type?: string | readonly string[]
  readonly nullable?: boolean
  readonly format?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, PublicSchema>>
  readonly additionalProperties?: boolean | PublicSchema
  readonly items?: PublicSchema
  readonly oneOf?: readonly PublicSchema[]
}

interface PublicOperation {
  readonly responses?: Readonly<Record<string, PublicSchema>>
}

const place = new URL('../../../docs/spec/public.json', import.meta.url)

/** The operations of the public document, by `METHOD /path`. */
export const publicOperations: Readonly<Record<string, PublicOperation>> = JSON.parse(readFileSync(place, 'utf8'))

/** What its placeholders of objects are called here; `undefined` for kinds of objects that are not served. */
export const kindsOfPlaceholders: Readonly<Record<string, NodeKind | undefined>> = {
  'Application-ID': 'application',
  'Business-ID': 'business',
  'Flow-ID': undefined,
  'Media-ID': 'media',
  'Media-URL': undefined,
  'Message-History-ID': undefined,
  'Migration-Intent-ID': 'migration_intent',
  'OBO-Mobility-Intent-ID': undefined,
  'Phone-Number-ID': 'phone_number',
  'Pre-Verified-Phone-Number-ID': undefined,
  'Solution-ID': 'solution',
  TEMPLATE_ID: 'template',
  'User-ID': undefined,
  'WABA-Bot-ID': 'bot',
  'WABA-ID': 'account',
  'WhatsApp-Account-Number-ID': 'account_number',
  'WhatsApp-Business-Account-ID': 'account',
  'WhatsApp-Business-Profile-ID': undefined,
  group_id: 'group',
}

/** The placeholder of the object in `METHOD /{Version}/{Placeholder}…`; undefined where a path names none. */
export function objectOf(key: string): string | undefined {
  return placeholdersOf(key)[1]
}

/** Public operations by method, shape of the path and kind of the object: between equal shapes the kind decides. */
const keys = new Map(
  Object.keys(publicOperations).flatMap((key) => {
    const kind = kindsOfPlaceholders[objectOf(key) ?? '']
    return kind === undefined ? [] : [[`${key.replaceAll(/\{[^{}]+\}/g, '{}')} ${kind}`, key] as const]
  }),
)

/** The public operation that a row of the business door serves; undefined when the public document does not have it. */
export function publicKeyOf(row: Row): string | undefined {
  return isBusiness(row) ? keys.get(`${row.method} ${shapeOf(row)} ${nodeKindOf(row)}`) : undefined
}
