import type { WebhookEvent } from '@switchboard/client'
import type { PhoneMessage } from '../phones/phone-messages.ts'
import { kindsOf, textOf } from './filters.ts'

/** A text longer than that is folded in its middle. */
const longestText = 160
const longestList = 10

/** A filter as it was written, with a space behind it: `{ text: /Hi/ } `; nothing for one that takes anything. */
export function describeFilter(filter: object): string {
  const members = Object.entries(filter).filter(([name, value]) => value !== undefined && !ofWaiting.includes(name))
  const texts = members.map(([name, value]) => {
    const isText = typeof value === 'string'
    return `${name}: ${isText ? `'${value}'` : fold(String(value))}`
  })
  return texts.length === 0 ? '' : `{ ${texts.join(', ')} } `
}

/** What is no part of what is waited for. */
const ofWaiting = ['timeout', 'quiet']

/** A message as a phone shows it, in one line: `text "Until six."`; with `all` its members follow. */
export function describeMessage(message: PhoneMessage, all: boolean): string {
  const text = textOf(message)
  const errors = 'errors' in message ? ` ${toJson(message['errors'])}` : ''
  return `${message.type}${text === '' ? '' : ` ${quote(text)}`}${errors}${all ? ` ${toJson(message)}` : ''}`
}

/** An event in one line, what matters first: `messages failed to 16505551234: 131047 Re-engagement message`. */
export function describeEvent(event: WebhookEvent, all: boolean): string {
  const { field } = event
  const kinds = kindsOf(event).join(', ')
  const essence = describeValue(event)
  const isKnown = essence !== '' && !all
  return `${field}${kinds === '' ? '' : ` ${kinds}`}${essence}${isKnown ? '' : ` ${toJson(event.value)}`}`
}

interface Item {
  readonly from?: string
  readonly recipient_id?: string
  readonly type?: string
  readonly errors?: readonly { code?: number; title?: string; message?: string; error_data?: { details?: string } }[]
}

function describeValue({ field, value }: WebhookEvent): string {
  if (field !== 'messages' && field !== 'calls') return ''
  const { messages = [], calls = [], statuses = [] } = value as unknown as Partial<Record<string, readonly Item[]>>
  return [...messages, ...calls, ...statuses].map((item) => describeItem(item)).join('; ')
}

function describeItem(item: Item): string {
  const { from, recipient_id, errors = [] } = item
  const who = from === undefined ? (recipient_id === undefined ? '' : ` to ${recipient_id}`) : ` from ${from}`
  const why = errors.map(({ code, title, message, error_data }) => {
    const details = error_data?.details
    return `${code} ${title ?? message}${details === undefined ? '' : ` (${details})`}`
  })
  const text = item.type === undefined ? '' : textOf(item as PhoneMessage)
  return `${who}${why.length > 0 ? `: ${why.join('; ')}` : ''}${text === '' ? '' : ` ${quote(text)}`}`
}

function quote(text: string): string {
  return JSON.stringify(fold(text))
}

/** A text with its beginning and its end, where it is long: what is interesting is at either. */
export function fold(text: string, longest = longestText): string {
  if (text.length <= longest) return text
  const half = Math.floor(longest / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half)} … ${left} more characters … ${text.slice(-half)}`
}

/** JSON with `errors` before all else, long texts and long lists folded: never cut off. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'string') return fold(member)
    if (Array.isArray(member) && member.length > longestList) {
      return [...member.slice(0, longestList), `… ${member.length - longestList} more`]
    }
    if (typeof member !== 'object' || member === null || !('errors' in member)) return member
    const { errors, ...others } = member
    return { errors, ...others }
  })
}
