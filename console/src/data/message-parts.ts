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
  | { readonly type: 'none' }

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
    case 'cta_url': {
      const url = textOf(parameters['url']) ?? ''
      return { type: 'url', text: textOf(parameters['display_text']) ?? url, url }
    }
    case 'location_request_message':
      return { type: 'location_request' }
    case 'call_permission_request':
      return { type: 'call_permission' }
    case 'flow':
      return { type: 'flow', text: textOf(parameters['flow_cta']) ?? 'Open' }
    default:
      return { type: 'none' }
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
  if (nfm_reply) return { type: 'form', text: nfm_reply.body, json: nfm_reply.response_json }
  if (call_permission_reply) return { type: 'call_permission', isAllowed: call_permission_reply.response === 'accept' }
  return { type: 'unsupported' }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
