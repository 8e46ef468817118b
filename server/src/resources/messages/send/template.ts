import { Type } from 'typebox'
import { isWebLink } from '../../../base/text/web-link.ts'
import { minute } from '../../../base/time/duration.ts'
import type { Db } from '../../../db/database.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import {
  componentMissing,
  type FilledTemplate,
  fillTemplate,
  findSendableTemplate,
  type SendableTemplate,
  textParametersMissing,
} from '../../templates/public.ts'
import { makeCheck } from '../content/check.ts'
import type { CallButton, Choices } from '../content/choices.ts'
import type { CarriedMedia } from '../content/kinds.ts'
import { templateNotForGroups } from '../errors.ts'
import type { Sender } from '../store.ts'

/** The member `template` of a message whose form is right; what its components hold is checked against the template. */
export interface GivenTemplate {
  readonly name: string
  readonly language: { readonly code: string }
  readonly components?: readonly unknown[]
}

/** A template that can be sent, and what the user gets to see of it. */
export interface TemplateToSend {
  readonly template: SendableTemplate
  readonly filled: FilledTemplate
}

/** Throws the 400 unless a template is named as it has to be. */
export const checkTemplateForm = makeCheck(
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 512 }),
    language: Type.Object({
      code: Type.String({ minLength: 1, maxLength: 20 }),
      policy: Type.Optional(Type.Literal('deterministic')),
    }),
    components: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100 })),
  }),
)

/**
 * The files that a message names for the header of its template, or for those of its cards, in the order of the cards. Read before the
 * template is known, because a file that is missing is refused first; what is of another form is left to filling in.
 */
export function mediaOfTemplate({ components = [] }: GivenTemplate): CarriedMedia[] {
  const { cards } = findPart(components, 'carousel')
  if (!Array.isArray(cards)) return listHeader(components)
  const ofCards = cards.map(readMembers).flatMap(({ card_index: card, components: given }) => {
    const isCard = typeof card === 'number' && Array.isArray(given)
    return isCard ? listHeader(given).map((media) => ({ ...media, card })) : []
  })
  return ofCards.toSorted((one, other) => one.card - other.card)
}

function listHeader(components: readonly unknown[]): CarriedMedia[] {
  const file = readHeaderFile(findPart(components, 'header'))
  return file ? [file] : []
}

function findPart(components: readonly unknown[], part: string): Readonly<Record<string, unknown>> {
  return components.map(readMembers).find(({ type }) => readWord(type) === part) ?? {}
}

function readHeaderFile({ parameters }: Readonly<Record<string, unknown>>): CarriedMedia | undefined {
  if (!Array.isArray(parameters) || parameters.length !== 1) return undefined
  const parameter = readMembers(parameters[0])
  const kind = readWord(parameter['type'])
  if (kind !== 'image' && kind !== 'video' && kind !== 'document') return undefined
  const { id, link, filename } = readMembers(parameter[kind])
  const isPdf = kind === 'document'
  const name = typeof filename === 'string' ? { filename } : {}
  if (typeof id === 'string' && id !== '' && link === undefined) return { kind, isPdf, given: { id, ...name } }
  if (typeof link === 'string' && id === undefined && isWebLink(link)) return { kind, isPdf, given: { link, ...name } }
  return undefined
}

function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function readWord(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toLowerCase() : undefined
}

/** Finds the template that a message names, and fills it in; throws what refuses it. */
export async function takeTemplate(
  db: Db,
  { habits }: Vocabulary,
  { account_id }: Sender,
  { name, language, components }: GivenTemplate,
  toGroup: boolean,
): Promise<TemplateToSend> {
  const template = await findSendableTemplate(db, account_id, name, language.code)
  if (toGroup && template.category === 'AUTHENTICATION') throw templateNotForGroups()
  const missingText = habits.missing_parameters_counted ? textParametersMissing : componentMissing
  return { template, filled: fillTemplate(template, components, missingText) }
}

/** What a user can press in a template: its quick replies by their index, a flow or a catalog, and a button that calls. */
export function choicesOfTemplate({ buttons, cards = [] }: FilledTemplate): Choices | null {
  const options = [...listReplies(buttons), ...cards.flatMap((one, card) => listReplies(one.buttons, card))]
  const call = buttons.find(({ type }) => type === 'VOICE_CALL')
  const flows = buttons.flatMap(({ index, type }) => (type === 'FLOW' ? [index] : []))
  const orders = buttons.flatMap(({ index, type }) => (type === 'CATALOG' || type === 'MPM' ? [index] : []))
  if (options.length + flows.length + orders.length === 0 && !call) return null
  return { kind: 'template', options, flows, orders, ...(call && { call: describeCall(call) }) }
}

function listReplies(buttons: FilledTemplate['buttons'], card?: number) {
  return buttons.flatMap(({ index, type, text, payload = text }) =>
    type === 'QUICK_REPLY' ? [{ index, payload, text, ...(card !== undefined && { card }) }] : [],
  )
}

function describeCall({ ttl_minutes = 0, payload }: FilledTemplate['buttons'][number]): CallButton {
  return { lifetime: ttl_minutes * minute, ...(payload !== undefined && { payload }) }
}
