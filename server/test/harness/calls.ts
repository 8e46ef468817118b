import assert from 'node:assert/strict'
import { exampleAnswer, exampleOffer } from '../../src/resources/calls/examples.ts'
import type { Answer } from './client.ts'
import type { TestServer } from './server.ts'
import { numbers, testWorld, tokens } from './world.ts'

export const offer = { sdp_type: 'offer', sdp: exampleOffer } as const
export const answer = { sdp_type: 'answer', sdp: exampleAnswer } as const

/** Both sides of calls on one number, each through its own door. */
export function callSides(server: TestServer, phone_number_id: string = numbers.main) {
  let lastUser = 16_505_560_000

  const business = (body: object, token: string = tokens.owner): Promise<Answer> =>
    server.client.callRow(server.client.row('calls.act'), `/v23.0/${phone_number_id}/calls`, {
      token,
      json: { messaging_product: 'msgapp', ...body },
    })
  const gateway = (path: string, body: object): Promise<Answer> =>
    server.client.post(`/gateway/${path}`, { token: tokens.gateway, json: body })
  const permit = (user_wa_id: string, rest: object = { status: 'granted' }): Promise<Answer> =>
    gateway('call_permissions', { phone_number_id, user_wa_id, ...rest })

  return {
    business,
    gateway,
    permit,
    /** A user whom no other test uses. */
    newUser: (): string => String(++lastUser),
    /** A user's permission as the business reads it. */
    readPermission: (user_wa_id: string): Promise<Answer> =>
      server.client.callRow(server.client.row('calls.read_permission'), `/v23.0/${phone_number_id}/call_permissions`, {
        token: tokens.owner,
        query: { user_wa_id },
      }),
    /** A call of the business to a user who permits it. */
    async callUser(user: string, rest: object = { session: offer }): Promise<string> {
      assert.equal((await permit(user)).status, 200)
      const made = await business({ action: 'connect', to: user, ...rest })
      assert.equal(made.status, 200, made.text)
      return made.body.calls[0].id
    },
    /** A call of a user to the business. */
    async callBusiness(user: string, rest: object = {}): Promise<string> {
      const made = await gateway('calls', { phone_number_id, from: user, session: offer, ...rest })
      assert.equal(made.status, 200, made.text)
      return made.body.call_id
    },
    /** An action of a user's phone on a call. */
    user: (call_id: string, action: string, rest: object = {}): Promise<Answer> =>
      gateway(`calls/${call_id}`, { action, ...rest }),
    readCall: (call_id: string): Promise<Answer> =>
      server.client.get(`/gateway/calls/${call_id}`, { token: tokens.gateway }),
    /** The values of every event that was raised about a call, in order. */
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every shape, and says itself what it expects.
    async eventsOf(call_id: string): Promise<any[]> {
      const rows = await server.database.read.query.selectFrom('events').selectAll().orderBy('id').execute()
      return rows
        .filter(({ field }) => field === 'calls')
        .map(({ value }) => JSON.parse(value))
        .filter(({ calls, statuses }) => (calls ?? statuses)[0].id === call_id)
    },
  }
}

/** `connect`, `RINGING`, `terminate`: what an event is, in one word. */
export function nameEvent(value: { calls?: { event: string }[]; statuses?: { status: string }[] }): string | undefined {
  return value.calls?.[0]?.event ?? value.statuses?.[0]?.status
}

/** A registered number of `worldWithSilentNumber` that can neither call nor be called. */
export const silentNumber = '4000000000000006'

/** The world of the tests with a number whose calling is switched off. */
export function worldWithSilentNumber() {
  const world = testWorld()
  const [first, ...others] = world.accounts
  assert.ok(first)
  const silent = { id: silentNumber, display_phone_number: '+1 631-555-1006', registered: true, calling_enabled: false }
  return { ...world, accounts: [{ ...first, phone_numbers: [...(first.phone_numbers ?? []), silent] }, ...others] }
}
