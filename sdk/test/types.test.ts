import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  type APIError,
  type Call,
  type InboundMessage,
  InternalServerError,
  type ListCall,
  NotFoundError,
  type Page,
  type PhoneNumbersListItem,
  Switchboard,
  type WebhookEvent,
} from '@switchboard/client'

/** What the compiler has to find: `npm test` checks the types of this file, and a line that is no error where one is expected fails. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T => true as T

test('events narrow by field, messages by type, replies by kind', () => {
  const read = (event: WebhookEvent): string => {
    switch (event.field) {
      case 'messages':
        return (event.value.messages ?? []).map(describe).join()
      case 'calls':
        return (
          event.value.calls?.map((call) => (call.event === 'terminate' ? call.status : call.session?.sdp)).join() ?? ''
        )
      case 'group_participants_update':
        return event.value.groups.map((group) => ('wa_id' in group ? group.wa_id : group.group_id)).join()
      case 'message_template_status_update':
        return String(event.value.message_template_id)
      default:
        // @ts-expect-error: which field it is is not known here, and not every value has messages
        return event.value.messages
    }
  }
  const describe = (message: InboundMessage): string => {
    if (message.type === 'text') return message.text.body
    if (message.type === 'image') return message.image.sha256
    if (message.type === 'interactive' && message.interactive.type === 'button_reply') {
      return message.interactive.button_reply.title
    }
    // @ts-expect-error: it is no text any more
    return message.text?.body
  }
  assert.equal(typeof read, 'function')
})

test('errors narrow by class, and what is left is known too', () => {
  const read = (error: APIError | APIConnectionError): string | number => {
    if (error instanceof NotFoundError) return error.name
    if (error instanceof InternalServerError) return error.status
    if (error instanceof APIConnectionTimeoutError) return error.name
    if (error instanceof APIConnectionError) return error.reason
    return error.status
  }
  const error = new NotFoundError(404, {}, new Headers())
  assert.deepEqual([read(error), error.name], ['NotFoundError', 'NotFoundError'])
})

test('methods know what they take and what they give', () => {
  const client = new Switchboard()
  const check = () => {
    holds<Equal<ReturnType<typeof client.phoneNumbers.list>, ListCall<PhoneNumbersListItem>>>()
    const sent = client.messages.send('1', { to: '2', type: 'text', text: { body: 'Hi' } })
    holds<Equal<Awaited<typeof sent>['messages'][number]['id'], string>>()
    const marked = client.messages.send('1', { status: 'read', message_id: 'wamid.1' })
    holds<Equal<typeof marked, Call<{ success: boolean }>>>()
    const listed = client.phoneNumbers.list('1', { limit: 5 })
    const page: Promise<Page<PhoneNumbersListItem>> = client.phoneNumbers.list('1')
    holds<Equal<Awaited<typeof listed>['data'][number]['id'], string>>()
    // @ts-expect-error: what was not asked for may not be there
    void (async () => (await client.phoneNumbers.list('1', { fields: ['status'] })).data[0]?.id.length)
    client.gateway.writeMessage({ phone_number_id: '1', from: '2', type: 'image', image: { id: '3' } })
    // @ts-expect-error: a text has a body
    client.gateway.writeMessage({ phone_number_id: '1', from: '2', type: 'text', text: { boddy: 'Hi' } })
    // @ts-expect-error: the id is missing
    client.phoneNumbers.list()
    // @ts-expect-error: there is no such kind
    client.messages.send('1', { to: '2', type: 'telegram' })
    // @ts-expect-error: a text has a body
    client.messages.send('1', { to: '2', text: { boddy: 'Hi' } })
    // @ts-expect-error: there is no such field
    client.account.read('1', { fields: ['nome'] })
    return page
  }
  assert.equal(typeof check, 'function')
})
