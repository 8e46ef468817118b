import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertArgument, assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { envelopeOf, handIn, messagesValue, metadata, textMessage } from '../../../../test/harness/webhooks.ts'
import { ids } from '../../../../test/harness/world.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import type { ErrorDefinition } from '../../../graph/graph-error.ts'
import { bodyHoldsTooMuch, bodyTooDeep } from '../../../http/errors.ts'

/** One message of each kind of the specification's table with everything in it, and the members that it may not lack. */
const file = { mime_type: 'image/png', sha256: 'c2hhMjU2', id: '900' }
const reply = { from: '16315551001', id: 'wamid.before' }
const replyMembers = ['context', 'context.from', 'context.id', 'interactive', 'interactive.type']
const fileMembers = (kind: string) => ['', '.mime_type', '.sha256', '.id'].map((member) => kind + member)

const kinds: readonly { type: string; extra: object; required: readonly string[] }[] = [
  {
    type: 'text',
    extra: {
      text: { body: 'Hi' },
      context: { ...reply, referred_product: { catalog_id: '1', product_retailer_id: 'shrub-1' } },
      referral: {
        source_url: 'https://ads.example/1',
        source_id: '1',
        source_type: 'ad',
        body: 'Shrubs',
        headline: 'Half price',
        media_type: 'image',
        image_url: 'https://ads.example/1.png',
        video_url: 'https://ads.example/1.mp4',
        thumbnail_url: 'https://ads.example/1.jpg',
        ctwa_clid: 'clid',
        welcome_message: { text: 'Welcome' },
      },
    },
    required: [
      'text',
      'text.body',
      'context.from',
      'context.id',
      'context.referred_product.catalog_id',
      'context.referred_product.product_retailer_id',
      'referral.source_url',
      'referral.source_id',
      'referral.source_type',
      'referral.body',
      'referral.headline',
      'referral.media_type',
      'referral.ctwa_clid',
      'referral.welcome_message.text',
    ],
  },
  {
    type: 'reaction',
    extra: { reaction: { message_id: 'wamid.before', emoji: '🌱' } },
    required: ['reaction', 'reaction.message_id'],
  },
  { type: 'audio', extra: { audio: { ...file, voice: true } }, required: [...fileMembers('audio'), 'audio.voice'] },
  {
    type: 'document',
    extra: { document: { ...file, filename: 'list.pdf' } },
    required: [...fileMembers('document'), 'document.filename'],
  },
  { type: 'image', extra: { image: { ...file, caption: 'A shrub' } }, required: fileMembers('image') },
  {
    type: 'sticker',
    extra: { sticker: { ...file, animated: false } },
    required: [...fileMembers('sticker'), 'sticker.animated'],
  },
  { type: 'video', extra: { video: { ...file, caption: 'A shrub' } }, required: fileMembers('video') },
  {
    type: 'location',
    extra: {
      location: {
        address: '1 Garden Lane',
        latitude: 38.9806263495,
        longitude: -131.5,
        name: 'Shop',
        url: 'https://x.example',
      },
    },
    required: ['location', 'location.address', 'location.latitude', 'location.longitude', 'location.name'],
  },
  {
    type: 'contacts',
    extra: {
      contacts: [
        {
          addresses: [{ city: 'A', country: 'B', country_code: 'US', state: 'C', street: 'D', type: 'HOME', zip: '1' }],
          birthday: '1990-02-28',
          emails: [{ email: 'ana@example.com', type: 'WORK' }],
          name: {
            formatted_name: 'Ana B.',
            first_name: 'Ana',
            last_name: 'B',
            middle_name: 'C',
            suffix: 'D',
            prefix: 'E',
          },
          org: { company: 'F', department: 'G', title: 'H' },
          phones: [{ phone: '+1 650-555-1234', wa_id: '16505551234', type: 'CELL' }],
          urls: [{ url: 'https://ana.example', type: 'WORK' }],
        },
        {},
      ],
    },
    required: ['contacts', 'contacts[0].name.formatted_name'],
  },
  { type: 'unsupported', extra: { context: reply, errors: [{ code: 131051 }] }, required: ['context'] },
  { type: 'unknown', extra: { context: {} }, required: ['context'] },
  {
    type: 'button',
    extra: { context: reply, button: { payload: 'yes', text: 'Yes' } },
    required: ['context', 'context.from', 'context.id', 'button', 'button.payload', 'button.text'],
  },
  {
    type: 'interactive',
    extra: {
      context: reply,
      interactive: { type: 'list_reply', list_reply: { id: 'a', title: 'B', description: 'C' } },
    },
    required: [
      ...replyMembers,
      'interactive.list_reply',
      'interactive.list_reply.id',
      'interactive.list_reply.title',
      'interactive.list_reply.description',
    ],
  },
  {
    type: 'interactive',
    extra: { context: reply, interactive: { type: 'button_reply', button_reply: { id: 'a', title: 'B' } } },
    required: [
      ...replyMembers,
      'interactive.button_reply',
      'interactive.button_reply.id',
      'interactive.button_reply.title',
    ],
  },
  {
    type: 'order',
    extra: {
      order: {
        catalog_id: '1',
        text: '',
        product_items: [{ product_retailer_id: 'shrub-1', quantity: 2, item_price: 9.5, currency: 'USD' }],
      },
    },
    required: [
      'order',
      'order.catalog_id',
      'order.text',
      'order.product_items',
      ...['product_retailer_id', 'quantity', 'item_price', 'currency'].map((name) => `order.product_items[0].${name}`),
    ],
  },
  {
    type: 'system',
    extra: { system: { body: 'Ana changed her number', type: 'user_changed_number', wa_id: '16505559999' } },
    required: ['system', 'system.body', 'system.type', 'system.wa_id'],
  },
]

