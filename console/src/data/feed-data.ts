import { excerptOf, readJson } from './excerpt.ts'
import { listOf, type Members, membersOf, numberOf, textOf } from './json-members.ts'

export interface RequestData {
  readonly door: string
  readonly operation: string
  readonly method: string
  /** Path and query, in a sandbox alone. */
  readonly target: string | undefined
  readonly status: number
  readonly error: { readonly code: number | undefined; readonly message: string } | undefined
  readonly milliseconds: number
  readonly app_id: string | null
  /** Whether a page of the console sent it, for itself or for an app. */
  readonly isByConsole: boolean
  /** What it says of a message that it sends: to whom, what, and under which id; only in a sandbox. */
  readonly message: SentMessage | undefined
  /** What was sent and returned, in a sandbox alone, and only where one request is read. */
  readonly exchange: Exchange | undefined
}

interface SentMessage {
  readonly to: string | undefined
  readonly excerpt: string | undefined
  readonly id: string | undefined
}

interface Exchange {
  readonly request_headers: Readonly<Record<string, string>>
  readonly request_body: string | null
  readonly response_body: string | null
}

export interface EventData {
  readonly event_id: string
  readonly field: string
  /** What it is about, in a few words of the service; null where the service does not know. */
  readonly subject: string | null
  /** Whether the value was removed by age. */
  readonly isRemoved: boolean
  /** As subscribers get it; undefined when it is large, or no longer kept. */
  readonly value: unknown
  /** What the value is about, as far as it is known. */
  readonly messages: readonly EventMessage[]
  readonly statuses: readonly EventStatus[]
  readonly calls: readonly EventCall[]
}

interface EventMessage {
  readonly id: string | undefined
  readonly from: string | undefined
  readonly type: string | undefined
  /** The beginning of what it says. */
  readonly excerpt: string | undefined
}

interface EventStatus {
  readonly id: string | undefined
  readonly recipient_id: string | undefined
  readonly status: string
  readonly error: { readonly code: number | undefined; readonly title: string } | undefined
}

interface EventCall {
  readonly id: string | undefined
  readonly from: string | undefined
  readonly to: string | undefined
  readonly event: string | undefined
}

interface WebhookData {
  readonly delivery_id: string
  readonly event_id: string | undefined
  readonly app_id: string
  readonly field: string
  readonly callback_url: string
  /** As that of its event. */
  readonly subject: string | null
}

export interface DeliveryData extends WebhookData {
  readonly state: string
  readonly attempts: number
}

export interface TryData extends WebhookData {
  readonly number: number
  /** Of the response; null when there was none. */
  readonly status: number | null
  readonly problem: string | null
  readonly milliseconds: number
}

export interface TimerData {
  readonly kind: string
}

export interface ReplayData {
  readonly replay_id: string
  readonly state: string
  readonly replayed: number
  readonly left_out: number
  readonly total: number
}

export interface AuditData {
  readonly operation: string
  readonly node_kind: string
  readonly node_id: string
  readonly actor_name: string | undefined
  /** The app that acted, or that was signed up for. */
  readonly actor_app_id: string | undefined
}

/** Each reads the data of one type; undefined when a member is missing without which it says nothing. */
export function readRequest(data: Members): RequestData | undefined {
  const [door, operation, method] = [data['door'], data['operation'], data['method']].map(textOf)
  const status = numberOf(data['status'])
  if (door === undefined || operation === undefined || method === undefined || status === undefined) return undefined
  const exchange = readExchange(data)
  return {
    ...{ door, operation, method, status, exchange },
    target: textOf(data['target']),
    error: readError(data['error']),
    milliseconds: numberOf(data['milliseconds']) ?? 0,
    app_id: textOf(data['app_id']) ?? null,
    message: operation === 'messages.send' ? readSentMessage(exchange) : undefined,
    isByConsole: data['by_console'] === true,
  }
}

function readSentMessage(exchange: Exchange | undefined): SentMessage | undefined {
  if (!exchange) return undefined
  const sent = readJson(exchange.request_body)
  const [made] = listOf(readJson(exchange.response_body)['messages'])
  return { to: textOf(sent['to']), excerpt: excerptOf(sent), id: textOf(made?.['id']) }
}

