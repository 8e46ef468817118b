import type { Switchboard, Vocabulary } from '@switchboard/client'
import { describeFilter, describeMessage } from '../waits/describe.ts'
import { expectNothing } from '../waits/expect-nothing.ts'
import { fitsMessage, type MessageFilter, type Watching } from '../waits/filters.ts'
import { type Abandoned, Mailbox, type Wanted } from '../waits/mailbox.ts'
import type { MessageType, PhoneMessage, PhoneMessageOf, Written, WrittenMessage } from './phone-messages.ts'
import { exampleOffer } from './session.ts'
import type { SoundCallRequest, SoundCallResult } from './sound-call.ts'
import { SoundCalls } from './sound-calls.ts'

/** What a phone asks of the test that it belongs to. */
export interface PhoneHost {
  /** The address of the server. */
  readonly url: string
  /** The world's first phone number. */
  firstNumber(): string
  /** Why nothing may have come to the user, in lines. */
  explain(): Promise<string[]>
  /** Waits until nothing goes on. */
  becomeQuiet(watching: Watching & { readonly timeout?: number | undefined }): Promise<void>
}

/** The phone of one user. */
export class Phone<V extends Vocabulary = 'msgapp'> {
  /** The user's number, digits only. */
  readonly wa_id: string
  readonly #client: Switchboard
  readonly #mailbox: Mailbox<PhoneMessage>
  readonly #host: PhoneHost
  readonly #soundCalls = new SoundCalls()
  #last: PhoneMessage | undefined

  constructor(client: Switchboard, wa_id: string, host: PhoneHost) {
    this.#client = client
    this.wa_id = wa_id
    this.#host = host
    this.#mailbox = new Mailbox({ describe: describeMessage, explain: () => host.explain() })
  }

  /** What came so far, oldest first. */
  get messages(): readonly PhoneMessage<V>[] {
    return this.#mailbox.all as readonly PhoneMessage<V>[]
  }

  /** The next message that fits: one that came already and was not waited for, or the first that comes. */
  async waitForMessage<Type extends MessageType = MessageType>(
    filter: MessageFilter<Type, V> = {},
  ): Promise<PhoneMessageOf<Type, V>> {
    const message = await this.#mailbox.take(this.#want(filter as unknown as MessageFilter), filter.timeout)
    this.#last = message
    return message as unknown as PhoneMessageOf<Type, V>
  }

  /**
   * Checks that no message comes that fits, beside the messages that were waited for. It is sure of that once the server has nothing left to
   * do, the app has responded to every webhook, and then nothing has happened for 250 ms (`quiet`).
   *
   * @example
   * await phone.write(sb.number, 'STOP')
   * await phone.expectNoMessage()
   */
  async expectNoMessage(filter: MessageFilter<MessageType, V> & Watching = {}): Promise<void> {
    await expectNothing(this.#mailbox, this.#want(filter as unknown as MessageFilter), () =>
      this.#host.becomeQuiet(filter),
    )
  }

