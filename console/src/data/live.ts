import { computed, signal } from '@preact/signals'
import { ask } from './http.ts'
import { Stream, type StreamEvent } from './stream.ts'
import type { Delivery, Happening, List, LoggedRequest, ServiceState } from './types.ts'

/** How many are kept; the oldest go. */
const most = 10_000

/** Everything that happened, the oldest first. */
export const happenings = signal<readonly Happening[]>([])
/** How the service is. */
export const service = signal<ServiceState | undefined>(undefined)

/** How far the time of the service is ahead of that of this machine: in a sandbox it can be set. */
const ahead = signal(0)

export function serviceNow(): number {
  return Date.now() + ahead.value
}

const known = new Set<string>()
let waiting: Happening[] = []
let isFlushing = false
type Watcher = (happening: Happening) => void
const watchers = new Set<Watcher>()

/** Calls back for everything that happens from now on. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Adds what has happened; all that comes within one frame is drawn once. */
export function addHappenings(added: readonly Happening[], isNew: boolean): void {
  for (const one of added) {
    if (known.has(one.id)) continue
    known.add(one.id)
    waiting.push(one)
    if (isNew) for (const watcher of watchers) watcher(one)
  }
  if (isFlushing || waiting.length === 0) return
  isFlushing = true
  requestAnimationFrame(flush)
}

function flush(): void {
  isFlushing = false
  const before = happenings.value
  const last = before.at(-1)?.time ?? ''
  const isInOrder = waiting.every(({ time }, index) => time >= (waiting[index - 1]?.time ?? last))
  const all = [...before, ...waiting]
  waiting = []
  if (!isInOrder) all.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  const kept = all.slice(-most)
  for (const { id } of all.slice(0, all.length - kept.length)) known.delete(id)
  happenings.value = kept
}

const operatorStream = new Stream({
  path: '/operator/stream?types=request,event,delivery,try,timer',
  onEvent: onOperatorEvent,
  onFresh: () => void readPast(),
})

function onOperatorEvent({ event, data }: StreamEvent): void {
  const happening = JSON.parse(data) as Happening
  addHappenings([{ ...happening, type: happening.type ?? (event as Happening['type']) }], true)
}

type Listener = (event: StreamEvent) => void
const phoneListeners = new Set<Listener>()
const freshListeners = new Set<() => void>()

/** What happens on users' phones: messages, statuses, typing. */
export function listenToPhones(onEvent: Listener, onFresh: () => void): () => void {
  phoneListeners.add(onEvent)
  freshListeners.add(onFresh)
  return () => {
    phoneListeners.delete(onEvent)
    freshListeners.delete(onFresh)
  }
}

const gatewayStream = new Stream({
  path: '/gateway/stream',
  onEvent: (event) => {
    for (const listener of phoneListeners) listener(event)
    addHappenings([toPhoneHappening(event)], true)
  },
  onFresh: () => {
    for (const listener of freshListeners) listener()
  },
})

function toPhoneHappening({ id, event, data }: StreamEvent): Happening {
  const body = JSON.parse(data) as Record<string, unknown>
  return {
    id: `phone-${id}`,
    type: 'phone',
    time: new Date(serviceNow()).toISOString(),
    business_id: null,
    account_id: null,
    phone_number_id: (body['phone_number_id'] as string | undefined) ?? null,
    trace: null,
    data: { ...body, what: event },
  }
}

/** How the connection is: the worse of both streams. */
export const connection = computed(() => {
  const links = [operatorStream.link.value, gatewayStream.link.value]
  if (links.includes('lost')) return 'lost'
  return links.includes('connecting') ? 'connecting' : 'open'
})

export function startStreams(): void {
  operatorStream.start()
  gatewayStream.start()
  // Counts and health are read again after what may change them, at most once in a while.
  watch(({ type }) => {
    if (type === 'delivery' || type === 'event') refreshService()
  })
}

let isRefreshing = false

export function refreshService(): void {
  if (isRefreshing) return
  isRefreshing = true
  setTimeout(() => {
    isRefreshing = false
    void readService()
  }, 1500)
}

export async function readService(): Promise<void> {
  try {
    const state = await ask<ServiceState>('GET', '/operator/state')
    const off = Date.parse(state.time) - Date.now()
    ahead.value = Math.abs(off) < 5000 ? 0 : off
    service.value = state
  } catch {
    // The frame says that the connection is lost.
  }
}

async function readPast(): Promise<void> {
  await readService()
  try {
    const [requests, deliveries] = await Promise.all([
      ask<List<LoggedRequest>>('GET', '/operator/requests', { query: { limit: 300 } }),
      ask<List<Delivery>>('GET', '/operator/deliveries', { query: { limit: 100 } }),
    ])
    const past = [...requests.data.map(fromRequest), ...deliveries.data.map(fromDelivery)]
    addHappenings(
      past.sort((a, b) => (a.time < b.time ? -1 : 1)),
      false,
    )
  } catch {
    // What happens from now on is sent all the same.
  }
}

export function fromRequest({ id, time, business_id, account_id, trace, ...data }: LoggedRequest): Happening {
  return { id, type: 'request', time, business_id, account_id, phone_number_id: null, trace, data }
}

function fromDelivery({ id, created_time, account_id, phone_number_id, ...data }: Delivery): Happening {
  return {
    id: `delivery-${id}-${data.state}-${data.attempts}`,
    type: 'delivery',
    time: created_time,
    business_id: null,
    account_id,
    phone_number_id,
    trace: null,
    data: { ...data, delivery_id: id },
  }
}
