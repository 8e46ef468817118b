import assert from 'node:assert/strict'
import type { Answer } from './client.ts'
import { messageSides } from './messages.ts'
import type { TestServer } from './server.ts'
import { numbers, tokens } from './world.ts'

/** The two sides of chats where the second vocabulary is spoken, with its interactive messages. */
export function publicSides(server: TestServer) {
  const sides = messageSides(server)
  const post = (to: string, interactive: object): Promise<Answer> =>
    sides.post({ messaging_product: 'whatsapp', to, type: 'interactive', interactive })
  return {
    ...sides,
    post,
    /** A user whose window is open. */
    async meetUser(): Promise<string> {
      const from = sides.newUser()
      const text = { phone_number_id: numbers.main, from, name: 'Ada', type: 'text', text: { body: 'Hello' } }
      assert.equal((await sides.gateway('messages', text)).status, 200)
      return from
    },
    /** Sends what must be taken, and returns its id. */
    async send(to: string, interactive: object): Promise<string> {
      const answer = await post(to, interactive)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.messages[0].id
    },
    async upload(file: Buffer, type: string): Promise<string> {
      const form = new FormData()
      form.set('messaging_product', 'whatsapp')
      form.set('type', type)
      form.set('file', new Blob([new Uint8Array(file)], { type }), 'file')
      const made = await fetch(`${server.url}/v23.0/${numbers.main}/media`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.owner}` },
        body: form,
      })
      const { id } = (await made.json()) as { id: string }
      assert.equal(made.status, 200)
      return id
    },
    /** What a phone loads from the link of a file. */
    async load(url: string, token: string = tokens.gateway): Promise<{ status: number; bytes: Buffer }> {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
    },
  }
}

export const shortBody = { text: 'Of course! Here are our latest arrivals:' }

/** The action of a carousel: cards with the files and the buttons that are given. */
export function carousel(cards: readonly object[]): { type: string; body: object; action: { cards: object[] } } {
  const numbered = cards.map((card, card_index) => ({ card_index, type: 'cta_url', ...card }))
  return { type: 'carousel', body: shortBody, action: { cards: numbered } }
}

export const shopButton = {
  name: 'cta_url',
  parameters: { display_text: 'Buy now', url: 'https://shop.example.com/aloe' },
}

export function quickReplies(...replies: readonly (readonly [id: string, title: string])[]) {
  return { buttons: replies.map(([id, title]) => ({ type: 'quick_reply', quick_reply: { id, title } })) }
}
