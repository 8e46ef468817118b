import { type TObject, type TSchema, Type } from 'typebox'
import {
  chooseVocabulary,
  type Vocabulary,
  type VocabularyName,
  vocabularyNames,
} from '../../../server/src/graph/vocabulary.ts'
import { buildOperations } from '../../../server/src/operations.ts'
import { ruleSchema } from '../../../server/src/resources/sandbox/faults.ts'
import {
  qualityScores,
  templateCategories,
  templateLanguages,
  templateStatuses,
} from '../../../server/src/resources/templates/schemas.ts'
import { describeInbound, eventError } from './event-schemas.ts'
import { describeContents } from './message-contents.ts'
import { describeNewComponents } from './template-components.ts'

const optional = Type.Optional
const text = Type.String()

/** What users write has the members of what subscribers get; of a file the gateway knows all but its id. */
function describeWritten(inbound: Readonly<Record<string, TObject>>): Record<string, TSchema> {
  const kinds = Object.entries(inbound).map(([kind, { properties }]) => [kind, properties[kind]] as const)
  return Object.fromEntries(
    kinds.flatMap(([kind, member]) => {
      if (!member) return []
      const { properties } = member as TObject
      const isFile = properties?.['sha256'] !== undefined
      if (!isFile) return [[kind, member]]
      // The link is made for subscribers.
      const { url: _url, ...known } = Type.Partial(member as TObject).properties
      return [[kind, Type.Object({ ...known, id: Type.String() })]]
    }),
  )
}

/** The client writes several as the JSON array that the server takes. */
function oneOrSeveral(values: readonly string[]): TSchema {
  return Type.Union([Type.Enum([...values]), Type.Array(Type.Enum([...values]))])
}

/** A rule names an operation that there is, in either vocabulary. */
function describeFaultRule(): TSchema {
  const names = vocabularyNames.flatMap((name) => buildOperations(chooseVocabulary(name)).map((row) => row.name))
  const { match, ...others } = ruleSchema.properties
  const operation = optional(Type.Enum([...new Set(names)], { description: 'The operation, such as messages.send.' }))
  return Type.Object({ match: optional(Type.Object({ ...match.properties, operation })), ...others })
}

export type PreciseSchemas = Readonly<Record<string, Readonly<Record<string, TSchema>>>>

interface Precise {
  /** Members that a row takes as they come and checks later, when it is known what they have to be. */
  readonly members: PreciseSchemas
  /** Members of types that rows return, where the server checks less of what it passes on. */
  readonly shown: PreciseSchemas
}

const described = new Map<VocabularyName, Precise>()

export function describePrecisely(vocabulary: Vocabulary): Precise {
  const known = described.get(vocabulary.name) ?? describeAnew(vocabulary)
  described.set(vocabulary.name, known)
  return known
}

function describeAnew(vocabulary: Vocabulary): Precise {
  const inbound = describeInbound(vocabulary)
  const newTemplateComponents = describeNewComponents(vocabulary)
  return {
    members: {
      'gateway.write_message': {
        ...describeWritten(inbound),
        referral: referralOf(inbound),
        errors: Type.Array(eventError),
      },
      'messages.send': { ...describeContents(vocabulary), status: Type.Literal('read') },
      'sandbox.replace_faults': { rules: Type.Array(describeFaultRule()) },
      'templates.list': {
        status: oneOrSeveral(templateStatuses),
        category: oneOrSeveral(templateCategories),
        language: oneOrSeveral(templateLanguages),
        quality_score: oneOrSeveral(qualityScores),
      },
      'templates.create': { components: newTemplateComponents },
      'templates.edit': { components: newTemplateComponents },
    },
    shown: { GatewayMessage: describeShownMessage(inbound, vocabulary) },
  }
}

function referralOf(inbound: Readonly<Record<string, TObject>>): TSchema {
  return inbound['text']?.properties['referral'] as TSchema
}

const messageState = Type.Enum(['accepted', 'sent', 'delivered', 'read', 'played', 'failed', 'deleted'])
const choice = Type.Object({ id: text, title: text, description: optional(text) })

/** What a template and each of its cards is filled in to. */
const renderedPart = {
  header: optional(Type.Object({ type: text, text: optional(text) }, { additionalProperties: true })),
  body: text,
  buttons: Type.Array(
    Type.Object({ index: Type.Integer(), type: text, text, payload: optional(text), url: optional(text) }),
  ),
}

function describeShownMessage(
  inbound: Readonly<Record<string, TObject>>,
  { habits }: Vocabulary,
): Record<string, TSchema> {
  return {
    type: Type.Enum([...Object.keys(inbound), 'template']),
    state: messageState,
    states: Type.Array(Type.Object({ status: messageState, timestamp: text, user_wa_id: optional(text) })),
    contacts: inbound['contacts']?.properties['contacts'] as TSchema,
    order: inbound['order']?.properties['order'] as TSchema,
    system: inbound['system']?.properties['system'] as TSchema,
    referral: referralOf(inbound),
    errors: Type.Array(eventError),
    interactive: Type.Object(
      {
        type: text,
        header: optional(Type.Object({ type: text, text: optional(text) }, { additionalProperties: true })),
        body: optional(Type.Object({ text })),
        footer: optional(Type.Object({ text })),
        action: optional(
          Type.Object({
            name: optional(text),
            button: optional(text),
            buttons: optional(Type.Array(Type.Object({ type: text, reply: Type.Object({ id: text, title: text }) }))),
            sections: optional(
              Type.Array(
                Type.Object({
                  title: optional(text),
                  rows: optional(Type.Array(choice)),
                  product_items: optional(Type.Array(Type.Object({ product_retailer_id: text }))),
                }),
              ),
            ),
            catalog_id: optional(text),
            product_retailer_id: optional(text),
            parameters: optional(Type.Object({})),
          }),
        ),
        button_reply: optional(choice),
        list_reply: optional(choice),
        nfm_reply: optional(Type.Object({ name: optional(text), body: optional(text), response_json: text })),
        call_permission_reply: optional(
          Type.Object({ response: text, expiration_timestamp: optional(text), response_source: optional(text) }),
        ),
      },
      { title: 'GatewayInteractive', description: 'Choices that a phone shows, or what its user chose.' },
    ),
    rendered: Type.Object(
      {
        ...renderedPart,
        footer: optional(text),
        ...(habits.more_message_forms && publicRendered),
      },
      { description: 'A template, filled in.' },
    ),
  }
}

const publicRendered = {
  cards: optional(Type.Array(Type.Object(renderedPart))),
  limited_time_offer: optional(Type.Object({ text, expiration_time_ms: optional(Type.Integer()) })),
}
