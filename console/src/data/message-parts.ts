import type { GatewayFile, GatewayInteractive, GatewayMessage } from '@switchboard/client/methods'

const fileTypes = ['image', 'sticker', 'video', 'audio', 'document'] as const
export type FileType = (typeof fileTypes)[number]

export function isFileType(type: string): type is FileType {
  return (fileTypes as readonly string[]).includes(type)
}

export interface Place {
  readonly latitude: number
  readonly longitude: number
  readonly name: string | undefined
  readonly address: string | undefined
}

/** What stands above the text of a template or a question. */
export type Header =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: FileType; readonly file: GatewayFile }
  | { readonly type: 'location'; readonly place: Place }

interface Row {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
}

interface Section {
  readonly title: string | undefined
  readonly rows: readonly Row[]
}

/** What a user can press below a message of a business. */
type Choices =
  | { readonly type: 'buttons'; readonly buttons: readonly { readonly id: string; readonly title: string }[] }
  | { readonly type: 'list'; readonly button: string; readonly sections: readonly Section[] }
  | { readonly type: 'url'; readonly text: string; readonly url: string }
  | { readonly type: 'location_request' }
  | { readonly type: 'call_permission' }
  | { readonly type: 'flow'; readonly text: string }
  | { readonly type: 'cards'; readonly cards: readonly QuestionCard[] }
  | { readonly type: 'address'; readonly request: AddressRequest }
  | { readonly type: 'contact_request' }
  /** A button that calls the business, for so many minutes. */
  | { readonly type: 'call'; readonly text: string; readonly minutes: number }
  | { readonly type: 'none' }

/** A card of a question, and what it is answered with. */
interface QuestionCard {
  readonly header: Header | undefined
  readonly body: string | undefined
  readonly choices: Extract<Choices, { readonly type: 'buttons' | 'url' }>
}

/** The address that a business asks for. */
export interface AddressRequest {
  readonly country: string
  /** What the form is filled in with. */
  readonly values: Readonly<Record<string, string>>
  /** Addresses that the business knows. */
  readonly saved: readonly { readonly id: string; readonly value: Readonly<Record<string, string>> }[]
  /** What the business did not accept, by field. */
  readonly errors: Readonly<Record<string, string>>
}

/** What a business asks with something to press. */
export interface Question {
  /** The type on the wire. */
  readonly type: string
  readonly header: Header | undefined
  readonly body: string | undefined
  readonly footer: string | undefined
  readonly choices: Choices
}

/** What a user chose. */
export type Reply =
  | { readonly type: 'choice'; readonly id: string; readonly title: string; readonly description: string | undefined }
  | { readonly type: 'form'; readonly text: string | undefined; readonly json: string }
  | { readonly type: 'address'; readonly text: string }
  | { readonly type: 'call_permission'; readonly isAllowed: boolean }
  | { readonly type: 'unsupported' }

export function readPlace({ latitude, longitude, name, address }: NonNullable<GatewayMessage['location']>): Place {
  return { latitude: Number(latitude), longitude: Number(longitude), name, address }
}

/** The header of a template names its type in capital letters. */
export function readHeader(header: GatewayInteractive['header']): Header | undefined {
  const type = header?.type.toLowerCase() ?? ''
  if (!header) return undefined
  if (type === 'text') return { type, text: header.text ?? '' }
  const member = header[type]
  if (typeof member !== 'object' || member === null) return undefined
  if (type === 'location') return { type, place: readPlace(member as NonNullable<GatewayMessage['location']>) }
  return isFileType(type) ? { type, file: member } : undefined
}

export function readQuestion(interactive: GatewayInteractive): Question {
  const { type, header, body, footer } = interactive
  return { type, header: readHeader(header), body: body?.text, footer: footer?.text, choices: readChoices(interactive) }
}

function readChoices({ type, action = {} }: GatewayInteractive): Choices {
  const parameters = action.parameters ?? {}
  switch (type) {
    case 'button':
      return { type: 'buttons', buttons: (action.buttons ?? []).map(({ reply }) => reply) }
    case 'list':
      return { type: 'list', button: action.button ?? 'Choose', sections: (action.sections ?? []).map(readSection) }
    case 'cta_url':
      return readUrl(parameters)
    case 'location_request_message':
      return { type: 'location_request' }
    case 'call_permission_request':
      return { type: 'call_permission' }
    case 'flow':
      return { type: 'flow', text: textOf(parameters['flow_cta']) ?? 'Open' }
    case 'carousel':
      return { type: 'cards', cards: readCards(action) }
    case 'address_message':
      return { type: 'address', request: readAddressRequest(parameters) }
    case 'request_contact_info':
      return { type: 'contact_request' }
    case 'voice_call': {
      const minutes = Number(parameters['ttl_minutes'] ?? defaultCallMinutes)
      return { type: 'call', text: textOf(parameters['display_text']) ?? 'Call Now', minutes }
    }
    default:
      return { type: 'none' }
  }
}

/** How long a button that calls works where the business does not say. */
export const defaultCallMinutes = 10_080

function readUrl(parameters: Readonly<Record<string, unknown>>): Extract<Choices, { readonly type: 'url' }> {
  const url = textOf(parameters['url']) ?? ''
  return { type: 'url', text: textOf(parameters['display_text']) ?? url, url }
}

/** The members of a card as they are on the wire, where the service has checked them. */
interface WireCard {
  readonly card_index?: number
  readonly header?: GatewayInteractive['header']
  readonly body?: { readonly text?: string }
  readonly action?: {
    readonly buttons?: readonly { readonly quick_reply: { readonly id: string; readonly title: string } }[]
    readonly parameters?: Readonly<Record<string, unknown>>
  }
}

/** Cards stand in the order of their indexes, however they were sent. */
function readCards(action: object): QuestionCard[] {
  const cards = (action as { readonly cards?: readonly WireCard[] }).cards ?? []
  const inOrder = cards.toSorted((one, other) => (one.card_index ?? 0) - (other.card_index ?? 0))
  return inOrder.map(({ header, body, action = {} }) => ({
    header: readHeader(header),
    body: textOf(body?.text),
    choices: action.buttons
      ? { type: 'buttons', buttons: action.buttons.map(({ quick_reply }) => quick_reply) }
      : readUrl(action.parameters ?? {}),
  }))
}

function readAddressRequest(parameters: Readonly<Record<string, unknown>>): AddressRequest {
  const { country, values = {}, saved_addresses = [], validation_errors = {} } = parameters
  return {
    country: String(country),
    values: values as AddressRequest['values'],
    saved: saved_addresses as AddressRequest['saved'],
    errors: validation_errors as AddressRequest['errors'],
  }
}

type WireSection = NonNullable<NonNullable<GatewayInteractive['action']>['sections']>[number]

function readSection({ title, rows = [] }: WireSection): Section {
  return { title, rows: rows.map(({ id, title, description }) => ({ id, title, description })) }
}

export function readReply(interactive: GatewayInteractive): Reply {
  const { button_reply, list_reply, nfm_reply, call_permission_reply } = interactive
  const chosen = button_reply ?? list_reply
  if (chosen) return { type: 'choice', id: chosen.id, title: chosen.title, description: chosen.description }
  if (nfm_reply?.name === 'address_message' && nfm_reply.body) return { type: 'address', text: nfm_reply.body }
  if (nfm_reply) return { type: 'form', text: nfm_reply.body, json: nfm_reply.response_json }
  if (call_permission_reply) return { type: 'call_permission', isAllowed: call_permission_reply.response === 'accept' }
  return { type: 'unsupported' }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
