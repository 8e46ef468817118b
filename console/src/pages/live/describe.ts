import type { FeedItem, ItemOf, PhoneData } from '../../data/feed-items.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { describeSignUp } from './describe-sign-up.ts'
import { type Tone, toneOfState } from './tones.ts'

export interface Described {
  /** What happened. */
  readonly text: string
  /** What a person wrote, or what went wrong. */
  readonly detail?: string | undefined
  /** How it ended, in a word. */
  readonly result: string
  readonly tone: Tone
}

/** The name of an app or number by its id. */
export type NameOf = (id: string | null | undefined) => string

const typeNames: Readonly<Record<FeedItem['type'], string>> = {
  request: 'Request',
  event: 'Event',
  delivery: 'Webhook',
  try: 'Attempt',
  timer: 'Timer',
  replay: 'Replay',
  audit: 'Audit',
  message: 'Message',
  call: 'Call',
  phone: 'Phone',
  other: 'Other',
}

export function nameType(type: FeedItem['type']): string {
  return typeNames[type]
}

/** What happened, in one line. */
export function describe(item: FeedItem, nameOf: NameOf): Described {
  switch (item.type) {
    case 'request':
      return describeRequest(item)
    case 'event':
    case 'message':
    case 'call':
      return describeEvent(item)
    case 'delivery':
      return describeDelivery(item, nameOf)
    case 'try':
      return describeAttempt(item, nameOf)
    case 'replay': {
      const { replayed, total, state } = item.data
      return { text: `${replayed} of about ${total} webhooks sent again`, result: state, tone: toneOfState(state) }
    }
    case 'phone':
      return describePhone(item.data)
    case 'audit': {
      const { actor_name, operation, node_kind, node_id } = item.data
      const signUp = describeSignUp(item.data, nameOf)
      if (signUp !== undefined) return { text: signUp, result: 'recorded', tone: 'plain' }
      const who = actor_name === undefined ? '' : `${actor_name}: `
      return { text: `${who}${operation} on ${node_kind} ${node_id}`, result: 'recorded', tone: 'plain' }
    }
    case 'timer':
      return { text: beginUpper(item.data.kind.replaceAll('_', ' ')), result: 'fired', tone: 'plain' }
    case 'other':
      return { text: `${item.data.kind}, without details`, result: '', tone: 'plain' }
  }
}

function describeRequest({ data }: ItemOf<'request'>): Described {
  const { method, target, operation, status, error, message } = data
  const to = message?.to === undefined ? '' : ` to ${writeUser(message.to)}`
  return {
    text: `${method} ${target === undefined || target === '' ? operation : shortenTarget(target)}${to}`,
    detail: error?.message ?? quote(message?.excerpt),
    result: String(status),
    tone: status < 400 ? 'good' : 'bad',
  }
}

/** A target without what every one has: its version and the id of its number, and a query that is long. */
function shortenTarget(target: string): string {
  const [path = '', query] = target.replace(/^\/v[\d.]+\/\d{6,}(?=\/)/, '…').split('?')
  return query === undefined ? path : `${path}?${query.length < 40 ? query : '…'}`
}

function describeEvent({ data }: ItemOf<'event' | 'message' | 'call'>): Described {
  const { isRemoved } = data
  const [status] = data.statuses
  const [message] = data.messages
  const [call] = data.calls
  const text = aboutWhat(data)
  if (status) {
    const { error } = status
    const word = status.status.toLowerCase()
    const detail = error && `${error.code ?? ''} ${error.title}`.trim()
    return { text, detail, result: word, tone: word === 'failed' ? 'bad' : 'good' }
  }
  if (message) return { text, detail: quote(message.excerpt), result: message.type ?? '', tone: 'good' }
  if (call) return { text, result: call.event ?? 'call', tone: 'good' }
  return { text, result: isRemoved ? 'removed' : 'raised', tone: 'plain' }
}

function describeDelivery({ data }: ItemOf<'delivery'>, nameOf: NameOf): Described {
  const { app_id, state, attempts } = data
  // Waiting after an attempt is failing: one webhook has one word for it everywhere.
  const word = state === 'waiting' && attempts > 0 ? 'failing' : state
  return { text: `${aboutWhat(data)} → ${nameOf(app_id)}`, result: word, tone: toneOfState(word) }
}

function describeAttempt({ data }: ItemOf<'try'>, nameOf: NameOf): Described {
  const { number, subject, field, app_id, status, problem } = data
  const what = number === 1 ? aboutWhat(data) : `Attempt ${number}: ${subject ?? field}`
  return {
    text: `${what} → ${nameOf(app_id)}`,
    detail: problem ?? undefined,
    result: status === null ? 'no response' : String(status),
    tone: problem ? 'bad' : 'good',
  }
}

/** What an event or its webhook is about; its field, a name of the wire, stays as it is. */
export function aboutWhat({ subject, field }: { readonly subject: string | null; readonly field: string }): string {
  return subject === null ? field : beginUpper(subject)
}

function describePhone(data: PhoneData): Described {
  const user = data.user_wa_id === undefined ? 'a group' : writeUser(data.user_wa_id)
  switch (data.what) {
    case 'status':
      return { text: `Message to ${user}`, result: data.status, tone: data.status === 'failed' ? 'bad' : 'good' }
    case 'typing':
      return { text: `The business types to ${user}`, result: 'typing', tone: 'plain' }
    case 'message': {
      const text = data.direction === 'to_user' ? `Arrived at ${user}` : `Written by ${writeUser(data.from)}`
      return { text, detail: quote(data.excerpt), result: data.type, tone: 'plain' }
    }
  }
}

function writeUser(digits: string): string {
  return /^\d+$/.test(digits) ? `+${digits}` : digits
}

function quote(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `“${text}”`
}
