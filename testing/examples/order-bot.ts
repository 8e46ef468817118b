/** The bot of a small plant shop: it offers plants, takes orders, keeps what customers send, and notes what a person has to look at. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  APIError,
  type InboundMessage,
  type OutboundMessage,
  RateLimitError,
  type Switchboard,
  type TemplateValues,
  type WebhookEvent,
} from '@switchboard/client'

export interface Plant {
  readonly id: string
  readonly title: string
  readonly price: string
  readonly picture: Blob
}

export interface Shop {
  readonly client: Switchboard
  readonly plants: readonly Plant[]
  readonly priceListUrl: string
  /** Where files of customers are stored. */
  readonly folder: string
}

export class OrderBot {
  /** What a person of the shop has to look at. */
  readonly notes: string[] = []
  readonly orders = new Map<string, string>()
  readonly #shop: Shop
  readonly #done = new Set<string>()

  constructor(shop: Shop) {
    this.#shop = shop
  }

  /** Called with each event; if it throws, the server sends the event again. */
  readonly take = async (event: WebhookEvent): Promise<void> => {
    if (event.field === 'message_template_status_update') {
      this.notes.push(`The template ${event.value.message_template_name} is ${event.value.event}.`)
    }
    if (event.field !== 'messages') return
    const number = event.value.metadata.phone_number_id
    for (const message of event.value.messages ?? []) {
      // An event may come twice.
      if (this.#done.has(message.id)) continue
      await this.#answer(number, message)
      this.#done.add(message.id)
    }
    for (const { status, recipient_id, errors } of event.value.statuses ?? []) {
      if (status === 'failed') this.notes.push(`${recipient_id} did not get a message: ${errors?.[0]?.title}`)
    }
  }

  /** Writes to a customer with a template, which also arrives when the service window is closed. */
  async remind(number: string, to: string, order: string): Promise<void> {
    const text = (text: string) => ({ type: 'text', text }) as const
    const components: TemplateValues[] = [
      { type: 'header', parameters: [text(order)] },
      { type: 'body', parameters: [text('customer'), text(order)] },
      { type: 'button', sub_type: 'url', index: 1, parameters: [text(order)] },
    ]
    const template = { name: 'order_update', language: { code: 'en_US' }, components }
    await this.#shop.client.messages.send(number, { to, type: 'template', template })
  }

  async #answer(number: string, message: InboundMessage): Promise<void> {
    const { client } = this.#shop
    await client.messages.markAsRead(number, message.id, { typing_indicator: { type: 'text' } })
    switch (message.type) {
      case 'text':
        return /^stop$/i.test(message.text.body) ? this.#block(number, message.from) : this.#offer(number, message)
      case 'button':
        return this.#offer(number, message)
      case 'interactive':
        if (message.interactive.type === 'list_reply') {
          return this.#order(number, message, message.interactive.list_reply.id)
        }
        if (message.interactive.type === 'button_reply') {
          return this.#confirm(number, message, message.interactive.button_reply.id === 'yes')
        }
        return
      case 'image':
        return this.#keep(message.image.id)
      case 'document':
        return this.#keep(message.document.id)
      default:
        return this.#reply(message, number, 'reply', {
          to: message.from,
          type: 'text',
          text: { body: 'I only understand words, choices and files.' },
        })
    }
  }

  /** The key makes one message of it, however often the event comes. */
  async #reply({ id, from }: InboundMessage, number: string, part: string, content: OutboundMessage): Promise<void> {
    try {
      await this.#shop.client.messages.send(number, content, { idempotencyKey: `${id}-${part}` })
    } catch (error) {
      if (!(error instanceof APIError)) throw error
      if (error instanceof RateLimitError) this.notes.push(`Too many messages; the next one in ${error.retryAfter} s.`)
      if (error instanceof RateLimitError || error.isTransient || error.status >= 500) throw error
      this.notes.push(`${from}: ${error.code} ${error.detail}`)
    }
  }

  #offer(number: string, message: InboundMessage): Promise<void> {
    const rows = this.#shop.plants.map(({ id, title, price }) => ({ id, title, description: price }))
    return this.#reply(message, number, 'offer', {
      to: message.from,
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'What would you like to order?' },
        action: { button: 'Plants', sections: [{ rows }] },
      },
    })
  }

  async #order(number: string, message: InboundMessage, id: string): Promise<void> {
    const { client, plants, priceListUrl } = this.#shop
    const plant = plants.find((one) => one.id === id)
    if (!plant) return this.#offer(number, message)
    this.orders.set(message.from, plant.title)
    const to = message.from
    const picture = await client.media.upload(number, { file: plant.picture })
    await this.#reply(message, number, 'picture', {
      to,
      type: 'image',
      image: { id: picture.id, caption: `${plant.title}, ${plant.price}` },
    })
    await this.#reply(message, number, 'prices', {
      to,
      type: 'document',
      document: { link: priceListUrl, filename: 'prices.pdf' },
    })
    await this.#reply(message, number, 'question', {
      to,
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: `Shall we send the ${plant.title}?` },
        action: {
          buttons: [
            { type: 'reply', reply: { id: 'yes', title: 'Yes, please' } },
            { type: 'reply', reply: { id: 'no', title: 'No' } },
          ],
        },
      },
    })
  }

  async #confirm(number: string, message: InboundMessage, isWanted: boolean): Promise<void> {
    const plant = this.orders.get(message.from)
    if (!isWanted) this.orders.delete(message.from)
    const body = isWanted ? `Your ${plant} is on its way.` : 'Another time, then.'
    await this.#reply(message, number, 'confirmation', { to: message.from, type: 'text', text: { body } })
  }

  async #block(number: string, user: string): Promise<void> {
    const { block_users } = await this.#shop.client.blockedUsers.add(number, { block_users: [{ user }] })
    for (const { errors } of block_users.failed_users ?? []) this.notes.push(`${user}: ${errors[0]?.message}`)
  }

  /** Stores a file of a customer piece by piece. */
  async #keep(mediaId: string): Promise<void> {
    const { client, folder } = this.#shop
    const { url } = await client.media.retrieve(mediaId)
    const { body } = await client.media.download(url)
    if (body) await pipeline(body, createWriteStream(join(folder, mediaId)))
  }
}
