import { computed, signal } from '@preact/signals'
import {
  type GatewayStreamEvent,
  operatorFeedList,
  operatorRequestsList,
  operatorStateRetrieve,
  sandboxClockMove,
  sandboxClockRetrieve,
} from '@switchboard/client/methods'
import { type FeedItem, listedRequestFields, readListedRequest, readPhoneItem, readStreamedItem } from './feed-items.ts'
import { changeSession, client, explain, isSandbox, session } from './http.ts'
import { pageStreams } from './stream.ts'
import type { ServiceState } from './types.ts'

/** How many are kept. The oldest go in bulk, so that a list that is full does not move with every line. */
const most = 10_000
const spare = 500

/** Everything that happened, the oldest first. */
export const feedItems = signal<readonly FeedItem[]>([])
/** How the service is. */
export const service = signal<ServiceState | undefined>(undefined)

/** How far the time of the service is ahead of that of this machine: in a sandbox it can be set. */
const serviceAhead = signal(0)

/** By how many milliseconds somebody has moved the clock of this sandbox: exact, unlike the difference to this machine. */
export const clockOffset = signal(0)

export function serviceNow(): number {
  return Date.now() + serviceAhead.value
}

const known = new Set<string>()
let waiting: FeedItem[] = []
let isFlushing = false
type Watcher = (item: FeedItem) => void
const watchers = new Set<Watcher>()

/** Calls back for everything that happens from now on. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** How long what has happened waits for more: where no page shows each line at once, one message need not be drawn a dozen times. */
const quietPause = 250

/** Adds what has just happened; what comes together is drawn once. */
function addNew(item: FeedItem): void {
  if (!keep(item)) return
  for (const watcher of watchers) watcher(item)
  if (isFlushing) return
  isFlushing = true
  if (lineReaders > 0) requestAnimationFrame(flush)
  else setTimeout(flush, quietPause)
}

/** Whether it was not known yet, and waits to be drawn now. */
function keep(item: FeedItem): boolean {
  if (known.has(item.id)) return false
  known.add(item.id)
  waiting.push(item)
  return true
}

function flush(): void {
  isFlushing = false
  if (waiting.length === 0) return
  const before = feedItems.value
  const last = before.at(-1)?.time ?? ''
  const isInOrder = waiting.every(({ time }, index) => time >= (waiting[index - 1]?.time ?? last))
  const all = [...before, ...waiting]
  waiting = []
  if (!isInOrder) all.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  const tooMany = all.length > most + spare ? all.length - most : 0
  for (const { id } of all.splice(0, tooMany)) known.delete(id)
  feedItems.value = all
}

type Listener = (event: GatewayStreamEvent) => void
const phoneListeners = new Set<Listener>()
const freshListeners = new Set<() => void>()
let stopPhones = (): void => undefined
/** Whether the stream of phones is open: what is read before that has a gap behind it. */
let arePhonesOpen = false

/** What happens on users' phones: messages, statuses, typing, calls. `onFresh` is called once the stream is open, and whenever something was missed. */
export function listenToPhones(onEvent: Listener, onFresh: () => void): () => void {
  phoneListeners.add(onEvent)
  freshListeners.add(onFresh)
  if (phoneListeners.size === 1) stopPhones = readPhones()
  else if (arePhonesOpen) onFresh()
  return () => {
    phoneListeners.delete(onEvent)
    freshListeners.delete(onFresh)
    if (phoneListeners.size > 0) return
    arePhonesOpen = false
    stopPhones()
  }
}

/** How often the stream has begun without what was sent before: whoever has read something back reads it again. */
export const freshStarts = signal(0)

let pastReaders = 0
/** How many pages show each line as it comes. */
let lineReaders = 0

/** Has what happened just before among all that happens, for as long as it is shown. Live reads its own history, page by page. */
export function watchRecent(): () => void {
  pastReaders += 1
  readPastOnce()
  return () => {
    pastReaders -= 1
  }
}

/** Has what happens on phones among all that happens, and all of it with the next frame, for as long as it is shown. */
export function watchPhones(): () => void {
  lineReaders += 1
  const stop = listenToPhones(
    () => undefined,
    () => undefined,
  )
  return () => {
    lineReaders -= 1
    stop()
  }
}

