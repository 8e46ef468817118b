import type { Log } from '../../base/log/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minute, second } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import { holderOf } from '../../graph/context.ts'
import type { StreamFilter, UsersStream } from '../../graph/ports.ts'
import { Gaps } from '../../stream/gaps.ts'
import { StreamHub } from '../../stream/hub.ts'
import {
  findLatest,
  findSettled,
  findTimeOf,
  listStreamEvents,
  pickStreamEvents,
  type StoredStreamEvent,
  wantStream,
} from '../../stream/store.ts'
import { usersStream } from '../../stream/stream-record.ts'
import type { Batch, Listening, Reached, StartPosition, StreamEvent, StreamSource } from '../../stream/types.ts'
import { showMessages, showTools } from './show.ts'
import { listMessages, listParticipantsOf } from './store.ts'

/** What filters look at. */
interface About {
  readonly account_id: string
  readonly business_id: string | null
  readonly phone_number_id: string
  /** Whose phones show it. */
  readonly users: readonly string[]
}

export interface UsersStreamDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly publicUrl: () => string
  readonly settings: { readonly streamKeep: number; readonly maxStreams: number }
  readonly sealLink: (path: string) => string
  /** Who is calling by now; throws when the caller may not listen any more. */
  readonly readmit: (before: Caller) => Promise<Caller>
  /** Throws when there are too many streams. */
  readonly refuse: () => never
}

/** Transactions take less, so that nothing can appear among what is older. */
const settleTime = 5 * second
const batchSize = 200
/** How much earlier than needed it is recorded that somebody listens, so that it is recorded seldom. */
const slack = 30 * minute

/** The users' stream, and what only the process that serves it does with it. */
export interface OwnUsersStream extends UsersStream {
  readonly openStreams: number
  /** Everything was replaced when `reached` was the newest. */
  reset(reached: Reached): void
  /** The clock was moved: the time until which events are recorded holds no more. */
  wantAgain(): void
  close(): Promise<void>
}

export function makeUsersStream(deps: UsersStreamDeps): OwnUsersStream {
  const source = new UsersSource(deps)
  const hub = new StreamHub<About>({ ...deps, source, maxStreams: deps.settings.maxStreams })
  return {
    get openStreams() {
      return hub.openStreams
    },
    open: (caller, asked, lastEventId) =>
      hub.open({
        lastEventId,
        holder: holderOf(caller),
        admit: async () => listeningOf(await deps.readmit(caller), asked),
      }),
    watch: (caller, user_wa_id, onEvent, onEnd) => {
      const take = ({ users }: About) => {
        if (users.includes(user_wa_id)) onEvent()
      }
      return hub.watch({ take, end: onEnd }, holderOf(caller))
    },
    readmit: deps.readmit,
    reset: (reached) => hub.reset(reached),
    wantAgain() {
      source.forgetWanted()
      hub.renew()
    },
    close: () => hub.close(),
  }
}

/** A token that is limited to accounts and businesses receives events of these alone, and of an account as soon as a business has it. */
function listeningOf(
  { accounts, businesses }: Caller,
  { user_wa_id, phone_number_id }: StreamFilter,
): Listening<About> {
  const listed = [accounts, businesses].map((set) => set && [...set].sort())
  return {
    key: JSON.stringify([user_wa_id, phone_number_id, ...listed]),
    topic: user_wa_id === undefined ? ofNumber(phone_number_id) : ofUser(user_wa_id),
    matches: (about) =>
      (user_wa_id === undefined || about.users.includes(user_wa_id)) &&
      (phone_number_id === undefined || about.phone_number_id === phone_number_id) &&
      ((!accounts && !businesses) ||
        accounts?.has(about.account_id) === true ||
        businesses?.has(about.business_id ?? '') === true),
  }
}

const ofUser = (user_wa_id: string) => `user ${user_wa_id}`
const ofNumber = (phone_number_id?: string) => (phone_number_id === undefined ? 'all' : `number ${phone_number_id}`)

/** What was recorded for the users' stream, on all processes. */
class UsersSource implements StreamSource<About> {
  readonly idleHold = 0
  readonly renewEvery = 10 * minute
  passed = 0
  readonly #deps: UsersStreamDeps
  readonly #gaps = new Gaps()
  #wantedUntil = 0

