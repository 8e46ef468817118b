import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  type APIError,
  type CallEvent,
  ErrorCode,
  type ErrorSubcode,
  type EventError,
  type FaultRule,
  type GatewayMessage,
  type InboundMessage,
  type InteractiveContent,
  InternalServerError,
  type ListCall,
  type MessageStatus,
  type MessagesSendParams,
  type MessagesValue,
  NotFoundError,
  type OutboundMessage,
  type Page,
  type PhoneNumbersListItem,
  RateLimitError,
  type SandboxFaultsReplaceParams,
  Switchboard,
  type Template,
  type TemplateCategory,
  type TemplateComponent,
  type TemplatesCreateParams,
  type TemplatesListItem,
  type TemplatesRetrieveResponse,
  type TemplateValues,
  type WebhookEvent,
  type WebhookField,
  type WebhookValues,
} from '@switchboard/client'
import { Client, messagesSend, templatesDownloadCard } from '@switchboard/client/methods'

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
  const limited = new RateLimitError(429, {}, new Headers({ 'retry-after': '7' }))
  assert.deepEqual([limited.retryAfter, error.retryAfter], [7, undefined])
})

test('what is sent narrows by type, and holds what its type needs', () => {
  const read = (message: OutboundMessage): string | undefined => {
    switch (message.type) {
      case 'image':
        return message.image.id ?? message.image.link
      case 'interactive':
        return message.interactive.type === 'list' ? message.interactive.action.button : message.interactive.body?.text
      case 'template':
        return message.template.components?.map((values) => (values.type === 'button' ? values.index : 0)).join()
      case undefined:
      case 'text':
        return message.text.body
      default:
        return message.to
    }
  }
  const send = (params: MessagesSendParams) => new Switchboard().messages.send('1', params)
  const to = '2'
  const list: InteractiveContent = {
    type: 'list',
    body: { text: 'What?' },
    action: { button: 'Plants', sections: [{ rows: [{ id: 'fern', title: 'Fern' }] }] },
  }
  const header: TemplateValues = { type: 'header', parameters: [{ type: 'image', image: { id: '3' } }] }
  const template = { name: 'x', language: { code: 'en' }, components: [header] }
  const right: OutboundMessage[] = [
    { to, text: { body: 'Hi' } },
    { to, type: 'sticker', sticker: { id: '3' } },
    { to, type: 'interactive', interactive: list },
    { to, type: 'template', template },
  ]
  const wrong: MessagesSendParams[] = [
    // @ts-expect-error: nothing is sent
    {},
    // @ts-expect-error: to whom?
    { type: 'text', text: { body: 'Hi' } },
    // @ts-expect-error: a picture is no text
    { to, type: 'image', text: { body: 'Hi' } },
    // @ts-expect-error: either an id or a link
    { to, type: 'image', image: {} },
    // @ts-expect-error: not both
    { to, type: 'image', image: { id: '3', link: 'https://shop.example/fern.png' } },
    {
      to,
      type: 'template',
      // @ts-expect-error: a picture in a header is a file
      template: { ...template, components: [{ type: 'header', parameters: [{ type: 'image' }] }] },
    },
    // @ts-expect-error: not offered by the server
    { to, text: { body: 'Hi' }, ttl_seconds: 60 },
  ]
  assert.deepEqual(right.map(read), ['Hi', '2', 'Plants', '0'])
  assert.deepEqual([wrong.length, typeof send], [7, 'function'])
})

test('shapes of several operations have one name', () => {
  holds<Equal<TemplatesListItem, Template>>()
  holds<Equal<TemplatesRetrieveResponse, Template>>()
  holds<Equal<NonNullable<MessagesValue['statuses']>[number], MessageStatus>>()
  holds<Equal<NonNullable<MessageStatus['errors']>[number], EventError>>()
  holds<Equal<NonNullable<Extract<InboundMessage, { type: 'unsupported' }>['errors']>[number], EventError>>()
  holds<Equal<NonNullable<GatewayMessage['errors']>[number], EventError>>()
  holds<Equal<NonNullable<Template['components']>[number], TemplateComponent>>()
  holds<Equal<SandboxFaultsReplaceParams['rules'][number], FaultRule>>()
  holds<Equal<NonNullable<Template['category']>, TemplateCategory>>()
  holds<Equal<TemplatesCreateParams['category'], TemplateCategory>>()
  holds<Equal<keyof WebhookValues, WebhookField>>()
})

