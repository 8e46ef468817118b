import type { Vocabulary, WebhookEvent } from '@switchboard/client'
import type { MessageType, PhoneMessage } from '../phones/phone-messages.ts'
import type { EventField, KindOf } from './events.ts'

/** Which message is waited for; what is left out may be anything. */
export interface MessageFilter<Type extends MessageType = MessageType, V extends Vocabulary = 'msgapp'> {
  /** Its text: a text message's, the body of an interactive one, a caption, or a template as it was filled in. */
  readonly text?: string | RegExp | undefined
  readonly type?: Type | undefined
  /** The phone number that sent it. */
  readonly from?: string | undefined
  readonly where?: ((message: PhoneMessage<V>) => boolean) | undefined
  /** Milliseconds; 4,000 when left out: less than the 5 s that Jest and Vitest give a test. */
  readonly timeout?: number | undefined
}

/** Which event is waited for; what is left out may be anything. */
export interface EventFilter<
  Field extends EventField = EventField,
  Kind extends KindOf<Field> = KindOf<Field>,
  V extends Vocabulary = 'msgapp',
> {
  readonly field?: Field | undefined
  /** The type of a message or of a change of a group, the `event` of a call, or a status. */
  readonly kind?: Kind | undefined
  readonly account_id?: string | undefined
  readonly where?: ((event: Extract<WebhookEvent<V>, { field: Field }>) => boolean) | undefined
  /** Milliseconds; 4,000 when left out: less than the 5 s that Jest and Vitest give a test. */
  readonly timeout?: number | undefined
}

/** How long it is watched that nothing comes. */
export interface Watching {
  /** Milliseconds that everything has to be quiet for; 250 when left out. More for an app that responds to a webhook first and works then. */
  readonly quiet?: number | undefined
}

/** What was waited for did not come. */
export class NothingCame extends Error {
  override name = 'NothingCame'
}

/** What should not come did come. */
export class SomethingCame extends Error {
  override name = 'SomethingCame'
}

export function fitsMessage(message: PhoneMessage, { text, type, from, where }: MessageFilter<MessageType>): boolean {
  if (type !== undefined && message.type !== type) return false
  if (from !== undefined && message.phone_number_id !== from) return false
  if (text !== undefined && !fitsText(textOf(message), text)) return false
  return where === undefined || where(message)
}

function fitsText(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : new RegExp(wanted).test(text)
}

/** What a person reads in a message. */
export function textOf(message: PhoneMessage): string {
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && ['body', 'text', 'caption', 'title', 'emoji'].includes(name)) texts.push(member)
      else collect(member)
    }
  }
  const { rendered, ...rest } = message as PhoneMessage & { readonly rendered?: unknown }
  collect(rendered ?? (rest as Record<string, unknown>)[message.type])
  return texts.join('\n')
}

export function fitsEvent(event: WebhookEvent, { field, kind, account_id, where }: EventFilter): boolean {
  if (field !== undefined && event.field !== field) return false
  if (account_id !== undefined && event.account_id !== account_id) return false
  if (kind !== undefined && !kindsOf(event).includes(kind)) return false
  return where === undefined || where(event)
}

export function kindsOf(event: WebhookEvent): string[] {
  if (event.field === 'messages') {
    const { messages = [], statuses = [] } = event.value
    return [...messages.map(({ type }) => type), ...statuses.map(({ status }) => status)]
  }
  if (event.field === 'calls') {
    const { calls = [], statuses = [] } = event.value
    return [...calls.map(({ event: kind }) => kind), ...statuses.map(({ status }) => status)]
  }
  return 'groups' in event.value ? (event.value.groups as readonly { type: string }[]).map(({ type }) => type) : []
}