  constructor(deps: UsersStreamDeps) {
    this.#deps = deps
  }

  async begin(reached?: Reached) {
    const { database, clock } = this.#deps
    this.forgetWanted()
    await this.renew()
    this.#gaps.clear()
    this.passed = reached?.position ?? (await findSettled(database.read, clock.now() - settleTime))
    return { after: this.passed, id: this.passed }
  }

  forgetWanted(): void {
    this.#wantedUntil = 0
  }

  /** Has events recorded from now on, and for as long afterwards as a listener may come back. */
  async renew(): Promise<void> {
    const { database, clock, settings } = this.#deps
    const until = clock.now() + settings.streamKeep + 2 * slack
    if (until - this.#wantedUntil < slack) return
    await wantStream(database, usersStream, until)
    this.#wantedUntil = until
  }

  async poll(): Promise<Batch<About>> {
    const { read } = this.#deps.database
    const now = performance.now()
    const late = await pickStreamEvents(read, this.#gaps.missing(now))
    this.#gaps.fill(late.map(({ position }) => position))
    const found = await listStreamEvents(read, this.passed, Number.MAX_SAFE_INTEGER, batchSize)
    const rows = found.slice(0, this.#gaps.countUsable(found, this.passed, now))
    const events = await this.#read([...late, ...rows])
    const first = rows[0]?.position ?? Number.POSITIVE_INFINITY
    this.passed = rows.at(-1)?.position ?? this.passed
    return {
      events: events.map((event) => (event.position < first ? { ...event, isLate: true } : event)),
      isFull: rows.length === batchSize,
    }
  }

  async locate(lastEventId: string | undefined): Promise<StartPosition> {
    const latest = await findLatest(this.#deps.database.read)
    if (lastEventId === undefined) return { after: latest, id: latest, isReset: false }
    const asked = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined
    const isKnown = asked !== undefined && (asked === latest || (await this.#isKept(asked)))
    return { after: isKnown ? asked : latest, id: latest, isReset: !isKnown }
  }

  async list(after: number): Promise<{ events: StreamEvent<About>[]; upTo: number }> {
    const upTo = this.passed
    const rows = await listStreamEvents(this.#deps.database.read, after, upTo, batchSize)
    const last = rows.length < batchSize ? upTo : (rows.at(-1)?.position ?? upTo)
    return { events: await this.#read(rows), upTo: last }
  }

  end(): void {}

  /** Whether everything after a position is still there. */
  async #isKept(position: number): Promise<boolean> {
    const { database, clock, settings } = this.#deps
    const time = await findTimeOf(database.read, position)
    return time !== undefined && time > clock.now() - settings.streamKeep
  }

  /** Events with what is still kept of their messages; a deleted message is left out. */
  async #read(rows: readonly StoredStreamEvent[]): Promise<StreamEvent<About>[]> {
    const { database, clock, publicUrl, sealLink } = this.#deps
    if (rows.length === 0) return []
    const ids = rows.flatMap(({ type, message_id }) => (type === 'message' && message_id !== null ? [message_id] : []))
    const digits = new Map(rows.map(({ phone_number_id, phone_number }) => [phone_number_id, phone_number ?? '']))
    const tools = showTools({ clock, publicUrl: publicUrl(), sealLink }, (id) => digits.get(id) ?? '')
    const shown = await showMessages(database.read, tools, await listMessages(database.read, ids))
    const messages = new Map(shown.map((message) => [message['id'], message]))
    const groups = [...new Set(rows.flatMap(({ group_id }) => (group_id === null ? [] : [group_id])))]
    const participants = await listParticipantsOf(database.read, groups)
    return rows.flatMap((row) => {
      const { position, type, account_id, business_id, phone_number_id, user_wa_id, group_id } = row
      const data = type === 'message' ? messages.get(row.message_id) : JSON.parse(row.data ?? 'null')
      if (!data || account_id === null) return []
      const inGroup = type === 'message' && group_id !== null ? (participants.get(group_id) ?? []) : []
      const users = [...new Set(user_wa_id === null ? inGroup : [user_wa_id, ...inGroup])]
      const topics = [ofNumber(), ofNumber(phone_number_id), ...users.map(ofUser)]
      const about = { account_id, business_id, phone_number_id, users }
      return [{ position, topics, about, id: position, type, show: () => data }]
    })
  }
}
