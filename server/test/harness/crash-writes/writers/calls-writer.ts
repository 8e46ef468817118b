import { exampleAnswer, exampleOffer } from '../../../../src/resources/calls/examples.ts'
import { numbers, tokens } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import type { Answer, Write } from '../doors.ts'
import { eventKeys } from '../expected-events.ts'
import { Shelf } from '../shelf.ts'
import type { StoreView } from '../store-view.ts'

interface Call {
  readonly byUser: boolean
  readonly state: string
  readonly ending: string | null
}

interface Step {
  readonly state: string
  readonly ending?: string
  readonly session?: boolean
  readonly raises?: readonly string[]
}

const offer = { sdp_type: 'offer', sdp: exampleOffer }
const answer = { sdp_type: 'answer', sdp: exampleAnswer }
const maxOpenCalls = 6

/** What the other side does with a call that was started: `raises` are the events, the end of a call excepted. */
const steps: Readonly<Record<'user' | 'business', Readonly<Record<string, Step>>>> = {
  user: {
    ringing: { state: 'ringing', raises: ['RINGING'] },
    accept: { state: 'accepted', session: true, raises: ['connect', 'ACCEPTED'] },
    reject: { state: 'ended', ending: 'rejected', raises: ['REJECTED'] },
  },
  business: {
    pre_accept: { state: 'ringing', session: true },
    accept: { state: 'accepted', session: true },
    reject: { state: 'ended', ending: 'rejected' },
  },
}

