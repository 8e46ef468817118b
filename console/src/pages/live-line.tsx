import { nameOf } from '../data/directory.ts'
import type { FeedItem } from '../data/types.ts'
import { Badge, Time, To } from '../ui/parts.tsx'

const consoleDoors = new Set(['operator', 'gateway', 'edge_link', 'open'])

/** Whether the console itself asked for it: it would drown what others do. */
export function isOwn({ type, data }: FeedItem): boolean {
  if (type !== 'request') return false
  const door = String(data['door'])
  if (door === 'open' || door === 'operator') return true
  const agent = (data['request_headers'] as Record<string, string> | undefined)?.['x-console-proof']
  return consoleDoors.has(door) && (data['method'] === 'GET' || agent !== undefined)
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
}

export function nameType(type: FeedItem['type']): string {
  return names[type] ?? type
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
      const status = Number(data['status'])
      const error = data['error'] as { message?: string } | null
      const target = String(data['target'] ?? '')
      return {
        text: `${data['method']} ${target === '' ? data['operation'] : target}${error?.message ? ` · ${error.message}` : ''}`,
        result: String(status),
        tone: status < 400 ? 'good' : 'bad',
      }
    }
    case 'event':
      return describeEvent(data)
    case 'delivery':
      return {
        text: `${data['field']} → ${data['callback_url']}`,
        result: String(data['state']),
        tone: toneOfState(String(data['state'])),
      }
    case 'try': {
      const status = data['status'] as number | null
      const problem = data['problem'] as string | null
      return {
        text: `Attempt ${data['number']} → ${data['callback_url']}${problem ? ` · ${problem}` : ''}`,
        result: status === null ? 'no response' : String(status),
        tone: problem ? 'bad' : 'good',
      }
    }
    case 'replay':
      return {
        text: `${data['replayed']} of about ${data['total']} webhooks sent again`,
        result: String(data['state']),
        tone: toneOfState(String(data['state'])),
      }
    case 'phone':
      return describePhone(data)
    case 'audit':
      return {
        text: `${data['operation']} on ${data['node_kind']} ${data['node_id']}`,
        result: 'recorded',
        tone: 'plain',
      }
    default:
      return { text: String(data['kind'] ?? data['field'] ?? type), result: '', tone: 'plain' }
  }
}

export function toneOfState(state: string): Described['tone'] {
  return (
    ({ delivered: 'good', done: 'good', failed: 'bad', waiting: 'warn', running: 'warn' }[
      state
    ] as Described['tone']) ?? 'plain'
  )
}

function describeEvent(data: FeedItem['data']): Described {
  const value = (data['value'] ?? {}) as Record<string, Record<string, unknown>[] | undefined>
  const [status] = value['statuses'] ?? []
  const [message] = value['messages'] ?? []
  const [call] = value['calls'] ?? []
  const field = String(data['field'])
  if (status) {
    const errors = status['errors'] as { code?: number; title?: string }[] | undefined
    const [error] = errors ?? []
    return {
      text: `${field} · to ${status['recipient_id'] ?? ''}${error ? ` · ${error.code} ${error.title ?? ''}` : ''}`,
      result: String(status['status']).toLowerCase(),
      tone: status['status'] === 'failed' ? 'bad' : 'good',
    }
  }
  if (message) return { text: `${field} · from ${message['from']}`, result: String(message['type']), tone: 'good' }
  if (call) return { text: `${field} · ${call['from']} → ${call['to']}`, result: String(call['event']), tone: 'good' }
  return { text: field, result: 'raised', tone: 'plain' }
}

function describePhone(data: FeedItem['data']): Described {
  if (data['what'] === 'status') {
    return {
      text: `${data['user_wa_id'] ?? ''}`,
      result: String(data['status']),
      tone: data['status'] === 'failed' ? 'bad' : 'good',
    }
  }
  if (data['what'] === 'typing') return { text: `${data['user_wa_id'] ?? ''}`, result: 'typing', tone: 'plain' }
  const isTo = data['direction'] === 'to_user'
  return {
    text: isTo ? `arrived at ${data['user_wa_id'] ?? 'a group'}` : `written by ${data['from']}`,
    result: String(data['type']),
    tone: 'plain',
  }
}

/** Where a click on a line leads. */
export function linkOf({ type, trace, data }: FeedItem): string | undefined {
  if (trace !== null) return `/traces/${trace}`
  if (type === 'delivery' || type === 'try') return `/deliveries/${data['delivery_id']}`
  return undefined
}

/** The same in fewer words, where there is little room. */
function describeBriefly(item: FeedItem): Described {
  const { type, data } = item
  const described = describe(item)
  const host = URL.canParse(String(data['callback_url'])) ? new URL(String(data['callback_url'])).host : ''
  if (type === 'delivery') return { ...described, text: `${data['field']} → ${host}` }
  if (type === 'try') return { ...described, text: `Try ${data['number']} → ${host}` }
  if (type === 'event') return { ...described, text: described.text.replace(/^messages · /, '') }
  if (type !== 'request' || data['target'] === undefined) return described
  const path = String(data['target']).split('?')[0]?.split('/').slice(2).join('/')
  return {
    ...described,
    text: described.text.replace(String(data['target']), path?.replace(/^\d{12,}(?=\/)/, '…') ?? ''),
  }
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
  const all = [type, text, result, nameOf(phone_number_id), trace ?? '', data['operation'] ?? '']
    .join(' ')
    .toLowerCase()
  texts.set(item, all)
  return all
}
