import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { envelopeOf, handIn, messagesValue, metadata, textMessage, userOf } from '../../../../test/harness/webhooks.ts'
import { numbers } from '../../../../test/harness/world.ts'
import { writerIsNumber } from '../../messages/errors.ts'

/** Messages to a number that a process knows are stored without reading the store first; an unusual one must not be lost. */
onBothDatabases('messages to a number that is known', (engine) => {
  const server = useTestServer({ engine })
  const writing = (message: { readonly from: string }, name: string) => ({
    field: 'messages',
    value: { ...messagesValue(message), contacts: [{ profile: { name }, wa_id: message.from }] },
  })
  const hand = (...changes: object[]) => handIn(server, envelopeOf(changes))
  const query = () => server.database.read.query
  const listRaised = async () => {
    const events = await query().selectFrom('events').select('value').orderBy('id').execute()
    return events.map(({ value }) => JSON.parse(value))
  }
  const idsOf = (values: readonly { messages: readonly { id: string }[] }[]) =>
    values.flatMap(({ messages }) => messages.map(({ id }) => id))
  const everythingOf = async (id: string) => {
    const message = await query().selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const content = await query().selectFrom('message_contents').selectAll().where('message_id', '=', id).execute()
    const chat = await query().selectFrom('chats').selectAll().where('id', '=', message.chat_id).execute()
    const wa_id = message.user_wa_id ?? ''
    const user = await query().selectFrom('users').selectAll().where('wa_id', '=', wa_id).execute()
    const received = await query().selectFrom('received_messages').selectAll().where('message_id', '=', id).execute()
    const events = (await listRaised()).filter(({ messages }) => messages.some((one: { id: string }) => one.id === id))
    const text = JSON.stringify({ message: { ...message, position: 0 }, content, chat, user, received, events })
    return JSON.parse(text.replaceAll(id, 'ID').replaceAll(wa_id, 'USER'))
  }
  test('messages to a number that is known are stored as those before, with everything that belongs to them', async () => {
    // The first makes the number known.
    assert.equal((await hand(writing(textMessage('first', 'Hello', userOf(1)), 'Ana'))).status, 200)
    assert.equal((await hand(writing(textMessage('second', 'Hello', userOf(2)), 'Ana'))).status, 200)
    assert.deepEqual(await everythingOf('second'), await everythingOf('first'))
  })

  test('messages to a number that is known are raised once, however often they come, alone and beside others', async () => {
    const before = idsOf(await listRaised()).length
    const texts = ['a', 'b', 'a', 'c'].map((id) => writing(textMessage(`again ${id}`, 'Hello', userOf(3)), 'Ana'))
    const posts = texts.map((text) => hand(text))
    assert.ok((await Promise.all(posts)).every(({ status }) => status === 200))
    assert.equal((await hand(...texts)).status, 200)
    const raised = idsOf(await listRaised()).slice(before)
    assert.deepEqual(raised.toSorted(), ['again a', 'again b', 'again c'])
  })

  test('messages to a number that is known of blocked users are stored, and nobody hears of them', async () => {
    const user = userOf(4)
    await server.database.transaction(({ query: write }) =>
      write
        .insertInto('blocked_users')
        .values({ phone_number_id: numbers.main, user_wa_id: user, created_time: 1 })
        .execute(),
    )
    assert.equal((await hand(writing(textMessage('blocked', 'Hello', user), 'Ana'))).status, 200)
    const { message, events, chat } = await everythingOf('blocked')
    assert.equal(message.id, 'ID')
    assert.deepEqual(events, [])
    assert.equal(chat[0].window_time, null)
  })

  test('messages to a number that is known of a number of this platform are refused, with nothing stored', async () => {
    const answer = await hand(writing(textMessage('of a number', 'Hello', '16315551003'), 'Ana'))
    assertError(answer, writerIsNumber())
    assert.deepEqual(await query().selectFrom('messages').where('id', '=', 'of a number').select('id').execute(), [])
  })

  test('messages to a number that is known note the latest name of each user, and the last message of each chat', async () => {
    const user = userOf(5)
    const message = (id: string) => textMessage(id, 'Hello', user)
    assert.equal((await hand(writing(message('n1'), 'Ana'), writing(message('n2'), 'Bea'))).status, 200)
    assert.equal((await hand(writing(message('n3'), `+${user}`))).status, 200)
    const { user: users, chat } = await everythingOf('n3')
    assert.deepEqual([users[0].name, chat[0].last_message_id], ['Bea', 'ID'])
  })

  test('messages to a number that is known show the present digits of the number, not those from before', async () => {
    const change = (phone_number: string) =>
      server.database.transaction(({ query: write }) =>
        write.updateTable('phone_numbers').set({ phone_number }).where('id', '=', numbers.main).execute(),
      )
    await change('16315559999')
    assert.equal((await hand(writing(textMessage('moved', 'Hello', userOf(6)), 'Ana'))).status, 200)
    assert.equal((await everythingOf('moved')).events[0].metadata.display_phone_number, '16315559999')
    await change('16315551001')
    assert.equal((await hand(writing(textMessage('back', 'Hello', userOf(6)), 'Ana'))).status, 200)
    assert.equal((await everythingOf('back')).events[0].metadata.display_phone_number, '16315551001')
    assert.notEqual(metadata.display_phone_number, '16315551001', 'what was handed in does not count')
  })
})
