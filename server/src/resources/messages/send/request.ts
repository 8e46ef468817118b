import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing } from '../../../graph/errors.ts'
import type { Habits } from '../../../graph/habits.ts'
import { checkInteractive } from '../content/interactive.ts'
import {
  type CarriedMedia,
  checkKind,
  type GivenLocation,
  kindSchemas,
  type PlainKind,
  readLocation,
} from '../content/kinds.ts'
import { kindNotForGroups, kindNotTaken, notOffered, recipientUnknown } from '../errors.ts'
import { readRecipient } from '../recipient.ts'
import type { MessageRequest } from '../schemas.ts'
import { listMedia } from './carried-media.ts'
import { checkTemplateForm } from './template.ts'

export const sentKinds = [...Object.keys(kindSchemas), 'interactive', 'template'] as (
  | PlainKind
  | 'interactive'
  | 'template'
)[]
type SentKind = (typeof sentKinds)[number]

const groupKinds: readonly SentKind[] = ['text', 'image', 'audio', 'video', 'document', 'sticker', 'template']
const refusedMembers = ['recipient_identity_key_hash', 'category', 'ttl_seconds'] as const

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
  /** The files that it carries: at most one, or one for each of its cards. */
  readonly media: readonly CarriedMedia[]
}

/** The digits of the user of a business with an id; undefined where it has no such user. */
type ReadUserId = (id: string) => string | undefined

/**
 * Throws the 400 unless a request to send is well-formed; form first, then whether the kind can be sent. Without `readUserId` users have no
 * ids but their numbers.
 */
export function checkMessageRequest(
  request: MessageRequest,
  habits: Habits,
  readUserId: ReadUserId | undefined,
): CheckedMessage {
  if (!readUserId && request.recipient !== undefined) throw badArgument(notOffered('recipient'))
  for (const name of refusedMembers) if (request[name] !== undefined) throw badArgument(notOffered(name))
  const { type = 'text', recipient_type, context, biz_opaque_callback_data } = request
  const toGroup = recipient_type === 'group'
  const { input, to } = readTo(request, toGroup, readUserId)
  const { kind, value } = readKind(type, request, habits)
  const media = listMedia(kind, value)
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

/** Whom it is for: `to`, also where both are given, as on the public platform; or `recipient`, the id of a user. */
function readTo(
  { to, recipient }: MessageRequest,
  toGroup: boolean,
  readUserId: ReadUserId | undefined,
): Pick<CheckedMessage, 'input' | 'to'> {
  if (to !== undefined) return { input: to, to: toGroup ? to : readRecipient(to) }
  if (!readUserId || toGroup || typeof recipient !== 'string')
    throw badArgument(argumentMissing('to', { expected: "a user's phone number, or a group's id" }))
  const digits = readUserId(recipient)
  if (digits === undefined) throw recipientUnknown()
  return { input: recipient, to: digits }
}

function readKind(type: string, request: MessageRequest, habits: Habits): { kind: SentKind; value: object } {
  if (!isSentKind(type)) throw kindNotTaken({ known: sentKinds })
  const value: object | undefined = request[type]
  if (value === undefined)
    throw badArgument(argumentMissing(type, { expected: `what a message of type ${type} holds` }))
  if (type === 'interactive') checkInteractive(value, habits)
  else if (type === 'template') checkTemplateForm(value, 'template')
  else checkKind(type, value)
  return { kind: type, value: type === 'location' ? readLocation(value as GivenLocation) : value }
}

function isSentKind(type: string): type is SentKind {
  return (sentKinds as readonly string[]).includes(type)
}
