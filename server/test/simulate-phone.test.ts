import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, type StorePlace } from './harness/databases.ts'

const number = '4000000000000001'
const user = '16505559100'

onOneDatabase('simulate status and press', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  let server: RunningServer
  before(async () => {
    place = await makeMigratedPlace(engine)
    const { dataDir, databaseUrl } = place
    const env = { DATA_DIR: dataDir, USERS_PRESENCE: 'offline', ...(databaseUrl && { DATABASE_URL: databaseUrl }) }
    options = { env, cwd: dataDir }
    server = await startCommand(['serve', '--port', '0'], options)
    await simulate('message', '--to', number, '--from', user, '--text', 'Hello')
  })
  after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  const run = (...args: string[]) => runCommand(['simulate', ...args, '--url', server.url], options)
  async function simulate(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  }

  async function send(body: object): Promise<string> {
    const response = await fetch(`${server.url}/v23.0/${number}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'msgapp', to: user, ...body }),
    })
    assert.equal(response.status, 200, await response.clone().text())
    return ((await response.json()) as { messages: { id: string }[] }).messages[0]?.id ?? ''
  }

  async function show(id: string) {
    const headers = { authorization: 'Bearer demo-gateway-token' }
    const response = await fetch(`${server.url}/gateway/messages/${id}`, { headers })
    return JSON.parse(await response.text())
  }

  test('a user writes in the name that is known, and a wrong token is told from where it is taken', async () => {
    const headers = { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' }
    const path = `${server.url}/gateway/users/${user}`
    const read = async () => ((await (await fetch(path, { headers })).json()) as { name?: string }).name
    assert.equal((await fetch(path, { method: 'POST', headers, body: '{"name":"Grace"}' })).status, 200)
    await simulate('message', '--to', number, '--from', user, '--text', 'It is me')
    assert.equal(await read(), 'Grace')
    await simulate('message', '--to', number, '--from', user, '--text', 'Another name', '--name', 'Ms. Hopper')
    assert.equal(await read(), 'Ms. Hopper')
    const refused = await run('message', '--to', number, '--from', user, '--token', 'none')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /answered 401: .*--token or SWITCHBOARD_GATEWAY_TOKEN;.*--scope gateway/)
  })

  test('a phone reports what became of messages', async () => {
    const id = await send({ text: { body: 'Hello' } })
    assert.equal((await show(id)).state, 'sent')
    for (const [action, state] of [
      ['deliver', 'delivered'],
      ['read', 'read'],
    ] as const) {
      assert.match(await simulate('status', id, action), /← 200 \{"success":true\}/)
      assert.equal((await show(id)).state, state)
    }
    const other = await send({ text: { body: 'Hello' } })
    await simulate('status', other, 'fail', '--code', '131047')
    const failed = await show(other)
    assert.deepEqual([failed.state, failed.errors[0].code], ['failed', 131047])
  })

  test('a user presses a button, which is handed in as an answer', async () => {
    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
    const interactive = { type: 'button', body: { text: 'Agreed?' }, action: { buttons } }
    const id = await send({ type: 'interactive', interactive })
    const answer = /"message_id":"(wamid\.[^"]+)"/.exec(await simulate('press', id, 'yes'))?.[1] ?? ''
    const shown = await show(answer)
    assert.deepEqual([shown.context, shown.interactive.button_reply], [{ id }, { id: 'yes', title: 'Yes' }])
    assert.equal((await show(id)).state, 'read')
    const refused = await run('press', id, 'no')
    assert.equal(refused.code, 1)
    assert.match(refused.stdout + refused.stderr, /offers no such choice/)
  })

  test('a location is answered with data', async () => {
    const interactive = {
      type: 'location_request_message',
      body: { text: 'Where are you?' },
      action: { name: 'send_location' },
    }
    const id = await send({ type: 'interactive', interactive })
    const pressed = await simulate('press', id, '--data', '{"latitude": 40.7, "longitude": -74}')
    const shown = await show(/"message_id":"(wamid\.[^"]+)"/.exec(pressed)?.[1] ?? '')
    assert.deepEqual([shown.location.latitude, shown.location.longitude], [40.7, -74])
  })

  test('mistakes are named in one line', async () => {
    for (const [args, pattern] of [
      [['status', 'wamid.x', 'fail', '--code', 'x'], /--code x is not a number/],
      [['press', 'wamid.x', '--data', '{'], /--data is not JSON/],
    ] as const) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, pattern)
    }
  })
})