/** The stream of phones is open only while somebody listens to it. */
function readPhones(): () => void {
  return pageStreams.read('phones', {
    onEvent: (sent) => {
      const event = sent as GatewayStreamEvent
      for (const listener of phoneListeners) listener(event)
      const item = readPhoneItem(event, new Date(serviceNow()).toISOString())
      if (item) addNew(item)
    },
    onFresh: () => {
      arePhonesOpen = true
      for (const listener of freshListeners) listener()
    },
  })
}

/** How the connection is: the worst of the streams that are read. */
export const connection = computed(() => {
  const links = [...pageStreams.links.value.values()]
  if (links.includes('lost')) return 'lost'
  return links.length === 0 || links.includes('connecting') ? 'connecting' : 'open'
})

/** In a sandbox the clock is moved from elsewhere, and what one sees is explained by it. */
const refreshMilliseconds = isSandbox ? 10_000 : 60_000

let isStarted = false

/** Once in the life of a page: when another session begins, the streams follow it. */
export function startStreams(): void {
  if (isStarted) return
  isStarted = true
  pageStreams.start()
  pageStreams.read('feed', {
    onEvent: ({ data }) => addNew(readStreamedItem(data)),
    onFresh: () => {
      void readService()
      isPastDue = true
      freshStarts.value += 1
      readPastOnce()
    },
  })
  // Counts and health are read again after what may change them, at most once in a while.
  watch(({ type, data }) => {
    const isClockMoved = type === 'request' && data.operation === 'sandbox.move_clock'
    if (type === 'delivery' || type === 'event' || isClockMoved) refreshService()
  })
  // Other processes start and stop without an event, and may have moved the clock.
  setInterval(() => {
    if (!document.hidden) refreshService()
  }, refreshMilliseconds)
  // What is shown when somebody comes back is read at once. Before the first reading nobody has been away.
  addEventListener('focus', () => {
    if (service.peek()) void readService()
  })
}

let isRefreshing = false

function refreshService(): void {
  if (isRefreshing) return
  isRefreshing = true
  setTimeout(() => {
    isRefreshing = false
    void readService()
  }, 1500)
}

/** How many readings were begun, and which of them is shown: one that comes late does not replace a later one. */
let begunReadings = 0
let shownReading = 0

/** Reads how the service is, and fails when that cannot be read. */
export async function loadService(): Promise<void> {
  begunReadings += 1
  const mine = begunReadings
  const [state, offset] = await Promise.all([operatorStateRetrieve(client), readOffset()])
  if (mine < shownReading) return
  shownReading = mine
  const moved = offset ?? 0
  const off = Date.parse(state.time) - Date.now()
  serviceAhead.value = Math.abs(off - moved) < 5000 ? moved : off
  clockOffset.value = offset ?? serviceAhead.value
  service.value = state
}

/** Undefined where this session may not read it. */
async function readOffset(): Promise<number | undefined> {
  if (!isSandbox || session.peek()?.limited) return undefined
  return (await sandboxClockRetrieve(client)).offset
}

export async function readService(): Promise<void> {
  try {
    await loadService()
  } catch {
    // The frame says that the connection is lost.
  }
}

/** Moves the clock of the sandbox, which may end the session of this page. */
export async function moveClock(to: { readonly advance: string } | { readonly real: true }): Promise<void> {
  await changeSession((changing) => sandboxClockMove(changing, to))
  await readService()
}

type Past =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly problem: string; readonly isMissing: false }
  | { readonly state: 'ready'; readonly value: true }

/** Whether what happened before is read, for whoever would otherwise say that nothing has happened. */
export const past = { load: signal<Past>({ state: 'loading' }), reload: readPast }

/** Whether the stream is open and the past behind it was not read yet: what is read before the stream is open has a gap behind it. */
let isPastDue = false

function readPastOnce(): void {
  if (!isPastDue || pastReaders === 0) return
  isPastDue = false
  void readPast()
}

/** How much of the past is read: enough for a panel. */
const pastItems = 50

async function readPast(): Promise<void> {
  try {
    const [requests, others] = await Promise.all([
      operatorRequestsList(client, { limit: pastItems, fields: listedRequestFields }),
      operatorFeedList(client, { types: 'event,delivery,try,replay', limit: pastItems }),
    ])
    const items = [...requests.data.map(readListedRequest), ...others.data.map(readStreamedItem)]
    for (const item of items.sort((a, b) => (a.time < b.time ? -1 : 1))) keep(item)
    // At once: who waits for the past would say that there is none.
    flush()
    past.load.value = { state: 'ready', value: true }
  } catch (error) {
    past.load.value = { state: 'failed', problem: explain(error), isMissing: false }
  }
}