test('methods know what they take and what they give', () => {
  const client = new Switchboard()
  const check = () => {
    holds<Equal<ReturnType<typeof client.phoneNumbers.list>, ListCall<PhoneNumbersListItem>>>()
    const sent = client.messages.send('1', { to: '2', type: 'text', text: { body: 'Hi' } })
    holds<Equal<Awaited<typeof sent>['messages'][number]['id'], string>>()
    const marked = client.messages.markAsRead('1', 'wamid.1', { typing_indicator: { type: 'text' } })
    holds<Equal<Awaited<typeof marked>['success'], boolean>>()
    // @ts-expect-error: what is marked is no message to send
    client.messages.send('1', { status: 'read', message_id: 'wamid.1' })
    client.calls.accept('1', { call_id: 'wacid.1' })
    client.calls.reject('1', { to: '2' })
    // @ts-expect-error: which call?
    client.calls.terminate('1', {})
    // @ts-expect-error: only a call that is begun needs somebody to call
    client.calls.connect('1', { call_id: 'wacid.1' })
    // @ts-expect-error: only what fails has a code
    client.gateway.messages.markAsRead('wamid.1', { code: 131026 })
    holds<Equal<Awaited<ReturnType<typeof client.gateway.messages.press>>['message_id'], string>>()
    const listed = client.phoneNumbers.list('1', { limit: 5 })
    const page: Promise<Page<PhoneNumbersListItem>> = client.phoneNumbers.list('1')
    holds<Equal<Awaited<typeof listed>['data'][number]['id'], string>>()
    // @ts-expect-error: what was not asked for may not be there
    void (async () => (await client.phoneNumbers.list('1', { fields: ['status'] })).data[0]?.id.length)
    client.gateway.messages.write({ phone_number_id: '1', from: '2', type: 'image', image: { id: '3' } })
    // @ts-expect-error: a text has a body
    client.gateway.messages.write({ phone_number_id: '1', from: '2', type: 'text', text: { boddy: 'Hi' } })
    // @ts-expect-error: the id is missing
    client.phoneNumbers.list()
    // @ts-expect-error: the member of its kind is missing
    client.gateway.messages.write({ phone_number_id: '1', from: '2', type: 'text' })
    // @ts-expect-error: there is no such kind
    client.messages.send('1', { to: '2', type: 'telegram' })
    // @ts-expect-error: a text has a body
    client.messages.send('1', { to: '2', text: { boddy: 'Hi' } })
    client.templates.list('1', { status: 'APPROVED', category: ['UTILITY', 'MARKETING'] })
    // @ts-expect-error: there is no such status
    client.templates.list('1', { status: 'OK' })
    // @ts-expect-error: there is no such field
    client.accounts.retrieve('1', { fields: ['nome'] })
    return page
  }
  assert.equal(typeof check, 'function')
})

test('codes of errors and of events have names', () => {
  const isClosed = (error: APIError | EventError) => error.code === ErrorCode.ServiceWindowClosed
  assert.ok(isClosed({ code: 131047 }))
  holds<Equal<typeof ErrorCode.ServiceWindowClosed, 131047>>()
  holds<Equal<typeof ErrorSubcode.TemplateExists, 2388024>>()
  // @ts-expect-error: there is no such code
  assert.equal(ErrorCode.WindowShut, undefined)
})

test('files may be bytes of any kind', () => {
  const upload = (client: Switchboard, file: Buffer | Uint8Array | ReadableStream<Uint8Array> | Blob) =>
    client.media.upload('1', { file })
  const append = (client: Switchboard, bytes: Uint8Array) => client.uploads.append('1', bytes, { file_offset: 0 })
  assert.deepEqual([typeof upload, typeof append], ['function', 'function'])
})

test('the vocabulary is a type: members that it never has are none', () => {
  const own = new Switchboard()
  const named = new Switchboard({ vocabulary: 'whatsapp' })
  const given = new Switchboard<'whatsapp'>({ vocabulary: 'whatsapp', token: 't' })
  holds<Equal<typeof own, Switchboard<'msgapp'>>>()
  holds<Equal<typeof named, Switchboard<'whatsapp'>>>()
  holds<Equal<typeof named, typeof given>>()
  // @ts-expect-error: what is sent would be named otherwise than the types say
  assert.equal(new Switchboard<'whatsapp'>({ token: 't' }).vocabulary, 'msgapp')
  // @ts-expect-error: the same without any option
  assert.equal(new Switchboard<'whatsapp'>().vocabulary, 'msgapp')
  // @ts-expect-error: one vocabulary is not the other
  const wrong: Switchboard<'whatsapp'> = own
  const check = async () => {
    const ofOwn = await own.messages.send('1', { to: '2', text: { body: 'Hi' } })
    const ofOther = await named.messages.send('1', { recipient: 'US.1', text: { body: 'Hi' } })
    holds<Equal<typeof ofOwn.messaging_product, 'msgapp'>>()
    holds<Equal<typeof ofOther.messaging_product, 'whatsapp'>>()
    void ofOther.contacts[0]?.user_id
    // @ts-expect-error: the first vocabulary has no ids of users
    void ofOwn.contacts[0]?.user_id
    // @ts-expect-error: nor are they taken
    await own.messages.send('1', { recipient: 'US.1', text: { body: 'Hi' } })
    // @ts-expect-error: the name of the other product
    await own.groups.delete('1', { messaging_product: 'whatsapp' })
    await named.groups.delete('1', { messaging_product: 'whatsapp' })
    void (await named.accounts.retrieve('1', { fields: ['health_status'] })).health_status
    // @ts-expect-error: there is no such field
    await own.accounts.retrieve('1', { fields: ['health_status'] })
    // @ts-expect-error: nor such a member
    void (await own.accounts.retrieve('1')).health_status
    await named.templates.downloadCard('https://chat.example/template_files/1/0')
    // @ts-expect-error: templates of the first vocabulary have no cards
    await own.templates.downloadCard('https://chat.example/template_files/1/0')
    // @ts-expect-error: the activities of the second one have other members
    void (await named.activities.list('1')).data[0]?.operation
    // @ts-expect-error: the profile of the first one is in `business_profile`
    void (await own.businessProfiles.retrieve('1')).data[0]?.about
    void (await named.businessProfiles.retrieve('1')).data[0]?.about
  }
  assert.deepEqual([typeof check, typeof wrong], ['function', 'object'])
})