/** Calls through both doors, each with a user who never called before; those that nobody answers ring out. */
export class CallsWriter implements ChapterWriter {
  readonly name = 'calls'
  readonly #parts: WriterDeps
  readonly #calls: Shelf<Call>
  readonly #permissions: Shelf<string>
  readonly #ids = new Map<string, string>()
  /** Users whose calls were touched since the last check: their calls are read through the door. */
  readonly #touched = new Set<string>()
  #count = 0

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#calls = new Shelf('calls', parts.doors)
    this.#permissions = new Shelf('call permissions', parts.doors)
  }

  async act(): Promise<void> {
    const { chance } = this.#parts
    const open = [...this.#calls.known].filter(([, { state }]) => state !== 'ended')
    const roll = chance.next()
    if (open.length === 0 || (open.length < maxOpenCalls && roll < 0.3)) {
      return chance.happens(0.5) ? this.#startByUser() : this.#startByBusiness()
    }
    const [user, call] = chance.pick(open)
    if (call.state === 'accepted' || roll < 0.5) return this.#terminate(user, call)
    return this.#step(user, call)
  }

  async #startByUser(): Promise<void> {
    const user = this.#newUser()
    const value = { byUser: true, state: 'initiated', ending: null }
    const json = { phone_number_id: numbers.main, from: user, session: offer }
    const write = {
      operation: 'gateway.start_call',
      method: 'POST',
      path: '/gateway/calls',
      token: tokens.gateway,
      json,
    } as const
    const { body } = await this.#calls.change({ key: user, value, raises: [eventKeys.call(user, 'connect')] }, write)
    this.#ids.set(user, body.call_id)
  }

  async #startByBusiness(): Promise<void> {
    const user = this.#newUser()
    const json = { phone_number_id: numbers.main, user_wa_id: user, status: 'granted' }
    const permit = {
      operation: 'gateway.set_call_permission',
      method: 'POST',
      path: '/gateway/call_permissions',
      token: tokens.gateway,
      json,
    } as const
    await this.#permissions.change({ key: user, value: 'granted' }, permit)
    const value = { byUser: false, state: 'initiated', ending: null }
    const { body } = await this.#calls.change(
      { key: user, value },
      this.#byBusiness('connect', { to: user, session: offer }),
    )
    this.#ids.set(user, body.calls[0].id)
  }

  async #step(user: string, call: Call): Promise<void> {
    const side = call.byUser ? 'business' : 'user'
    const possible = Object.entries(steps[side]).filter(([, { state }]) => state !== call.state)
    const [action, { state, ending = null, session, raises = [] }] = this.#parts.chance.pick(possible)
    const keys = [...raises, ...(state === 'ended' ? ['terminate'] : [])].map((what) => eventKeys.call(user, what))
    const value = { ...call, state, ending }
    await this.#actOn(side, user, action, { key: user, value, raises: keys }, session ? { session: answer } : {})
  }

  async #terminate(user: string, call: Call): Promise<void> {
    const side = this.#parts.chance.pick(['user', 'business'] as const)
    const value = { ...call, state: 'ended', ending: call.state === 'accepted' ? 'completed' : 'failed' }
    await this.#actOn(side, user, 'terminate', { key: user, value, raises: [eventKeys.call(user, 'terminate')] }, {})
  }

  async #actOn(
    side: 'user' | 'business',
    user: string,
    action: string,
    change: { key: string; value: Call; raises: readonly string[] },
    rest: object,
  ): Promise<Answer> {
    this.#touched.add(user)
    const call_id = this.#ids.get(user)
    const path = `/gateway/calls/${call_id}`
    const write: Write =
      side === 'user'
        ? { operation: 'gateway.act_on_call', method: 'POST', path, token: tokens.gateway, json: { action, ...rest } }
        : this.#byBusiness(action, { call_id, ...rest })
    return this.#calls.change(change, write)
  }

  #byBusiness(action: string, rest: object): Write {
    const json = { messaging_product: 'msgapp', action, ...rest }
    return { operation: 'calls.act', method: 'POST', path: `/v23.0/${numbers.main}/calls`, json }
  }

  #newUser(): string {
    const user = String(16_505_700_000 + this.#count++)
    this.#touched.add(user)
    return user
  }

  async check(store: StoreView): Promise<void> {
    const rows = store.rows<{
      id: string
      user_wa_id: string
      direction: string
      state: string
      ending: string | null
    }>('SELECT id, user_wa_id, direction, state, ending FROM calls')
    const seen = new Map<string, Call>()
    for (const { id, user_wa_id, direction, state, ending } of rows) {
      this.#ids.set(user_wa_id, id)
      const known = this.#calls.known.get(user_wa_id)
      const isNews = this.#touched.has(user_wa_id) || known?.state !== 'ended'
      const shown = isNews ? await this.#readCall(id) : { direction, state, ending }
      seen.set(user_wa_id, {
        byUser: shown.direction === 'USER_INITIATED',
        state: shown.state,
        ending: shown.ending ?? null,
      })
    }
    this.#calls.check(seen)
    for (const [user, { ending }] of seen) {
      if (ending === 'timed_out') this.#parts.doors.expectedEvents.mustCome([eventKeys.call(user, 'terminate')])
    }
    await this.#checkPermissions(store)
    this.#touched.clear()
  }

  #readCall(id: string): Promise<Answer['body']> {
    return this.#parts.doors.read({ path: `/gateway/calls/${id}`, token: tokens.gateway })
  }

  async #checkPermissions(store: StoreView): Promise<void> {
    const { doors } = this.#parts
    const rows = store.rows<{ user_wa_id: string; status: string }>(
      "SELECT user_wa_id, status FROM call_permissions WHERE user_wa_id >= '16505700000'",
    )
    const seen = new Map(rows.map(({ user_wa_id, status }) => [user_wa_id, status]))
    for (const user of this.#touched) {
      if (!seen.has(user)) continue
      const path = `/v23.0/${numbers.main}/call_permissions`
      const { permission } = await doors.read({ path, query: { user_wa_id: user } })
      seen.set(user, permission.status)
    }
    this.#permissions.check(seen)
  }

  /** Nothing rings for an hour. */
  passTime(): void {
    this.#calls.evolve((call) =>
      call.state === 'initiated' || call.state === 'ringing' ? { ...call, state: 'ended', ending: 'timed_out' } : call,
    )
  }
}
