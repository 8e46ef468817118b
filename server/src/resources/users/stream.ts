import { Type } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import { minute, second } from '../../base/duration.ts'
import type { Log } from '../../base/log.ts'
import type { Database, Db } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { defineGatewayStream, type NewReplyOperation } from '../../graph/operation.ts'
import type { StreamFilter, UsersStream } from '../../graph/ports.ts'
import { PushReply } from '../../graph/reply.ts'
import { idSchema } from '../../graph/schemas.ts'
import { StreamHub } from '../../stream/hub.ts'
import { usersStream } from '../../stream/record.ts'
import { writeEvent } from '../../stream/sse.ts'
import {
  findLatest,
  findSettled,
  findTimeOf,
  listStreamEvents,
  pickStreamEvents,
  type StreamEvent,
  wantStream,
} from '../../stream/store.ts'
import type { Listening, StreamSource, ToldEvent } from '../../stream/types.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { tooManyStreams } from './errors.ts'
import { showMessages, showTools } from './show.ts'
import { listMessages, listParticipantsOf } from './store.ts'

const lastEventHeader = 'last-event-id'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store',
  // A proxy that collects the response would hold events back.
  'x-accel-buffering': 'no',
}

export function streamOperations(): NewReplyOperation[] {
  return [
    defineGatewayStream({
      name: 'gateway.stream',
      path: '/gateway/stream',
      sentence:
        'Tells messages, statuses and typing indicators as they happen, as Server-Sent Events; goes on after Last-Event-ID, or tells reset.',
      headers: [lastEventHeader],
      input: Type.Object({
        user_wa_id: Type.Optional(userWaIdSchema),
        phone_number_id: Type.Optional(idSchema()),
        [lastEventHeader]: Type.Optional(Type.String({ maxLength: 1000 })),
      }),
      examples: { input: { user_wa_id: '16505551234' }, output: undefined },
      async run({ caller, ports }, { user_wa_id, phone_number_id, [lastEventHeader]: last }) {
        const asked = { ...(user_wa_id && { user_wa_id }), ...(phone_number_id && { phone_number_id }) }
        return new PushReply(headers, await ports.usersStream.open(caller, asked, last))
      },
    }),
  ]
}

/** What filters look at. */
interface About {
  readonly account_id: string
  readonly phone_number_id: string
  /** Whose phones show it. */
  readonly users: readonly string[]
}

export interface UsersStreamDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly publicUrl: () => string
  readonly settings: { readonly streamKeep: number; readonly maxStreams: number; readonly mediaLinkLifetime: number }
  readonly sealLink: (path: string, lifetime: number) => string
  /** Who is calling by now; throws when the caller may not listen any more. */
  readonly readmit: (before: Caller) => Promise<Caller>
}

/** Transactions take less, so that nothing can appear among what is older. */
const settleTime = 5 * second
const retrySeconds = 5

/** The users' stream, and what only the process that serves it does with it. */
export interface OwnUsersStream extends UsersStream {
  /** The store was replaced as a whole, and everything up to a position is gone. */
  reset(position: number): void
  /** The clock was moved: what was said about the time until which events are recorded holds no more. */
  wantAgain(): void
  close(): Promise<void>
}

export function makeUsersStream(deps: UsersStreamDeps): OwnUsersStream {
  const { database, log, settings, readmit } = deps
  const source = makeSource(deps)
  const hub = new StreamHub<StreamEvent, About>({
    source,
    tell: (rows) => tellEvents(database.read, deps, rows),
    log,
    maxStreams: settings.maxStreams,
    refuse: () => {
      throw tooManyStreams({ seconds: retrySeconds })
    },
  })
  return {
    open: (caller, asked, lastEventId) =>
      hub.open({
        lastEventId,
        admit: async () => listeningOf(await readmit(caller), asked),
        isRefusal: (error) => error instanceof GraphError,
      }),
    reset: (position) => hub.reset(position),
    wantAgain() {
      source.forgetWanted()
      // Otherwise it is wanted again soon: while somebody listens that is repeated.
      if (hub.isOn) void source.want().catch(() => undefined)
    },
    close: () => hub.close(),
  }
}

/** A token that is limited to accounts hears of these alone. */
function listeningOf({ accounts }: Caller, { user_wa_id, phone_number_id }: StreamFilter): Listening<About> {
  return {
    key: JSON.stringify([user_wa_id, phone_number_id, accounts && [...accounts].sort()]),
    matches: (about) =>
      (user_wa_id === undefined || about.users.includes(user_wa_id)) &&
      (phone_number_id === undefined || about.phone_number_id === phone_number_id) &&
      (accounts === undefined || accounts.has(about.account_id)),
  }
}

function makeSource({
  database,
  clock,
  settings,
}: UsersStreamDeps): StreamSource<StreamEvent> & { forgetWanted(): void } {
  const { read } = database
  let wantedUntil = 0
  return {
    list: (after, upTo, limit) => listStreamEvents(read, after, upTo, limit),
    pick: (positions) => pickStreamEvents(read, positions),
    latest: () => findLatest(read),
    settled: () => findSettled(read, clock.now() - settleTime),
    async isKept(position) {
      const time = await findTimeOf(read, position)
      return time !== undefined && time > clock.now() - settings.streamKeep
    },
    async want() {
      // While somebody listens it is renewed long before its end, and seldom.
      const until = clock.now() + settings.streamKeep + 2 * slack
      if (until - wantedUntil < slack) return
      await wantStream(database, usersStream, until)
      wantedUntil = until
    },
    forgetWanted() {
      wantedUntil = 0
    },
  }
}

const slack = 30 * minute

/** Writes events with what is still kept of their messages; of a message that is gone nothing is told. */
async function tellEvents(
  db: Db,
  { clock, publicUrl, settings, sealLink }: UsersStreamDeps,
  rows: readonly StreamEvent[],
): Promise<ToldEvent<About>[]> {
  const ids = rows.flatMap(({ type, message_id }) => (type === 'message' && message_id !== null ? [message_id] : []))
  const digits = new Map(rows.map(({ phone_number_id, phone_number }) => [phone_number_id, phone_number ?? '']))
  const tools = showTools({ clock, publicUrl: publicUrl(), settings, sealLink }, (id) => digits.get(id) ?? '')
  const shown = await showMessages(db, tools, await listMessages(db, ids))
  const messages = new Map(shown.map((message) => [message['id'], message]))
  const groups = [...new Set(rows.flatMap(({ group_id }) => (group_id === null ? [] : [group_id])))]
  const participants = await listParticipantsOf(db, groups)
  return rows.flatMap((row) => {
    const { position, type, account_id, phone_number_id, user_wa_id, group_id } = row
    const data = type === 'message' ? messages.get(row.message_id) : JSON.parse(row.data ?? 'null')
    if (!data || account_id === null) return []
    const inGroup = type === 'message' && group_id !== null ? (participants.get(group_id) ?? []) : []
    const users = user_wa_id === null ? inGroup : [user_wa_id, ...inGroup]
    const text = writeEvent({ id: position, event: type, data })
    return [{ position, text, about: { account_id, phone_number_id, users } }]
  })
}
