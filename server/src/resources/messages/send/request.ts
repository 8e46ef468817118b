import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing } from '../../../graph/errors.ts'
import { checkInteractive, headerMediaOf, type Interactive } from '../content/interactive.ts'
import {
  type CarriedMedia,
  checkKind,
  type GivenLocation,
  type GivenMedia,
  isMediaKind,
  kindSchemas,
  type PlainKind,
  readLocation,
} from '../content/kinds.ts'
import { kindNotForGroups, kindNotTaken, notOffered } from '../errors.ts'
import { readRecipient } from '../recipient.ts'
import type { MessageRequest } from '../schemas.ts'
import { checkTemplateForm, type GivenTemplate, headerFileOf } from './template.ts'

export const sentKinds = [...Object.keys(kindSchemas), 'interactive', 'template'] as (
  | PlainKind
  | 'interactive'
  | 'template'
)[]
type SentKind = (typeof sentKinds)[number]

const groupKinds: readonly SentKind[] = ['text', 'image', 'audio', 'video', 'document', 'sticker', 'template']
const refusedMembers = ['recipient', 'recipient_identity_key_hash', 'category', 'ttl_seconds'] as const

/** A message to send whose form is right. */
export interface CheckedMessage {
  readonly kind: SentKind
  /** The member of its kind. */
  readonly value: object
  readonly toGroup: boolean
  /** As it came. */
  readonly input: string
  /** Digits of a user, or the id of a group. */
  readonly to: string
  readonly context_id: string | null
  readonly biz_opaque_callback_data: string | null
  readonly media: CarriedMedia | undefined
}

/** Throws the 400 unless a request to send is well-formed; form first, then whether the kind can be sent. */
export function checkMessageRequest(request: MessageRequest): CheckedMessage {
  for (const name of refusedMembers) if (request[name] !== undefined) throw badArgument(notOffered(name))
  const { to: input, type = 'text', recipient_type, context, biz_opaque_callback_data } = request
  if (input === undefined)
    throw badArgument(argumentMissing('to', { expected: "a user's phone number, or a group's id" }))
  const toGroup = recipient_type === 'group'
  const to = toGroup ? input : readRecipient(input)
  const { kind, value } = readKind(type, request)
  const media = mediaOf(kind, value)
  if (toGroup && !groupKinds.includes(kind)) throw kindNotForGroups({ given: kind, known: groupKinds })
  return {
    kind,
    value,
    toGroup,
    input,
    to,
    context_id: context?.message_id ?? null,
    biz_opaque_callback_data: biz_opaque_callback_data ?? null,
    media,
  }
}

function readKind(type: string, request: MessageRequest): { kind: SentKind; value: object } {
  if (!isSentKind(type)) throw kindNotTaken({ known: sentKinds })
  const value: object | undefined = request[type]
  if (value === undefined)
    throw badArgument(argumentMissing(type, { expected: `what a message of type ${type} holds` }))
  if (type === 'interactive') checkInteractive(value)
  else if (type === 'template') checkTemplateForm(value, 'template')
  else checkKind(type, value)
  return { kind: type, value: type === 'location' ? readLocation(value as GivenLocation) : value }
}

function isSentKind(type: string): type is SentKind {
  return (sentKinds as readonly string[]).includes(type)
}

function mediaOf(kind: SentKind, value: object): CarriedMedia | undefined {
  if (isMediaKind(kind)) return { kind, given: value as GivenMedia }
  if (kind === 'template') return headerFileOf(value as GivenTemplate)
  return kind === 'interactive' ? headerMediaOf(value as Interactive) : undefined
}
