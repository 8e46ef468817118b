import { hour } from '../../../src/base/time/duration.ts'
import type { Chance } from '../seeded-random.ts'
import type { Doors } from './doors.ts'
import { type Content, pickOfBusiness, pickOfUser, type UploadedFiles } from './messages.ts'
import { busyIds } from './world.ts'

export interface ChatTools {
  readonly doors: Doors
  readonly chance: Chance
  /** Those of the first number, which alone can send them. */
  readonly files: UploadedFiles
  readonly now: () => number
}

/** A chat of a user with a number, whose two sides write in turn; the user writes when the window would be closed. */
export class BusyChat {
  readonly #tools: ChatTools
  readonly #number: string
  readonly #user: string
  #openedAt = 0
  #isUsersTurn = true

  constructor(tools: ChatTools, number: string, user: string) {
    this.#tools = tools
    this.#number = number
    this.#user = user
  }

  async goOn(): Promise<void> {
    const { chance, now } = this.#tools
    const files = this.#number === busyIds.number ? this.#tools.files : undefined
    const isUsersTurn = this.#isUsersTurn || now() - this.#openedAt > 23 * hour
    this.#isUsersTurn = !isUsersTurn || chance.happens(0.2)
    if (isUsersTurn) await this.write(pickOfUser(chance, files))
    else await this.send(pickOfBusiness(chance, files))
  }

  /** The user writes; returns the id of the message. */
  async write(content: Content): Promise<string> {
    this.#openedAt = this.#tools.now()
    const where = { phone_number_id: this.#number, from: this.#user }
    const { message_id } = await this.#tools.doors.gateway('messages', { ...where, ...content })
    return message_id
  }

  /** The business sends; returns the id of the message. */
  async send(content: Content): Promise<string> {
    const { messages } = await this.#tools.doors.business(`${this.#number}/messages`, { to: this.#user, ...content })
    return messages[0].id
  }
}