function readError(value: unknown): RequestData['error'] {
  const { code, message } = membersOf(value)
  return textOf(message) === undefined ? undefined : { code: numberOf(code), message: textOf(message) ?? '' }
}

function readExchange({ request_headers, request_body, response_body }: Members): Exchange | undefined {
  if (request_headers === undefined) return undefined
  const headers = Object.entries(membersOf(request_headers)).map(([name, value]) => [name, String(value)])
  return {
    request_headers: Object.fromEntries(headers),
    request_body: textOf(request_body) ?? null,
    response_body: textOf(response_body) ?? null,
  }
}

export function readEvent(data: Members): EventData | undefined {
  const [event_id, field] = [data['event_id'], data['field']].map(textOf)
  if (event_id === undefined || field === undefined) return undefined
  const { messages, statuses, calls } = membersOf(data['value'])
  return {
    ...{ event_id, field },
    subject: textOf(data['subject']) ?? null,
    isRemoved: data['content_removed'] === true,
    value: data['value'] ?? undefined,
    messages: listOf(messages).map((message) => ({
      id: textOf(message['id']),
      from: textOf(message['from']),
      type: textOf(message['type']),
      excerpt: excerptOf(message),
    })),
    statuses: listOf(statuses).map(readStatus),
    calls: listOf(calls).map(readCall),
  }
}

function readStatus({ id, recipient_id, status, errors }: Members): EventStatus {
  const [error] = listOf(errors)
  return {
    id: textOf(id),
    recipient_id: textOf(recipient_id),
    status: textOf(status) ?? '',
    error: error && { code: numberOf(error['code']), title: textOf(error['title']) ?? '' },
  }
}

function readCall({ id, from, to, event }: Members): EventCall {
  return { id: textOf(id), from: textOf(from), to: textOf(to), event: textOf(event) }
}

function readWebhook(data: Members): WebhookData | undefined {
  const [delivery_id, app_id, field, callback_url] = [
    data['delivery_id'],
    data['app_id'],
    data['field'],
    data['callback_url'],
  ].map(textOf)
  if (delivery_id === undefined || app_id === undefined) return undefined
  if (field === undefined || callback_url === undefined) return undefined
  const subject = textOf(data['subject']) ?? null
  return { delivery_id, app_id, field, callback_url, subject, event_id: textOf(data['event_id']) }
}

export function readDelivery(data: Members): DeliveryData | undefined {
  const webhook = readWebhook(data)
  const [state, attempts] = [textOf(data['state']), numberOf(data['attempts'])]
  if (!webhook || state === undefined || attempts === undefined) return undefined
  return { ...webhook, state, attempts }
}

export function readTry(data: Members): TryData | undefined {
  const webhook = readWebhook(data)
  const number = numberOf(data['number'])
  if (!webhook || number === undefined) return undefined
  return {
    ...{ ...webhook, number },
    status: numberOf(data['status']) ?? null,
    problem: textOf(data['problem']) ?? null,
    milliseconds: numberOf(data['milliseconds']) ?? 0,
  }
}

export function readTimer({ kind }: Members): TimerData | undefined {
  return textOf(kind) === undefined ? undefined : { kind: textOf(kind) ?? '' }
}

export function readReplay(data: Members): ReplayData | undefined {
  const [replay_id, state] = [data['replay_id'], data['state']].map(textOf)
  const [replayed, left_out, total] = [data['replayed'], data['left_out'], data['total']].map(numberOf)
  if (replay_id === undefined || state === undefined || replayed === undefined) return undefined
  return { replay_id, state, replayed, left_out: left_out ?? 0, total: total ?? replayed }
}

export function readAudit(data: Members): AuditData | undefined {
  const [operation, node_kind, node_id] = [data['operation'], data['node_kind'], data['node_id']].map(textOf)
  if (operation === undefined) return undefined
  const [actor_name, actor_app_id] = [data['actor_name'], data['actor_app_id']].map(textOf)
  return { operation, node_kind: node_kind ?? '', node_id: node_id ?? '', actor_name, actor_app_id }
}