/** Values of a type that no member has. */
const wrongTypes: Readonly<Record<string, unknown>> = { string: { an: 'object' }, number: 'text', boolean: 'true' }

type Place = readonly (string | number)[]

function readPlace(place: string): Place {
  return place.split(/[.[\]]+/).flatMap((part) => (part === '' ? [] : [/^\d+$/.test(part) ? Number(part) : part]))
}

/** A copy with one member changed, or without it. */
function alter<T extends object>(value: T, place: string, change?: unknown): T {
  const copy = structuredClone(value)
  const parts = readPlace(place)
  // biome-ignore lint/suspicious/noExplicitAny: it walks through whatever there is.
  const parent = parts.slice(0, -1).reduce<any>((at, part) => at[part], copy)
  const last = parts.at(-1) as string
  if (change === undefined) delete parent[last]
  else parent[last] = change
  return copy
}

function memberAt(value: object, place: string): unknown {
  // biome-ignore lint/suspicious/noExplicitAny: it walks through whatever there is.
  return readPlace(place).reduce<any>((at, part) => at[part], value)
}

/** Every member at every depth, by its place. */
function listPlaces(value: unknown, place = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => {
    const at = Array.isArray(value) ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`
    return [at, ...listPlaces(member, at)]
  })
}

describe('the receiver checks the whole envelope', () => {
  const server = useTestServer({ engine: 'sqlite' })
  let count = 0
  const messageOf = (type: string, extra: object) => {
    const { text: _text, ...common } = textMessage(`wamid.${count++}`)
    return { ...common, type, ...extra }
  }
  async function assertRefused(envelope: object, place: string, expected?: ErrorDefinition): Promise<void> {
    const answer = await handIn(server, envelope)
    const { message } = answer.body.error
    assert.ok(message.startsWith(`${place}: `), `${message} should name ${place}`)
    if (expected) assertError(answer, expected)
    else assertArgument(answer, place)
  }
  const change = (value: object, field?: string) => ({ ...(field !== undefined && { field }), value })

  test('the receiver checks the whole envelope: 200 for each of the fifteen kinds of message', async () => {
    assert.equal(new Set(kinds.map(({ type }) => type)).size, 15)
    for (const { type, extra } of kinds) {
      const answer = await handIn(server, envelopeOf([change(messagesValue(messageOf(type, extra)), 'messages')]))
      assert.equal(answer.status, 200, `${type}: ${answer.text}`)
    }
  })

  for (const { type, extra, required } of kinds) {
    test(`the receiver checks the whole envelope: 400 with the place for each member that a message of type ${type} may not lack: ${required.join(', ')}`, async () => {
      for (const member of required) {
        const value = messagesValue(textMessage(`wamid.${count++}`), alter(messageOf(type, extra), member))
        const envelope = envelopeOf([change(messagesValue(textMessage(`wamid.${count++}`))), change(value)])
        await assertRefused(envelope, `entry[0].changes[1].value.messages[1].${member}`, argumentMissing)
      }
    })

    test(`the receiver checks the whole envelope: 200 without any one of the members that a message of type ${type} may lack`, async () => {
      for (const member of listPlaces(extra)) {
        if (required.includes(member) || /\]$/.test(member)) continue
        const answer = await handIn(
          server,
          envelopeOf([change(messagesValue(alter(messageOf(type, extra), member)), 'messages')]),
        )
        assert.equal(answer.status, 200, `without ${member}: ${answer.text}`)
      }
    })

    test(`the receiver checks the whole envelope: 400 with the place for each member of a message of type ${type} that has another type`, async () => {
      for (const member of listPlaces(extra)) {
        if (member === 'errors[0].code') continue
        const found = memberAt(extra, member)
        const wrong = typeof found === 'object' ? 'text' : wrongTypes[typeof found]
        const value = messagesValue(alter(messageOf(type, extra), member, wrong))
        await assertRefused(envelopeOf([change(value)]), `entry[0].changes[0].value.messages[0].${member}`)
      }
    })
  }

  for (const member of ['from', 'id', 'timestamp', 'type']) {
    test(`the receiver checks the whole envelope: 400 for a message without ${member}`, async () => {
      const value = messagesValue(alter(textMessage(`wamid.${count++}`), member))
      await assertRefused(envelopeOf([change(value)]), `entry[0].changes[0].value.messages[0].${member}`)
    })
  }

  test('400 for a kind of message that there is not, naming those that there are', async () => {
    const value = messagesValue(messageOf('poll', {}))
    const place = 'entry[0].changes[0].value.messages[0].type'
    await assertRefused(envelopeOf([change(value)]), place, argumentWrong)
  })

  test('400 for a time that is not Unix seconds in a string', async () => {
    for (const timestamp of [1780315200, 'yesterday', '', '2026-06-01T12:00:00Z']) {
      const value = messagesValue({ ...textMessage(`wamid.${count++}`), timestamp })
      const place = 'entry[0].changes[0].value.messages[0].timestamp'
      await assertRefused(envelopeOf([change(value)]), place, argumentWrong)
    }
  })

  test('400 for a message id that cannot be remembered', async () => {
    for (const id of ['', 'x'.repeat(1001), 'a\u0000b', '\ud800']) {
      const value = messagesValue(textMessage(id))
      await assertRefused(envelopeOf([change(value)]), 'entry[0].changes[0].value.messages[0].id')
    }
  })

  const status = {
    id: 'wamid.sent',
    status: 'delivered',
    timestamp: '1780315200',
    recipient_id: '16505551234',
    conversation: { id: 'c' },
    pricing: { billable: true },
    errors: [{ code: 1 }],
  }
  const statuses = { messaging_product: 'msgapp', metadata, statuses: [status] }
  const group = { timestamp: '1780315200', group_id: ids.group, type: 'group_create', subject: 'Regulars' }
  const groups = { messaging_product: 'msgapp', metadata, groups: [group] }

  test('200 for statuses, for system messages without contacts, and for groups', async () => {
    const {
      contacts: _contacts,
      messaging_product: _product,
      ...system
    } = messagesValue(messageOf('system', kinds.at(-1)?.extra ?? {}))
    const states = ['sent', 'delivered', 'read', 'failed', 'played'].map((name) => ({ ...status, status: name }))
    for (const one of [
      change(statuses, 'messages'),
      change(statuses),
      change({ ...statuses, statuses: states }),
      change({ ...messagesValue(textMessage(`wamid.${count++}`)), statuses: [status] }),
      change(system, 'messages'),
      ...['lifecycle', 'participants', 'settings', 'status'].map((name) => change(groups, `group_${name}_update`)),
      change({ event: 'ACCOUNT_UPDATE' }, 'account_update'),
      change({ metadata, calls: [{ id: 'wacid.1' }] }, 'calls'),
    ]) {
      const answer = await handIn(server, envelopeOf([one]))
      assert.equal(answer.status, 200, `${JSON.stringify(one)}: ${answer.text}`)
    }
  })

  const place = 'entry[0].changes[0].value'
  for (const [name, value, field, at] of [
    ...['id', 'status', 'timestamp', 'recipient_id'].map(
      (member) =>
        [
          `a status without ${member}`,
          alter(statuses, `statuses[0].${member}`),
          'messages',
          `${place}.statuses[0].${member}`,
        ] as const,
    ),
    [
      'a status that there is not',
      alter(statuses, 'statuses[0].status', 'lost'),
      'messages',
      `${place}.statuses[0].status`,
    ],
    ['no status at all', { ...statuses, statuses: [] }, 'messages', `${place}.statuses`],
    ['statuses without metadata', alter(statuses, 'metadata'), 'messages', `${place}.metadata`],
    ...['timestamp', 'type'].map(
      (member) =>
        [
          `a group without ${member}`,
          alter(groups, `groups[0].${member}`),
          'group_lifecycle_update',
          `${place}.groups[0].${member}`,
        ] as const,
    ),
    ['a group event without groups', alter(groups, 'groups'), 'group_lifecycle_update', `${place}.groups`],
    ['messages as a group event', messagesValue(textMessage('x')), 'group_status_update', `${place}.groups`],
    ['a value with nothing in it', { messaging_product: 'msgapp', metadata }, 'messages', place],
    ['no message at all', messagesValue(), 'messages', `${place}.messages`],
    ['a message that is no object', messagesValue(5 as unknown as object), 'messages', `${place}.messages[0]`],
    ['messages that are no array', { ...messagesValue(), messages: {} }, 'messages', `${place}.messages`],
    ['messages without contacts', alter(messagesValue(textMessage('x')), 'contacts'), 'messages', `${place}.contacts`],
    [
      'a contact without profile',
      alter(messagesValue(textMessage('x')), 'contacts[0].profile'),
      'messages',
      `${place}.contacts[0].profile`,
    ],
    [
      'a contact without name',
      alter(messagesValue(textMessage('x')), 'contacts[0].profile.name'),
      'messages',
      `${place}.contacts[0].profile.name`,
    ],
    [
      'no product',
      alter(messagesValue(textMessage('x')), 'messaging_product'),
      'messages',
      `${place}.messaging_product`,
    ],
    [
      'another product',
      alter(messagesValue(textMessage('x')), 'messaging_product', 'whatsapp'),
      'messages',
      `${place}.messaging_product`,
    ],
    ['no metadata', alter(messagesValue(textMessage('x')), 'metadata'), 'messages', `${place}.metadata`],
    [
      'no number',
      alter(messagesValue(textMessage('x')), 'metadata.phone_number_id'),
      'messages',
      `${place}.metadata.phone_number_id`,
    ],
    [
      'no digits',
      alter(messagesValue(textMessage('x')), 'metadata.display_phone_number'),
      'messages',
      `${place}.metadata.display_phone_number`,
    ],
    ['metadata of another type where it is not needed', { metadata: 'text' }, 'account_update', `${place}.metadata`],
  ] as const) {
    test(`the receiver checks the whole envelope: 400 for ${name}`, async () => {
      await assertRefused(envelopeOf([change(value, field)]), at)
    })
  }

  const good = envelopeOf([change(messagesValue(textMessage('x')), 'messages')])
  for (const [name, envelope, at] of [
    ['no object', alter(good, 'object'), 'object'],
    ['the object of another product', alter(good, 'object', 'whatsapp_business_account'), 'object'],
    ['no entry', alter(good, 'entry'), 'entry'],
    ['an empty entry', alter(good, 'entry', []), 'entry'],
    ['more than a thousand entries', alter(good, 'entry', Array(1001).fill(good.entry[0])), 'entry'],
    ['an entry without id', alter(good, 'entry[0].id'), 'entry[0].id'],
    ['an id that is a number', alter(good, 'entry[0].id', 1000000000000001), 'entry[0].id'],
    ['an entry without changes', alter(good, 'entry[0].changes'), 'entry[0].changes'],
    ['an entry with no change', alter(good, 'entry[0].changes', []), 'entry[0].changes'],
    ['a change without value', alter(good, 'entry[0].changes[0].value'), 'entry[0].changes[0].value'],
    ['a value that is text', alter(good, 'entry[0].changes[0].value', 'x'), 'entry[0].changes[0].value'],
    ['a field that there is not', alter(good, 'entry[0].changes[0].field', 'mesages'), 'entry[0].changes[0].field'],
  ] as const) {
    test(`the receiver checks the whole envelope: 400 for ${name}`, async () => {
      await assertRefused(envelope, at)
    })
  }

  const handInWith = (id: string, extra: string) => {
    const raw = JSON.stringify(envelopeOf([change({ ...messagesValue(textMessage(id)), extra: 'EXTRA' })]))
    const headers = { 'content-type': 'application/json' }
    return handIn(server, {}, { json: undefined, raw: raw.replace('"EXTRA"', extra), headers })
  }

  for (const [inner, name] of [
    ['1', 'a number'],
    ['1e5', 'a number that is passed on as it is written'],
  ] as const) {
    test(`200 for 64 levels around ${name}, 400 for more`, async () => {
      // The envelope itself has six.
      const nest = (levels: number) => '['.repeat(levels - 6) + inner + ']'.repeat(levels - 6)
      assert.equal((await handInWith(`deep.${inner}`, nest(64))).status, 200)
      for (const levels of [65, 8000, 200_000]) {
        assertError(await handInWith(`deeper.${inner}`, nest(levels)), bodyTooDeep({ levels: 64 }))
      }
    })
  }

  test('the receiver checks the whole envelope: 200 for a thousand entries with a whole status each', async () => {
    const statuses = [
      {
        id: 'sent.1',
        status: 'delivered',
        timestamp: '1780315200',
        recipient_id: '16505551234',
        conversation: { id: 'c', expiration_timestamp: '1780315200', origin: { type: 'service' } },
        pricing: { billable: true, pricing_model: 'PMP', category: 'service' },
      },
    ]
    const one = envelopeOf([change({ messaging_product: 'msgapp', metadata, statuses })])
    const answer = await handIn(server, { ...one, entry: Array(1000).fill(one.entry[0]) })
    assert.equal(answer.status, 200, answer.text)
  })

  test('200 for 30,000 values, 400 for more', async () => {
    assert.equal((await handInWith('many', `[0${',0'.repeat(29_900)}]`)).status, 200)
    assertError(await handInWith('more', `[0${',0'.repeat(30_000)}]`), bodyHoldsTooMuch({ values: 30_000 }))
  })

  test('400 for a list of more than a thousand messages', async () => {
    const messages = Array.from({ length: 1001 }, (_, index) => textMessage(`many.${index}`))
    await assertRefused(envelopeOf([change(messagesValue(...messages))]), 'entry[0].changes[0].value.messages')
  })
})
