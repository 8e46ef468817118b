import { numbers, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import type { Write } from '../doors.ts'
import { eventKeys } from '../expected-events.ts'
import { Shelf } from '../shelf.ts'
import type { StoreView } from '../store-view.ts'
import { sentTemplate } from './templates-writer.ts'

const firstUser = 16_505_800_000
const maxLinks = 4

/** Messages in both directions, each with a user who never wrote before: texts, templates, and documents by link; and users' phones, chats and blocks. */
export class SendingWriter implements ChapterWriter {
  readonly name = 'sending'
  readonly #parts: WriterDeps
  /** By the user: what state the message to the user is in. */
  readonly #sent: Shelf<string>
  readonly #written: Shelf<boolean>
  readonly #blocked: Shelf<boolean>
  readonly #names: Shelf<string>
  readonly #chats: Shelf<boolean>
  readonly #ids = new Map<string, string>()
  /** Users who have written and to whom nothing was sent yet. */
  readonly #waiting: string[] = []
  #count = 0

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#sent = new Shelf('messages sent', parts.doors)
    this.#written = new Shelf('messages written', parts.doors)
    this.#blocked = new Shelf('blocked users', parts.doors)
    this.#names = new Shelf('names of users', parts.doors)
    this.#chats = new Shelf('numbers that users blocked', parts.doors)
  }

  async act(): Promise<void> {
    const { chance, doors } = this.#parts
    const roll = chance.next()
    if (roll < 0.3) return this.#write()
    if (roll < 0.4) return this.#setUser()
    if (roll < 0.5) return this.#read()
    const user = roll < 0.6 ? undefined : this.#waiting.shift()
    if (user !== undefined) return roll < 0.7 ? this.#block(user) : this.#send(user, roll)
    const [blocked] = this.#blocked.known.keys()
    return blocked === undefined ? pass(doors) : this.#unblock(blocked)
  }

  async #write(): Promise<void> {
    const user = this.#newUser()
    const id = `written.${user}`
    const json = { phone_number_id: numbers.main, from: user, id, type: 'text', text: { body: `Für ${user}` } }
    const write = this.#atGateway('gateway.write_message', '/gateway/messages', json)
    await this.#written.change({ key: id, value: true, raises: [eventKeys.message(id)] }, write)
    this.#waiting.push(user)
  }

  async #send(user: string, roll: number): Promise<void> {
    const { sinkUrl, chance } = this.#parts
    const template = { name: sentTemplate, language: { code: 'en_US' } }
    // The subscriber gives back what it is asked with: a text.
    const link = `${sinkUrl}/files?hub.challenge=a-text-of-its-own-${chance.below(maxLinks)}`
    const message =
      roll < 0.8
        ? { text: { body: 'Hello' } }
        : roll < 0.85
          ? { type: 'template', template }
          : { type: 'document', document: { link } }
    const json = { messaging_product: 'msgapp', to: user, ...message }
    const raises = ['sent', 'delivered'].map((status) => eventKeys.call(user, status))
    const write: Write = { operation: 'messages.send', method: 'POST', path: `/v23.0/${numbers.main}/messages`, json }
    const { body } = await this.#sent.change({ key: user, value: 'delivered', raises }, write)
    this.#ids.set(user, body.messages[0].id)
  }

  async #read(): Promise<void> {
    const { chance, doors } = this.#parts
    const delivered = [...this.#sent.known].filter(([user, state]) => state === 'delivered' && this.#ids.has(user))
    if (delivered.length === 0) return pass(doors)
    const [user] = chance.pick(delivered)
    const path = `/gateway/messages/${this.#ids.get(user)}`
    // One that waits for its link is not there yet, and then a report does nothing.
    const { state } = await doors.read({ path, token: tokens.gateway })
    if (state !== 'delivered') return
    const write = this.#atGateway('gateway.act_on_message', path, { action: 'read' })
    await this.#sent.change({ key: user, value: 'read', raises: [eventKeys.call(user, 'read')] }, write)
  }

  async #setUser(): Promise<void> {
    const user = this.#newUser()
    const name = `Ada ${user}`
    await this.#names.change(
      { key: user, value: name },
      this.#atGateway('gateway.set_user', `/gateway/users/${user}`, { name }),
    )
    const path = `/gateway/users/${user}/chats/${numbers.main}`
    await this.#chats.change({ key: user, value: true }, this.#atGateway('gateway.set_chat', path, { blocked: true }))
  }

  async #block(user: string): Promise<void> {
    await this.#blocked.change({ key: user, value: true }, this.#ofBlocks('messages.block_users', 'POST', user))
  }

  async #unblock(user: string): Promise<void> {
    await this.#blocked.change(
      { key: user, value: undefined },
      this.#ofBlocks('messages.unblock_users', 'DELETE', user),
    )
  }

  #ofBlocks(operation: string, method: Write['method'], user: string): Write {
    const json = { messaging_product: 'msgapp', block_users: [{ user }] }
    return { operation, method, path: `/v23.0/${numbers.main}/block_users`, json }
  }

  #atGateway(operation: string, path: string, json: object): Write {
    return { operation, method: 'POST', path, token: tokens.gateway, json }
  }

  #newUser(): string {
    return String(firstUser + this.#count++)
  }

  async check(store: StoreView): Promise<void> {
    const { doors } = this.#parts
    const isOurs = `user_wa_id >= '${firstUser}'`
    const messages = store.rows<{ id: string; user_wa_id: string; direction: string }>(
      `SELECT id, user_wa_id, direction FROM messages WHERE ${isOurs}`,
    )
    const sent = new Map<string, string>()
    const written = new Map<string, boolean>()
    for (const { id, user_wa_id, direction } of messages) {
      if (direction === 'to_business') {
        written.set(id, true)
        continue
      }
      this.#ids.set(user_wa_id, id)
      if (sent.has(user_wa_id)) sent.set(user_wa_id, 'twice')
      else sent.set(user_wa_id, (await doors.read({ path: `/gateway/messages/${id}`, token: tokens.gateway })).state)
    }
    this.#sent.check(sent)
    this.#written.check(written)
    const list = (sql: string) => store.rows<{ key: string }>(sql).map(({ key }) => key)
    const blocked = list(`SELECT user_wa_id AS key FROM blocked_users WHERE ${isOurs}`)
    this.#blocked.check(new Map(blocked.map((user) => [user, true])))
    const chats = list(`SELECT user_wa_id AS key FROM chats WHERE blocked AND ${isOurs}`)
    this.#chats.check(new Map(chats.map((user) => [user, true])))
    const names = list(`SELECT wa_id AS key FROM users WHERE name IS NOT NULL AND wa_id >= '${firstUser}'`)
    const known = names.map(async (user) => [user, await this.#readName(user)] as const)
    this.#names.check(new Map(await Promise.all(known)))
  }

  async #readName(user: string): Promise<string> {
    return (await this.#parts.doors.read({ path: `/gateway/users/${user}`, token: tokens.gateway })).name
  }
}
