import { minute, second } from '../../../src/base/time/duration.ts'
import { exampleAnswer, exampleOffer } from '../../../src/resources/calls/examples.ts'
import type { BusyClock } from './clock.ts'
import type { Doors } from './doors.ts'
import { busyIds } from './world.ts'

const offer = { sdp_type: 'offer', sdp: exampleOffer }
const answer = { sdp_type: 'answer', sdp: exampleAnswer }

/** Both directions and every ending of calls, one after the other. */
export class BusyCalls {
  readonly #doors: Doors
  readonly #clock: BusyClock
  readonly #settle: () => Promise<void>

  constructor(doors: Doors, clock: BusyClock, settle: () => Promise<void>) {
    this.#doors = doors
    this.#clock = clock
    this.#settle = settle
  }

  /** The call of a round; its number chooses direction and ending. */
  async make(round: number, user: string): Promise<void> {
    const isOfUser = round % 2 === 0
    const id = isOfUser ? await this.callBusiness(user) : await this.#callUser(user)
    const called = (action: string, rest: object = {}) =>
      isOfUser ? this.#ofBusiness(id, action, rest) : this.#ofUser(id, action, rest)
    const caller = (action: string) => (isOfUser ? this.#ofUser(id, action) : this.#ofBusiness(id, action))
    if (!isOfUser) await this.#ofUser(id, 'ringing')
    this.#pass(4 * second)
    switch (Math.floor(round / 2) % 4) {
      case 0:
        await called('accept', { session: answer })
        this.#pass(95 * second)
        await caller('terminate')
        return
      case 1:
        await called('reject')
        return
      case 2:
        await caller('terminate')
        return
      default:
        // Nobody answers until it ends by itself.
        this.#pass(2 * minute)
        await this.#settle()
    }
  }

  async callBusiness(user: string): Promise<string> {
    const body = { phone_number_id: busyIds.number, from: user, session: offer }
    return (await this.#doors.gateway('calls', body)).call_id
  }

  /** Accepts a call of a user, which then goes on. */
  accept(id: string): Promise<unknown> {
    return this.#ofBusiness(id, 'accept', { session: answer })
  }

  async #callUser(user: string): Promise<string> {
    const body = { action: 'connect', to: user, session: offer }
    return (await this.#doors.business(`${busyIds.number}/calls`, body)).calls[0].id
  }

  #ofBusiness(call_id: string, action: string, rest: object = {}): Promise<unknown> {
    return this.#doors.business(`${busyIds.number}/calls`, { call_id, action, ...rest })
  }

  #ofUser(call_id: string, action: string, rest: object = {}): Promise<unknown> {
    return this.#doors.gateway(`calls/${call_id}`, { action, ...rest })
  }

  #pass(milliseconds: number): void {
    this.#clock.moveTo(this.#clock.now() + milliseconds)
  }
}
