import type { Vocabulary, VocabularyName } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import type { Direction } from './write-type.ts'

const templateCategory = 'What the messages of a template are for: it decides their price and when they may be sent.'
const templateStatus = 'The state of a template; only an approved one can be sent.'
const qualityScore = 'How messages are received.'

type Place = readonly [place: string, sentence: string, onlyIn?: VocabularyName]

/**
 * Shapes that have a name in the client, each by one place where it occurs; wherever else the same shape occurs, its name is written.
 * `[]` are the items of a list, `(name)` is a parameter.
 */
const places: Readonly<Record<Direction, Readonly<Record<string, Place>>>> = {
  sent: {
    ContactCard: ['messages.send(contacts)[]', 'A contact to send.'],
    ContactName: ['messages.send(contacts)[].name', 'The name of a contact.'],
    ContactAddress: ['messages.send(contacts)[].addresses[]', 'A postal address of a contact.'],
    ContactEmail: ['messages.send(contacts)[].emails[]', 'An e-mail address of a contact.'],
    ContactOrganization: ['messages.send(contacts)[].org', 'Where a contact works.'],
    ContactPhone: ['messages.send(contacts)[].phones[]', 'A phone number of a contact.'],
    ContactUrl: ['messages.send(contacts)[].urls[]', 'A website of a contact.'],
    TextContent: ['messages.send(text)', 'What a text message holds.'],
    LocationContent: ['messages.send(location)', 'A place on the map.'],
    ReactionContent: ['messages.send(reaction)', 'A reaction; an empty emoji takes it back.'],
    WrittenContact: ['gateway.write_message(contacts)[]', 'A contact that a user shares; any member may be missing.'],
    WrittenReply: ['gateway.write_message(interactive)', 'What a user chose in an interactive message.'],
    WrittenReferral: ['gateway.write_message(referral)', 'The advertisement that a user comes from.'],
    WrittenError: ['gateway.write_message(errors)[]', 'Why a message cannot be shown.'],
    TemplateCategory: ['templates.create(category)', templateCategory],
    TemplateStatus: ['gateway.review_template(status)', templateStatus],
    TemplateLanguage: ['templates.create(language)', 'The code of a language.'],
    QualityScore: ['gateway.review_template(quality_score)', qualityScore],
    CallSession: ['calls.act(session)', 'An offer or an answer of WebRTC.'],
    OperationName: ['sandbox.replace_faults(rules)[].match.operation', 'The name of an operation.'],
    FaultRule: ['sandbox.replace_faults(rules)[]', 'A rule by which requests or webhooks fail on purpose.'],
  },
  received: {
    EventError: ['inbound.text.errors[]', 'Why something failed, as events show it.'],
    ItemError: ['messages.block_users.block_users.failed_users[].errors[]', 'Why one item of several failed.'],
    GroupError: ['groups.remove_participants.failed_participants[].errors[]', 'Why one item of a group failed.'],
    FailedUser: ['messages.block_users.block_users.failed_users[]', 'A user for whom a request failed.'],
    ResolvedUser: ['messages.block_users.block_users.added_users[]', 'A user as given, and the id that was found.'],
    EventContact: ['event.calls.contacts[]', 'The user whom an event is about.'],
    NumberMetadata: ['event.calls.metadata', 'The phone number that an event is about.'],
    Referral: ['inbound.text.referral', 'The advertisement that a user came from.'],
    QuotedMessage: ['inbound.reaction.context', 'The message that a message replies to.'],
    SharedContact: ['inbound.contacts.contacts[]', 'A contact that a user shared; any member may be missing.'],
    OrderedProduct: ['inbound.order.order.product_items[]', 'One product of an order.'],
    InteractiveReply: ['inbound.interactive.interactive', 'What a user chose: `type` says in what.'],
    MessageStatus: ['event.messages.statuses[]', 'What became of a message that was sent.'],
    CallEvent: ['event.calls.calls[]', 'The beginning or the end of a call.'],
    CallStatus: ['event.calls.statuses[]', 'What became of a call of the business.'],
    GroupLifecycleChange: ['event.group_lifecycle_update.groups[]', 'A group that was created or deleted.'],
    GroupParticipantsChange: ['event.group_participants_update.groups[]', 'Who joined, left, or asks to join a group.'],
    CallFinding: ['gateway.read_call.findings[]', 'What is wrong with the sound of a call, and what to do.'],
    MediaFile: ['media.read', 'A media file, with a link to its bytes.'],
    Template: ['templates.list.data[]', 'A message template; `fields` may leave any member out.'],
    TemplateComponent: ['templates.list.data[].components[]', 'A part of a template.'],
    TemplateButton: ['templates.list.data[].components[].buttons[]', 'A button of a template.'],
    TemplateQuality: ['templates.list.data[].quality_score', 'How the messages of a template are received.'],
    TemplateCategory: ['templates.list.data[].category', templateCategory],
    TemplateStatus: ['templates.list.data[].status', templateStatus],
    QualityScore: ['templates.list.data[].quality_score.score', qualityScore],
    WebhookField: ['webhooks.list_subscriptions.data[].fields[]', 'What an app can subscribe to.'],
    HealthStatus: ['account.read.health_status', 'Whether messages can be sent, and what prevents that.', 'whatsapp'],
    QrCode: ['qr_codes.list.data[]', 'A QR code of a phone number.'],
    Account: ['account.list_owned.data[]', 'A business account; `fields` may leave any member out.'],
    OnbehalfRequest: ['operator.list_onbehalf_requests.data[]', "A request to act on behalf of an account's owner."],
    Solution: ['solutions.list.data[]', 'A solution of several partners.'],
    Replay: ['operator.list_replays.data[]', 'Deliveries that are sent again, as one job.'],
    Lane: ['operator.list_lanes.data[]', 'The queue of deliveries to one subscriber.'],
    ActiveFault: ['sandbox.list_faults.rules[]', 'A rule by which requests or webhooks fail, and its hits.'],
    Snapshot: ['sandbox.list_snapshots.data[]', 'A saved state of the store.'],
    ClockState: ['sandbox.read_clock', 'The time of the service.'],
  },
}