  #want(filter: MessageFilter): Wanted<PhoneMessage> {
    return {
      what: `message ${describeFilter(filter)}to ${this.wa_id}`,
      fits: (message) => fitsMessage(message, filter),
      showsAll: filter.where !== undefined,
    }
  }

  /** Writes to a phone number. */
  async write(phoneNumberId: string, message: Written): Promise<string> {
    const params = { ...asMessage(message), phone_number_id: phoneNumberId, from: this.wa_id }
    return (await this.#client.gateway.messages.write(params)).message_id
  }

  /** Sends a file: a picture, a video, a recording, a sticker or a document, by its type. */
  async writeFile(
    phoneNumberId: string,
    file: Blob,
    more: { caption?: string; filename?: string } = {},
  ): Promise<string> {
    const { id } = await this.#client.gateway.media.upload({ phone_number_id: phoneNumberId, file })
    return this.write(phoneNumberId, describeFile(file.type, { ...more, id }))
  }

  /** Answers the last message that was waited for, or else the last that came. */
  async reply(message: Written): Promise<string> {
    const { id, phone_number_id } = this.#lastMessage()
    return this.write(phone_number_id, { ...asMessage(message), context: { id } })
  }

  /** Presses a button or a row of a list of that message, or of the latest before it that has one: by its title, or by its id. */
  async press(choice: string): Promise<string> {
    const last = this.#lastMessage()
    let offered: readonly Pressable[] = []
    for (const message of [last, ...this.messages.toReversed()]) {
      const there = listPressables(message)
      const found = there.find((one) => one.title === choice || one.choice === choice)
      if (found) return this.#press(message, found.choice)
      if (offered.length === 0) offered = there
    }
    // What else can be answered, such as a request to call, is known to the server.
    if (offered.length === 0) return this.#press(last, choice)
    const titles = offered.map(({ title }) => JSON.stringify(title)).join(', ')
    throw new Error(`no message to ${this.wa_id} has ${JSON.stringify(choice)} to press; there is ${titles}`)
  }

  async #press({ id }: PhoneMessage, choice: string | number): Promise<string> {
    const done = await this.#client.gateway.messages.press(id, { choice, user_wa_id: this.wa_id })
    return done.message_id ?? ''
  }

  /** Marks the last message as read. */
  async read(): Promise<void> {
    await this.#client.gateway.messages.markAsRead(this.#lastMessage().id, { user_wa_id: this.wa_id })
  }

  /** Calls a phone number, and gives the id of the call. The call has no sound: its description is an example. */
  async call(phoneNumberId: string, sdp?: string): Promise<string>
  /**
   * Calls a phone number with sound, and resolves when the call is over. It needs the package `@switchboard/voice`.
   *
   * @example
   * const { heard } = await phone.call({ audio: 'question.wav', record: 'answer.ogg', for: '5s' })
   */
  async call(request: SoundCallRequest): Promise<SoundCallResult>
  async call(called: string | SoundCallRequest, sdp: string = exampleOffer): Promise<string | SoundCallResult> {
    if (typeof called !== 'string') {
      const context = { client: this.#client, url: this.#host.url, from: this.wa_id }
      return this.#soundCalls.call(context, called.to ?? this.#host.firstNumber(), called)
    }
    const session = { sdp_type: 'offer' as const, sdp }
    return (await this.#client.gateway.calls.start({ phone_number_id: called, from: this.wa_id, session })).call_id
  }

  /** Changes what the gateway knows of the user: `presence`, `name`, `auto_read`, `reachable`. */
  async set(settings: Parameters<Switchboard['gateway']['users']['update']>[1]): Promise<void> {
    await this.#client.gateway.users.update(this.wa_id, settings)
  }

  /** Called with each event of the stream. */
  receive(message: PhoneMessage): void {
    this.#mailbox.add(message)
  }

  forget(): void {
    this.#mailbox.clear()
    this.#last = undefined
  }

  fail(error: unknown): void {
    this.#mailbox.fail(error)
    this.#soundCalls.abandon()
  }

  /** Ends the waits and the calls with sound under way; gives what each waited for. */
  async abandon(): Promise<Abandoned[]> {
    return [...this.#soundCalls.abandon(), ...(await this.#mailbox.abandon())]
  }

  #lastMessage(): PhoneMessage {
    const last = this.#last ?? this.#mailbox.all.at(-1)
    if (!last) throw new Error(`no message came to ${this.wa_id} so far: wait for one first`)
    return last
  }
}

function asMessage(message: Written): WrittenMessage {
  return typeof message === 'string' ? { type: 'text', text: { body: message } } : message
}

/** The message that a file is sent as, by the type of the file. */
function describeFile(mimeType: string, file: { id: string; caption?: string; filename?: string }): WrittenMessage {
  const { id, caption } = file
  if (mimeType === 'image/webp') return { type: 'sticker', sticker: { id } }
  if (mimeType.startsWith('audio/')) return { type: 'audio', audio: { id } }
  if (mimeType.startsWith('image/')) return { type: 'image', image: { id, caption } }
  if (mimeType.startsWith('video/')) return { type: 'video', video: { id, caption } }
  return { type: 'document', document: { id, filename: file.filename } }
}

/** What can be pressed: the gateway takes ids of buttons and rows, and the index of a template's button; people know their titles. */
interface Pressable {
  readonly choice: string | number
  readonly title: string
}

function listPressables(message: PhoneMessage): Pressable[] {
  const found: Pressable[] = []
  const search = (value: unknown, index: number): void => {
    if (typeof value !== 'object' || value === null) return
    const { id, title, text, type } = value as Record<string, unknown>
    if (typeof id === 'string' && typeof title === 'string') found.push({ choice: id, title })
    else if (typeof text === 'string' && typeof type === 'string' && /quick_reply/i.test(type)) {
      found.push({ choice: index, title: text })
    }
    for (const member of Object.values(value)) {
      if (Array.isArray(member)) for (const [at, one] of member.entries()) search(one, at)
      else search(member, 0)
    }
  }
  search(message, 0)
  return found
}
