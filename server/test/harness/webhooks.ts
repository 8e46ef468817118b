import { createHmac } from 'node:crypto'
import type { Answer, CallOptions } from './client.ts'
import type { TestServer } from './server.ts'
import { ids, numbers, tokens } from './world.ts'

/** Who writes when a test does not say who. */
export const anyUser = '16505551234'

/** What the network's edge hands in, made by hand: tests may not use the code that they test. */
export const metadata = { display_phone_number: '+1 631-555-1001', phone_number_id: numbers.main }
const contacts = [{ profile: { name: 'Ana' }, wa_id: anyUser }]

export function textMessage(id: string, body = 'Hello', from: string = anyUser) {
  return { from, id, timestamp: '1780315200', type: 'text', text: { body } }
}

export function messagesValue(...messages: object[]) {
  return { messaging_product: 'msgapp', metadata, contacts, messages }
}

export function messagesChange(...messages: object[]) {
  return { field: 'messages', value: messagesValue(...messages) }
}

export function envelopeOf(changes: readonly object[], account: string = ids.account) {
  return { object: 'msgapp_business_account', entry: [{ id: account, changes }] }
}

/** Hands in an envelope with the token of the gateway. */
export function handIn(server: TestServer, envelope: object, options: CallOptions = {}): Promise<Answer> {
  return server.client.post('/msgapp/webhooks', { token: tokens.gateway, json: envelope, ...options })
}

/** Hands in one text message of the main number, by its id; messages of one user are a conversation. */
export function handInText(server: TestServer, id: string, user: string = anyUser): Promise<Answer> {
  return handIn(server, envelopeOf([messagesChange(textMessage(id, 'Hello', user))]))
}

/** Users by a number, each with a conversation of its own. */
export function userOf(index: number): string {
  return String(16_505_550_000 + index)
}

export function signHubByHand(bytes: string | Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
}
