import { listenToPhones } from '../live.ts'
import { type Message, readMessage } from '../messages.ts'
import { findMessage, listMessages } from './gateway.ts'
import { putMessage, putStatus, type Status } from './reduce.ts'

/** A message and its first statuses, up to that it was read, come together, and are drawn once. */
const changePause = 150
/** Of both sides: enough for the few that are shown. */
const readMessages = 15

/** The messages of a number to a user, as the business sees them: newest first, failed messages included. */
export class SentFeed {
  readonly stop: () => void
  readonly #number: string
  readonly #to: string
  readonly #onChange: (messages: readonly Message[]) => void
  /** The oldest first. */
  #messages: readonly Message[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(number: string, to: string, onChange: (messages: readonly Message[]) => void) {
    this.#number = number
    this.#to = to
    this.#onChange = onChange
    this.stop = listenToPhones(
      (event) => {
        if (event.event === 'message') this.#put(readMessage(event.data))
        else if (event.event === 'status') this.#onStatus(event.data as Status)
      },
      () => void this.#read(),
    )
  }

  async #read(): Promise<void> {
    const page = await listMessages(this.#to, { phone_number_id: this.#number }, { limit: readMessages }).catch(
      () => undefined,
    )
    if (page) this.#set(page.messages.filter((message) => this.#isMine(message)))
  }

  #isMine({ direction, phone_number_id, user_wa_id, group_id, type }: Message): boolean {
    const isHere = phone_number_id === this.#number && user_wa_id === this.#to && group_id === undefined
    return isHere && direction === 'to_user' && type !== 'reaction'
  }

  #put(message: Message): void {
    if (this.#isMine(message)) this.#set(putMessage(this.#messages, message))
  }

  #onStatus(status: Status): void {
    if (status.user_wa_id !== this.#to) return
    const isKnown = this.#messages.some(({ id }) => id === status.id)
    if (isKnown) this.#set(putStatus(this.#messages, status, this.#to))
    // The stream has no message that cannot reach its user, and no reason in a status.
    if (isKnown && status.status !== 'failed') return
    void findMessage(status.id).then(
      (message) => this.#put(message),
      () => undefined,
    )
  }

  #set(messages: readonly Message[]): void {
    this.#messages = messages
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#onChange(this.#messages.toReversed())
    }, changePause)
  }
}
