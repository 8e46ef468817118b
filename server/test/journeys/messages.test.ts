import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { second } from '../../src/base/time/duration.ts'
import { onBothDatabases } from '../harness/databases.ts'
import { png } from '../harness/media-files.ts'
import { messageSides } from '../harness/messages.ts'
import { startTestServer } from '../harness/server.ts'
import { listenForTest } from '../harness/sink.ts'
import { changeIn, subscribe } from '../harness/subscriber.ts'
import { bodyWith, buttons, templateCalls } from '../harness/template-calls.ts'
import { ids, numbers, tokens } from '../harness/world.ts'

const user = '16505553141'

onBothDatabases('the story of a business that writes first', (engine) => {
  test('the story of a business that writes first: from a new number and a rejected template to a user who answers, chooses, sees a picture, and has enough', async (t) => {
    const server = await startTestServer({ engine, env: { TEMPLATE_REVIEW: 'manual' } })
    t.after(() => server.stop())
    const app = await subscribe(t, server, { fields: ['messages', 'message_template_status_update'] })
    const token = tokens.owner
    let heard = 0
    /** What the app was told since it was asked last, in order. */
    const listen = async () => {
      await server.app.settle()
      const news = app.posts.slice(heard).map(changeIn)
      heard = app.posts.length
      return news.map(({ value }) => {
        const [status] = value.statuses ?? []
        const [message] = value.messages ?? []
        if (status) return status.errors ? `${status.status} ${status.errors[0].code}` : status.status
        return message ? message.type : `template ${value.event}`
      })
    }
    const post = async (path: string, json: object) => {
      const answer = await server.client.post(`/v23.0/${path}`, { token, json })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
      return answer.body
    }

    // A number is signed up: created, verified by the code that the carrier got, and registered.
    const created = await post(`${ids.account}/phone_numbers`, {
      ...{ cc: '1', phone_number: '6315551099', verified_name: 'Lucky Shrub News' },
      ...{ country_code: '1', migrate_phone_number: false },
    })
    const number: string = created.id
    server.clock.advance(second)
    await post(`${number}/request_code`, { code_method: 'SMS', language: 'en_US' })
    const outbox = await server.client.get('/gateway/outbox', {
      token: tokens.gateway,
      query: { to: '16315551099' },
    })
    await post(`${number}/verify_code`, { code: outbox.body.data[0].code })
    await post(`${number}/register`, { messaging_product: 'msgapp', pin: '123456' })

    // Its template is rejected, edited, and approved.
    const templates = templateCalls(server)
    const components = (text: string) => [
      bodyWith(text, 'Ada'),
      buttons({ type: 'QUICK_REPLY', text: 'Tell me more' }, { type: 'QUICK_REPLY', text: 'Not now' }),
    ]
    const template = await templates.make({
      ...{ name: 'tulips', category: 'MARKETING' },
      components: components('Dear {{1}}, buy now or lose everything you have!'),
    })
    const sides = messageSides(server, number)
    const filled = { name: 'tulips', language: { code: 'en_US' } }
    const message = {
      type: 'template',
      template: { ...filled, components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }] },
    }
    assert.equal((await sides.post({ to: user, ...message })).body.error.code, 132001)
    await templates.review(template, { status: 'REJECTED', reason: 'ABUSIVE_CONTENT' })
    assert.equal((await templates.read(template)).body.rejected_reason, 'ABUSIVE_CONTENT')
    await templates.edit(template, { components: components('Dear {{1}}, our tulips are in bloom this week.') })
    await templates.review(template, { status: 'APPROVED' })
    assert.deepEqual(await listen(), ['template REJECTED', 'template PENDING', 'template APPROVED'])

    // The user has never written: a text fails, the template arrives.
    await sides.send(user)
    assert.deepEqual(await listen(), ['failed 131047'])
    const first = await sides.send(user, message)
    assert.deepEqual(await listen(), ['sent', 'delivered'])
    assert.equal((await sides.show(first)).rendered.body, 'Dear Ada, our tulips are in bloom this week.')

    // The user presses a button, and by that opens the window.
    await sides.act(first, 'press', { choice: 0 })
    assert.deepEqual((await listen()).toSorted(), ['button', 'read'])

    // A list, and the choice from it.
    const rows = [
      { id: 'red', title: 'Red tulips' },
      { id: 'blue', title: 'Blue tulips', description: 'Rare' },
    ]
    const list = await sides.send(user, {
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'Which ones?' },
        action: { button: 'Choose', sections: [{ rows }] },
      },
    })
    await sides.act(list, 'press', { choice: 'blue' })
    assert.deepEqual((await listen()).toSorted(), ['delivered', 'interactive', 'read', 'sent'])
    const chosen = (await sides.readDelivered(user)).at(-1)
    assert.deepEqual(chosen.interactive, {
      type: 'list_reply',
      list_reply: { id: 'blue', title: 'Blue tulips', description: 'Rare' },
    })
    assert.equal(chosen.context.id, list)

    // A picture that is somewhere in the web, which the phone loads.
    const { port } = await listenForTest(
      t,
      createServer((_request, response) => response.end(png)),
    )
    const picture = await sides.send(user, { type: 'image', image: { link: `http://127.0.0.1:${port}/blue.png` } })
    assert.deepEqual(await listen(), ['sent', 'delivered'])
    const { url } = (await sides.show(picture)).image
    const loaded = await fetch(url, { headers: { authorization: `Bearer ${tokens.gateway}` } })
    assert.deepEqual(Buffer.from(await loaded.arrayBuffer()), png)

    // The user has enough: the business is not told.
    await sides.gateway(`users/${user}/chats/${number}`, { blocked: true })
    const last = await sides.send(user, { text: { body: 'One more thing' } })
    assert.deepEqual(await listen(), ['sent'])
    assert.equal((await sides.show(last)).state, 'sent')
    assert.notEqual(number, numbers.main)
  })
})