/** Schemas by what they are of: the parameters or responses of rows, messages and events. */
export type Roots = Readonly<Record<string, JsonSchema>>

/** Gives the named shapes in a schema their titles. */
export type NameShapes = (schema: JsonSchema) => JsonSchema

export function makeNames(direction: Direction, roots: Roots, { name: vocabulary }: Vocabulary): NameShapes {
  const known = Object.entries(places[direction]).filter(([, [, , onlyIn = vocabulary]]) => onlyIn === vocabulary)
  const names = new Map(
    known.map(([title, [place, description]]) => [keyOf(find(roots, place)), { title, description }]),
  )
  const name: NameShapes = (schema) => {
    const { properties, items, anyOf } = schema
    const inner = {
      ...schema,
      ...(properties !== undefined && { properties: mapValues(properties as Members, name) }),
      ...(items !== undefined && { items: name(items as JsonSchema) }),
      ...(anyOf !== undefined && { anyOf: (anyOf as JsonSchema[]).map(name) }),
    }
    const known = schema['title'] === undefined ? names.get(keyOf(schema)) : undefined
    // The description of the member is for the member, that of the name for the type.
    return known ? { ...inner, title: known.title, 'x-of-type': known.description } : inner
  }
  return name
}

type Members = Readonly<Record<string, JsonSchema>>

function mapValues(members: Members, change: NameShapes): Members {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, change(schema)]))
}

function find(roots: Roots, place: string): JsonSchema {
  const root = Object.keys(roots).find((one) => place.startsWith(one) && /^([.[]|$)/.test(place.slice(one.length)))
  const steps = root === undefined ? undefined : (place.slice(root.length).match(/\[\]|[^.[\]]+/g) ?? [])
  const found = steps?.reduce<JsonSchema | undefined>(
    (schema, step) => (step === '[]' ? schema?.['items'] : (schema?.['properties'] as Members)?.[step]) as JsonSchema,
    roots[root as string],
  )
  if (!found) throw new Error(`no schema at ${place}`)
  return found
}

/** The same for schemas of the same type; what only limits values is left out. */
function keyOf(schema: JsonSchema): string {
  return JSON.stringify(reduce(schema))
}

function reduce(schema: JsonSchema): unknown {
  const { type, const: constant, enum: values, properties, required, items, anyOf, additionalProperties } = schema
  return {
    type,
    ...(constant !== undefined && { constant }),
    ...(values !== undefined && { values }),
    ...(properties !== undefined && {
      properties: Object.entries(properties as Members).map(([name, member]) => [name, reduce(member)]),
      required: [...((required ?? []) as string[])].sort(),
    }),
    ...(items !== undefined && { items: reduce(items as JsonSchema) }),
    ...(anyOf !== undefined && { anyOf: (anyOf as JsonSchema[]).map(reduce) }),
    ...(additionalProperties === true && { open: true }),
  }
}
