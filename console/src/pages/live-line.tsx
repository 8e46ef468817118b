import { nameOf } from '../data/directory.ts'
import type { EventData } from '../data/feed-data.ts'
import type { FeedItem, PhoneData } from '../data/feed-items.ts'
import { Badge, Time, To } from '../ui/parts.tsx'

const consoleDoors = new Set(['operator', 'gateway', 'edge_link', 'open'])

/** Whether the console itself asked for it: it would drown what others do. */
export function isOwn({ type, data }: FeedItem): boolean {
  if (type !== 'request') return false
  const { door, method, hasProof } = data
  if (door === 'open' || door === 'operator') return true
  return consoleDoors.has(door) && (method === 'GET' || hasProof)
}

const names: Readonly<Record<FeedItem['type'], string>> = {
  request: 'Request',
  event: 'Event',
  delivery: 'Webhook',
  try: 'Attempt',
  timer: 'Timer',
  replay: 'Replay',
  audit: 'Record',
  message: 'Message',
  call: 'Call',
  phone: 'Phone',
  other: 'Other',
}

export function nameType(type: FeedItem['type']): string {
  return names[type]
}

interface Described {
  readonly text: string
  readonly result: string
  readonly tone: 'good' | 'bad' | 'warn' | 'plain'
}

/** What happened, in one line. */
export function describe({ type, data }: FeedItem): Described {
  switch (type) {
    case 'request': {
      const { method, operation, target, status, error } = data
      return {
        text: `${method} ${target || operation}${error ? ` · ${error.message}` : ''}`,
        result: String(status),
        tone: status < 400 ? 'good' : 'bad',
      }
    }
    case 'event':
    case 'message':
    case 'call':
      return describeEvent(data)
    case 'delivery':
      return { text: `${data.field} → ${data.callback_url}`, result: data.state, tone: toneOfState(data.state) }
    case 'try': {
      const { number, callback_url, status, problem } = data
      return {
        text: `Attempt ${number} → ${callback_url}${problem ? ` · ${problem}` : ''}`,
        result: status === null ? 'no response' : String(status),
        tone: problem ? 'bad' : 'good',
      }
    }
    case 'replay':
      return {
        text: `${data.replayed} of about ${data.total} webhooks sent again`,
        result: data.state,
        tone: toneOfState(data.state),
      }
    case 'phone':
      return describePhone(data)
    case 'audit':
      return {
        text: `${data.operation} on ${data.node_kind} ${data.node_id}`,
        result: 'recorded',
        tone: 'plain',
      }
    case 'timer':
      return { text: data.kind, result: '', tone: 'plain' }
    case 'other':
      return { text: `${data.kind}, without details`, result: '', tone: 'plain' }
  }
}

export function toneOfState(state: string): Described['tone'] {
  return (
    ({ delivered: 'good', done: 'good', failed: 'bad', waiting: 'warn', running: 'warn' }[
      state
    ] as Described['tone']) ?? 'plain'
  )
}

function describeEvent({ field, statuses: [status], messages: [message], calls: [call] }: EventData): Described {
  if (status) {
    const { recipient_id = '', error } = status
    return {
      text: `${field} · to ${recipient_id}${error ? ` · ${error.code ?? ''} ${error.title}` : ''}`,
      result: status.status.toLowerCase(),
      tone: status.status === 'failed' ? 'bad' : 'good',
    }
  }
  if (message) return { text: `${field} · from ${message.from ?? ''}`, result: message.type ?? '', tone: 'good' }
  if (call) {
    return { text: `${field} · ${call.from ?? ''} → ${call.to ?? ''}`, result: call.event ?? '', tone: 'good' }
  }
  return { text: field, result: 'raised', tone: 'plain' }
}

function describePhone(data: PhoneData): Described {
  if (data.what === 'status') {
    return { text: data.user_wa_id ?? '', result: data.status, tone: data.status === 'failed' ? 'bad' : 'good' }
  }
  if (data.what === 'typing') return { text: data.user_wa_id, result: 'typing', tone: 'plain' }
  const { direction, user_wa_id = 'a group', from, type } = data
  return {
    text: direction === 'to_user' ? `arrived at ${user_wa_id}` : `written by ${from}`,
    result: type,
    tone: 'plain',
  }
}

/** Where a click on a line leads. */
export function linkOf({ type, trace, data }: FeedItem): string | undefined {
  if (trace !== null) return `/traces/${trace}`
  if (type === 'delivery' || type === 'try') return `/deliveries/${data.delivery_id}`
  return undefined
}

/** The same in fewer words, where there is little room. */
function describeBriefly(item: FeedItem): Described {
  const { type, data } = item
  const described = describe(item)
  if (type === 'delivery') return { ...described, text: `${data.field} → ${hostOf(data.callback_url)}` }
  if (type === 'try') return { ...described, text: `Attempt ${data.number} → ${hostOf(data.callback_url)}` }
  if (type === 'event') return { ...described, text: described.text.replace(/^messages · /, '') }
  if (type !== 'request' || data.target === undefined) return described
  const path = data.target.split('?')[0]?.split('/').slice(2).join('/')
  return {
    ...described,
    text: described.text.replace(data.target, path?.replace(/^\d{12,}(?=\/)/, '…') ?? ''),
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

export function LiveLine({ item }: { readonly item: FeedItem }) {
  const { text, result, tone } = describeBriefly(item)
  const link = linkOf(item)
  const content = (
    <>
      <Time at={item.time} />
      <span class={`type ${item.type}`}>{nameType(item.type)}</span>
      <span class="what">{text}</span>
      <Badge tone={tone}>{result}</Badge>
    </>
  )
  return (
    <li class="live-line">
      {link === undefined ? (
        <span class="line-body">{content}</span>
      ) : (
        <To href={link} class="line-body">
          {content}
        </To>
      )}
    </li>
  )
}

const texts = new WeakMap<FeedItem, string>()

/** Everything of it as one text, for filters; written once, because thousands are looked through with every letter. */
export function textOf(item: FeedItem): string {
  const known = texts.get(item)
  if (known !== undefined) return known
  const { text, result } = describe(item)
  const { type, trace, data, phone_number_id } = item
  const operation = type === 'request' || type === 'audit' ? data.operation : ''
  const all = [type, text, result, nameOf(phone_number_id), trace ?? '', operation].join(' ').toLowerCase()
  texts.set(item, all)
  return all
}