test('events and functions have the vocabulary of their client', () => {
  const own = new Switchboard()
  const other = new Switchboard({ vocabulary: 'whatsapp' })
  own.webhooks.handler({
    verifyToken: 'v',
    secret: 's',
    onEvent({ field, value }) {
      if (field !== 'messages') return
      // @ts-expect-error: the first vocabulary has no ids of users
      void value.messages?.[0]?.from_user_id
      // @ts-expect-error: nor links of files
      for (const message of value.messages ?? []) if (message.type === 'image') void message.image.url
    },
  })
  other.webhooks.handler({
    verifyToken: 'v',
    secret: 's',
    onEvent(event, post) {
      holds<Equal<typeof post.object, 'whatsapp_business_account'>>()
      if (event.field === 'calls') void event.value.calls?.[0]?.cta_payload
      if (event.field !== 'messages') return
      holds<Equal<typeof event.value.messaging_product, 'whatsapp' | undefined>>()
      void event.value.messages?.[0]?.from_user_id
      for (const message of event.value.messages ?? []) if (message.type === 'image') void message.image.url
    },
  })
  const check = async () => {
    const client = new Client({ vocabulary: 'whatsapp' })
    void (await messagesSend(client, '1', { to: '2', text: { body: 'Hi' } })).contacts[0]?.user_id
    // @ts-expect-error: a client of the first vocabulary
    void (await messagesSend(new Client(), '1', { to: '2', text: { body: 'Hi' } })).contacts[0]?.user_id
    await templatesDownloadCard(client, 'https://chat.example/template_files/1/0')
    // @ts-expect-error: its templates have no cards
    await templatesDownloadCard(new Client(), 'https://chat.example/template_files/1/0')
    // @ts-expect-error: a call of the first vocabulary has no payload
    const name = (call: CallEvent) => call.cta_payload
    return name
  }
  assert.equal(typeof check, 'function')
})

test('what only the second vocabulary sends has types there, and none in the first', () => {
  const image = { type: 'image', image: { id: '3' } } as const
  const link = { name: 'cta_url', parameters: { display_text: 'Look', url: 'https://shop.example' } } as const
  const body = { text: 'Our plants' }
  const forms: InteractiveContent<'whatsapp'>[] = [
    {
      type: 'carousel',
      body,
      action: {
        cards: [
          { card_index: 0, type: 'cta_url', header: image, action: link },
          {
            card_index: 1,
            type: 'cta_url',
            header: image,
            action: { buttons: [{ type: 'quick_reply', quick_reply: { id: 'fern', title: 'Fern' } }] },
          },
        ],
      },
    },
    {
      type: 'address_message',
      body,
      action: { name: 'address_message', parameters: { country: 'SG', values: { sg_post_code: '238823' } } },
    },
    { type: 'request_contact_info', body, action: { name: 'request_contact_info' } },
    { type: 'voice_call', body, action: { name: 'voice_call', parameters: { display_text: 'Call us' } } },
  ]
  const wrong: InteractiveContent<'whatsapp'>[] = [
    // @ts-expect-error: a card has a picture or a film above it
    { type: 'carousel', body, action: { cards: [{ card_index: 0, type: 'cta_url', action: link }] } },
    {
      type: 'address_message',
      body,
      // @ts-expect-error: a post code of Singapore is in no address of India
      action: { name: 'address_message', parameters: { country: 'IN', values: { sg_post_code: '238823' } } },
    },
  ]
  const ofFirst: InteractiveContent[] = [
    // @ts-expect-error: the first vocabulary has no such kind
    { type: 'voice_call', body, action: { name: 'voice_call' } },
  ]
  const cards: TemplateValues<'whatsapp'> = {
    type: 'carousel',
    cards: [{ card_index: 0, components: [{ type: 'header', parameters: [image] }] }],
  }
  // @ts-expect-error: templates of the first vocabulary have no cards
  const none: TemplateValues = cards
  assert.deepEqual([forms.length, wrong.length, ofFirst.length, typeof none], [4, 2, 1, 'object'])
})
