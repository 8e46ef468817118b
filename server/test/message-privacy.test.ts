import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase } from './harness/databases.ts'
import { startSubscriber } from './harness/subscriber.ts'
import { until } from './harness/until.ts'

const number = '4000000000000001'
const [user, other, stranger] = ['16505558123', '16505558124', '16505558125']
const name = 'Wilhelmina Underhill'
const text = 'the cobalt marmalade is hidden'
const opaque = 'opaque-turquoise-badger'
const hidden = [user, other, stranger, name, text, opaque]

function findIn(written: string): string[] {
  return hidden.filter((one) => written.includes(one))
}

onOneDatabase('the privacy of messages', 'sqlite', (engine) => {
  test('no content, no number of a user and no biz_opaque_callback_data is in logs, metrics or errors', async (t) => {
    const place = await makeMigratedPlace(engine)
    const { dataDir, databaseUrl } = place
    const env = {
      DATA_DIR: dataDir,
      LOG_LEVEL: 'trace',
      LOG_FORMAT: 'json',
      WEBHOOK_RETRY_DELAYS: '100ms',
      MESSAGE_BODY_KEEP: '0',
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    }
    const options = { env, cwd: dataDir }
    const server = await startCommand(['serve', '--port', '0'], options)
    t.after(async () => {
      await server.stop('SIGKILL')
      await place.remove()
    })
    const errors: string[] = []
    async function call(token: string, method: string, path: string, body?: unknown): Promise<Response> {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      if (response.status >= 400) errors.push(await response.clone().text())
      return response
    }
    const send = (body: object) =>
      call('demo-token', 'POST', `/v23.0/${number}/messages`, {
        messaging_product: 'msgapp',
        to: user,
        text: { body: text },
        biz_opaque_callback_data: opaque,
        ...body,
      })
    const gateway = (method: string, path: string, body?: object) =>
      call('demo-gateway-token', method, `/gateway/${path}`, body)
    const write = (body: object = {}) =>
      gateway('POST', 'messages', {
        phone_number_id: number,
        from: user,
        name,
        type: 'text',
        text: { body: text },
        ...body,
      })

    // A subscriber that refuses what it is sent, and says it back.
    const subscriber = await startSubscriber(t)
    await call('demo-token', 'POST', '/v23.0/3000000000000001/subscriptions', {
      object: 'msgapp_business_account',
      callback_url: subscriber.url,
      verify_token: 'vt',
      fields: ['messages', 'user_preferences'],
    })
    subscriber.answerWith((post, response) => void response.writeHead(500).end(post.body))
    assert.equal((await write()).status, 200)
    const sent = await send({})
    assert.equal(sent.status, 200)
    const { messages } = (await sent.json()) as { messages: { id: string }[] }
    const id = messages[0]?.id ?? ''

    const refused: Response[] = [
      // What sending refuses, with the strings in every place.
      await send({ to: `${text} ${user}` }),
      await send({ type: text }),
      await send({ type: 'image', image: { id: user } }),
      await send({ type: 'image', image: { id: user, link: `https://example.com/${text}` } }),
      await send({ type: 'image', image: { link: `ftp://${user}/${opaque}` } }),
      await send({ text: { body: text.repeat(200) } }),
      await send({ text: { body: [text] } }),
      await send({ biz_opaque_callback_data: opaque.repeat(30) }),
      await send({ type: 'reaction', reaction: { message_id: id, emoji: text } }),
      await send({ type: 'location', location: { latitude: text, longitude: user } }),
      await send({ type: 'contacts', contacts: [{ name: { formatted_name: text }, birthday: opaque }] }),
      await send({ type: 'interactive', interactive: { type: text, body: { text }, action: {} } }),
      await send({
        type: 'interactive',
        interactive: {
          type: 'button',
          body: { text },
          action: { buttons: [{ type: 'reply', reply: { id: ` ${opaque}`, title: text } }] },
        },
      }),
      await send({ recipient_type: 'group', to: user }),
      await send({ status: text, message_id: user }),
      await send({ status: 'read', message_id: `${text}${user}` }),
      await call('demo-token', 'POST', `/v23.0/${number}/messages`, `{"to": "${user}", "text": {"body": "${text}`),
      // And the gateway.
      await write({ from: `${user}x` }),
      await write({ text: { body: 7, [text]: user } }),
      await write({ type: text }),
      await write({ type: 'image', image: { id: user } }),
      await write({ timestamp: text }),
      await write({ phone_number_id: user }),
      await gateway('GET', `messages/${encodeURIComponent(text)}`),
      await gateway('POST', `messages/${id}`, { action: text }),
      await gateway('POST', `messages/${id}`, { action: 'press', choice: text }),
      await gateway('GET', `users/${user}x`),
      await gateway('GET', `users/${user}/messages`),
      await gateway('POST', `users/${user}`, { presence: text }),
      await gateway('GET', `stream?user_wa_id=${user}x`),
      await gateway('GET', `${user}/${encodeURIComponent(text)}`),
      await call('demo-token', 'GET', `/v23.0/${encodeURIComponent(text)}`),
    ]
    assert.deepEqual(
      refused.map(({ status }) => status).filter((status) => status < 400 || status >= 500),
      [],
      'all are refused',
    )
    // What fails later: no window, and a user who is not reachable.
    await send({ to: stranger })
    await gateway('POST', `users/${other}`, { reachable: false, name })
    await send({ to: other })
    const blocks = await call('demo-token', 'POST', `/v23.0/${number}/block_users`, {
      messaging_product: 'msgapp',
      block_users: [{ user }, { user: stranger }],
    })
    assert.equal(blocks.status, 200)
    await send({})
    await gateway('POST', `users/${user}/chats/${number}`, { marketing: 'stop', blocked: true })
    assert.equal((await gateway('GET', `users/${user}/chats`)).status, 200)
    await until(() => subscriber.posts.length >= 3, 'some deliveries are refused')
    subscriber.answerWith((_post, response) => void response.destroy())
    const posts = subscriber.posts.length
    await until(() => subscriber.posts.length > posts, 'a connection is cut')
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    assert.match(metrics, /gateway\.write_message|messages\.send/)
    const forgotten = await runCommand(['forget', user], options)
    assert.equal(forgotten.code, 0, forgotten.stderr)
    const { stdout, stderr } = await server.stop('SIGTERM')

    assert.ok(errors.length > 30)
    assert.deepEqual(
      errors.filter((one) => findIn(one).length > 0),
      [],
      'errors',
    )
    assert.match(stderr, /messages\.send/, 'there is a log')
    assert.deepEqual(
      stderr.split('\n').filter((line) => findIn(line).length > 0),
      [],
      'the log',
    )
    assert.deepEqual(findIn(stdout + metrics + forgotten.stdout + forgotten.stderr), [])
  })
})
