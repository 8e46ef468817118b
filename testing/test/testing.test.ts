import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, rmdir, symlink, utimes } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  AuthenticationError,
  BadRequestError,
  ErrorCode,
  ErrorSubcode,
  NotFoundError,
  RateLimitError,
  type Switchboard,
} from '@switchboard/client'
import { createSwitchboard, NothingCame, SomethingCame, StillBusy, type World } from '@switchboard/testing'
import { useSwitchboard } from '@switchboard/testing/node'
import { testLong } from '../../server/test/harness/form.ts'
import { useOneServer } from '../src/runners/use-switchboard.ts'

const user = '16505551234'

describe('a server for tests', () => {
  const sb = useSwitchboard()

  /** Opens the window, so that anything may be sent. */
  async function beginChat() {
    const phone = sb.user(user)
    await phone.write(sb.number, 'Hello?')
    await sb.waitForEvent({ field: 'messages', kind: 'text' })
    return phone
  }

  test('a server for tests shows on the phone what was sent, and takes the reply', async () => {
    const phone = await beginChat()
    await sb.client.messages.send(sb.number, { to: user, type: 'text', text: { body: 'Hi Ada' } })
    const message = await phone.waitForMessage({ text: /Hi/ })
    assert.equal(message.type, 'text')
    await phone.reply('Good morning')
    const event = await sb.waitForEvent({ field: 'messages', kind: 'text' })
    const [reply] = event.value.messages
    assert.deepEqual([reply.from, reply.text.body, reply.context?.id], [user, 'Good morning', message.id])
  })

  test('a server for tests presses buttons by their titles', async () => {
    const phone = await beginChat()
    const buttons = ['Yes', 'No'].map((title) => ({ type: 'reply' as const, reply: { id: `id-${title}`, title } }))
    const interactive = { type: 'button' as const, body: { text: 'Shall we?' }, action: { buttons } }
    await sb.client.messages.send(sb.number, { to: user, type: 'interactive', interactive })
    const shown = await phone.waitForMessage({ text: 'Shall we?', type: 'interactive' })
    assert.equal(shown.interactive.action?.buttons?.[0]?.reply.title, 'Yes')
    await phone.press('Yes')
    const event = await sb.waitForEvent({ field: 'messages', kind: 'interactive' })
    const [pressed] = event.value.messages
    assert.ok(pressed.interactive.type === 'button_reply')
    assert.equal(pressed.interactive.button_reply.id, 'id-Yes')
  })

  test('a server for tests presses a button of an earlier message, and says what there is to press', async () => {
    const phone = await beginChat()
    const buttons = [{ type: 'reply' as const, reply: { id: 'yes', title: 'Yes' } }]
    const interactive = { type: 'button' as const, body: { text: 'Shall we?' }, action: { buttons } }
    await sb.client.messages.send(sb.number, { to: user, type: 'interactive', interactive })
    await sb.client.messages.send(sb.number, { to: user, type: 'text', text: { body: 'Take your time' } })
    await phone.waitForMessage({ text: 'Take your time' })
    for (const choice of ['Yes', 'yes']) {
      await phone.press(choice)
      const { value } = await sb.waitForEvent({ field: 'messages', kind: 'interactive' })
      const [pressed] = value.messages
      assert.ok(pressed.interactive.type === 'button_reply' && pressed.interactive.button_reply.id === 'yes')
    }
    await assert.rejects(phone.press('No'), new Error(`no message to ${user} has "No" to press; there is "Yes"`))
  })

  test('calls', async () => {
    const id = await sb.user('16505559876').call(sb.number)
    const event = await sb.waitForEvent({ field: 'calls', kind: 'connect' })
    assert.equal(event.value.calls[0].id, id)
  })

  test('a server for tests waits for statuses, one after another', async () => {
    const phone = await beginChat()
    const { messages } = await sb.client.messages.send(sb.number, { to: user, text: { body: 'Hi' } })
    await phone.waitForMessage()
    await phone.read()
    for (const kind of ['sent', 'delivered', 'read'] as const) {
      const { value } = await sb.waitForEvent({ field: 'messages', kind })
      assert.equal(value.statuses[0].id, messages[0]?.id)
    }
  })

  test('a server for tests moves the clock: a day later the window is closed', async () => {
    await beginChat()
    await sb.advance('25h')
    await sb.client.messages.send(sb.number, { to: user, text: { body: 'Too late' } }).then(
      () => sb.waitForEvent({ field: 'messages', kind: 'failed' }),
      (error) => assert.equal(error.code, 131047),
    )
  })

  test('a filter that throws fails its own wait alone', async () => {
    const phone = await beginChat()
    const where = () => {
      throw new Error('the filter is wrong')
    }
    const failed = assert.rejects(phone.waitForMessage({ where }), /the filter is wrong/)
    const other = phone.waitForMessage({ text: 'Hi', timeout: Number.POSITIVE_INFINITY })
    await sb.client.messages.send(sb.number, { to: user, text: { body: 'Hi' } })
    await failed
    assert.equal((await other).type, 'text')
  })

  test('a server for tests filters a list by several values', async () => {
    const list = sb.client.templates.list('1000000000000001', { status: ['APPROVED', 'PENDING'], category: 'UTILITY' })
    const found = await list.toArray()
    assert.ok(found.length > 0 && found.every(({ category }) => category === 'UTILITY'))
  })

  test('a server for tests lets requests fail on purpose', async () => {
    await sb.faults([{ match: { operation: 'account.read' }, effect: { status: 429 } }])
    await assert.rejects(sb.client.accounts.retrieve('1000000000000001', {}, { maxRetries: 0 }), RateLimitError)
  })

  test('a server for tests lets a business connect itself to the app, which works with its account alone', async () => {
    const signed = await sb.signUp(sb.app, { account: '1000000000000002', number: '4000000000000005' })
    const { value } = await sb.waitForEvent({ field: 'account_update' })
    const waba_info = { waba_id: '1000000000000002', owner_business_id: '2000000000000001' }
    assert.deepEqual(value, { event: 'PARTNER_ADDED', waba_info })
    const { account_id, business_id, phone_number_id, user_id, scopes } = signed
    assert.deepEqual([account_id, business_id], [waba_info.waba_id, waba_info.owner_business_id])
    assert.deepEqual([phone_number_id, user_id], ['4000000000000005', '2300000000000001'])
    assert.deepEqual(scopes, ['msgapp_business_management', 'msgapp_business_messaging'])
    assert.equal((await signed.client.me.retrieve()).name, 'Ada Shrub')
    assert.equal((await signed.client.phoneNumbers.list(account_id).toArray()).length, 2)
    await assert.rejects(signed.client.accounts.retrieve('1000000000000001'), NotFoundError)
    await signed.client.me.deletePermissions()
    await sb.waitForEvent({ field: 'account_update', where: ({ value }) => value['event'] === 'PARTNER_REMOVED' })
    await assert.rejects(signed.client.me.retrieve(), AuthenticationError)
  })

  test('a server for tests signs up for any app, for the first account of another business, by any person', async () => {
    const request = { user: '2300000000000002', scopes: ['msgapp_business_messaging', 'business_management'] }
    const signed = await sb.signUp('3000000000000002', request)
    assert.deepEqual(
      [signed.account_id, signed.user_id, signed.scopes.toSorted()],
      ['1000000000000001', '2300000000000002', request.scopes.toSorted()],
    )
    const app = { client_id: '3000000000000002', client_secret: 'partner-app-secret' }
    const { access_token, expires_in } = await sb.client.oauth.exchangeToken({
      ...app,
      fb_exchange_token: signed.token,
    })
    const { access_token: token } = await sb.client.oauth.createAppToken(app)
    assert.equal(token, '3000000000000002|partner-app-secret')
    const { data } = await sb.client.withOptions({ token, appSecret: app.client_secret }).tokens.debug({
      input_token: access_token,
    })
    assert.deepEqual([data.type, data.is_valid, data.user_id], ['SYSTEM_USER', true, signed.user_id])
    assert.equal(expires_in, (data.expires_at ?? 0) - (data.issued_at ?? 0))
    // A secret that is not the app's is found wherever a token is sent.
    const wrong = signed.client.withOptions({ appSecret: 'another' })
    await assert.rejects(wrong.phoneNumbers.list(signed.account_id).toArray(), { code: 100 })
    const unknown = { ...app, code: 'made-up', client_secret: app.client_secret }
    await assert.rejects(sb.client.oauth.exchangeCode(unknown), {
      name: 'BadRequestError',
      code: ErrorCode.InvalidArgument,
      subcode: ErrorSubcode.SignUpCodeUsedOrOld,
    })
    await assert.rejects(sb.client.oauth.exchangeCode({ ...unknown, client_secret: 'guessed' }), {
      code: ErrorCode.ClientSecretWrong,
    })
  })

  test('a client that proves its secret does everything that another one does', async () => {
    const { media, phoneNumbers } = sb.client.withOptions({ appSecret: sb.secret })
    assert.equal((await phoneNumbers.retrieve(sb.number, { fields: ['verified_name'] })).id, sb.number)
    const { id } = await media.upload(sb.number, { file: new Blob(['Hello'], { type: 'text/plain' }) })
    const { url } = await media.retrieve(id)
    assert.equal(await (await media.download(url)).text(), 'Hello')
  })

  test('a server for tests says why nobody signs up', async () => {
    await assert.rejects(sb.signUp('3000000000000009'), /the world has no app 3000000000000009/)
    await assert.rejects(sb.signUp(sb.app, { account: '1' }), /the world has no account 1/)
    const foreign = sb.signUp(sb.app, { number: '4000000000000004' })
    await assert.rejects(foreign, /^SwitchboardError: the sign-up was refused: .*phone_number_id.*must be/)
    await assert.rejects(sb.signUp(sb.app, { user: '2300000000000003' }), /the sign-up was refused: .*person/)
    await assert.rejects(sb.signUp(sb.app, { scopes: ['operator'] }), /the sign-up was refused: .*scope/)
  })

  test('a server for tests is as it was after a reset', async () => {
    await sb.client.qrCodes.create(sb.number, { prefilled_message: 'Only in this test' })
    await sb.reset()
    const codes = await sb.client.qrCodes.list(sb.number).toArray()
    assert.ok(!codes.some(({ prefilled_message }) => prefilled_message === 'Only in this test'))
    assert.deepEqual(sb.events, [])
  })

  testLong('a server for tests takes less than 100 ms for a reset', async () => {
    // The quickest of some: other tests run beside this one.
    const times: number[] = []
    for (let i = 0; i < 8; i++) {
      const begun = performance.now()
      await sb.reset()
      times.push(Math.round(performance.now() - begun))
    }
    assert.ok(Math.min(...times) < 100, `${times} ms`)
  })

  test('a server for tests connects the app that is tested: its events are there once it has taken them', async () => {
    const taken: string[] = []
    const options = { verifyToken: sb.verifyToken, secret: sb.secret, onError: () => undefined }
    let isBroken = true
    const handler = sb.client.webhooks.handler({
      ...options,
      async onEvent({ field, value }) {
        for (const message of (field === 'messages' && value.messages) || []) {
          if (isBroken) throw new Error('not yet')
          taken.push(message.id)
          const file = message.type === 'image' ? message.image.mime_type : 'none'
          await sb.client.messages.send(sb.number, { to: message.from, text: { body: `File: ${file}` } })
        }
      },
    })
    await assert.rejects(sb.connect(sb.client.webhooks.handler({ ...options, verifyToken: 'x', onEvent: () => 0 })), {
      message: /make it with sb.verifyToken. The handler responded 403 wrong verify token/,
    })
    await assert.rejects(
      sb.connect('http://127.0.0.1:1/'),
      /127.0.0.1:1\/ responded 502 no response: fetch failed: bad port/,
    )
    await sb.connect(handler)
    const phone = sb.user(user)
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const id = await phone.writeFile(sb.number, new Blob([png], { type: 'image/png' }), { caption: 'My fern' })
    await assert.rejects(sb.waitForEvent({ kind: 'image', timeout: 300 }), {
      message:
        /^no event \{ kind: 'image' \} came within 300 ms\.\nNothing came\.\nThe connected app got \d webhooks?:\n.*messages image → 500 Error: not yet\n +at .*testing\.test\.ts/,
    })
    await assert.rejects(phone.expectNoMessage({ timeout: 300 }), (error) => {
      assert.ok(error instanceof StillBusy)
      assert.match(
        error.message,
        /^whether no message to 16505551234 comes cannot be told: 1 webhook could not be delivered/,
      )
      assert.match(error.message, /Error: not yet/)
      return true
    })
    isBroken = false
    await sb.waitForEvent({ field: 'messages', kind: 'image' })
    assert.deepEqual(taken, [id])
    await phone.waitForMessage({ text: 'File: image/png' })

    const server = createServer(handler.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    await sb.connect(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    await phone.reply('Hello?')
    await phone.waitForMessage({ text: 'File: none' })
    server.close()
    sb.disconnect()
  })

  test('a server for tests says what came instead, why, and which line waited', async () => {
    await beginChat()
    const long = `Something ${'else '.repeat(100)}at the end`
    await sb.client.messages.send(sb.number, { to: user, text: { body: long } })
    await sb.client.messages.send(sb.number, { to: user, text: { body: 'Hello again' } })
    await sb.user(user).waitForMessage({ text: 'again' })
    await sb.advance('25h')
    await sb.client.messages.send(sb.number, { to: user, text: { body: 'Too late' } })
    await sb.waitForEvent({ field: 'messages', kind: 'failed' })
    const empty = sb.client.messages.send(sb.number, { to: user, text: { body: '' } }, { maxRetries: 0 })
    await assert.rejects(empty, BadRequestError)
    await assert.rejects(sb.user(user).waitForMessage({ type: 'text', text: /Never/, timeout: 20 }), (error) => {
      assert.ok(error instanceof NothingCame)
      const lines = error.message.split('\n')
      assert.equal(lines[0], "no message { type: 'text', text: /Never/ } to 16505551234 came within 20 ms.")
      assert.equal(lines[1], 'This came:')
      assert.match(lines[2] ?? '', /^ {2}- text "Something else .* … \d+ more characters … .* at the end"$/)
      assert.equal(lines[3], '  ✓ text "Hello again"')
      assert.match(lines[5] ?? '', /^A message to 16505551234 failed: 131047 Re-engagement message \(.+\)\.$/)
      assert.equal(lines[6], 'The server refused requests:')
      assert.match(lines[7] ?? '', /^ {2}POST \/v23\.0\/\d+\/messages → 400 100 .*text\.body/)
      assert.match(error.stack ?? '', /^NothingCame: no message [\s\S]+testing\.test\.ts/)
      return true
    })
    const where = ({ account_id }: { account_id: string }) => account_id === '1'
    await assert.rejects(sb.waitForEvent({ field: 'messages', where, timeout: 20 }), (error) => {
      assert.ok(error instanceof NothingCame)
      assert.match(error.message, /^ {2}✓ messages failed to 16505551234: 131047 Re-engagement message \(.+\)$/m)
      assert.match(error.message, /^ {2}- messages delivered to 16505551234 \{"messaging_product":.*\}$/m)
      return true
    })
  })

  test('a server for tests says at the end of a test what is still waited for', async () => {
    await beginChat()
    void sb.waitForEvent({ field: 'calls' })
    void sb.user(user).waitForMessage({ text: 'Never' })
    await assert.rejects(sb.endWaits(), (error) => {
      assert.ok(error instanceof NothingCame)
      assert.match(
        error.message,
        /^no event \{ field: 'calls' \} had come when the test ended\.\nThis came:\n {2}✓ messages text/,
      )
      assert.match(error.message, /^no message \{ text: 'Never' \} to 16505551234 had come when the test ended\.$/m)
      assert.match(error.stack ?? '', /testing\.test\.ts/)
      return true
    })
    await sb.endWaits()
  })

  test('a server for tests can tell that nothing comes', async () => {
    const phone = await beginChat()
    await phone.expectNoMessage()
    await sb.expectNoEvent()
    // Whoever responds first and works then is waited for too.
    const handler = sb.client.webhooks.handler({
      ...{ verifyToken: sb.verifyToken, secret: sb.secret },
      onEvent({ field, value }) {
        if (field !== 'messages' || !value.messages) return
        setTimeout(() => sb.client.messages.send(sb.number, { to: user, text: { body: 'Later' } }), 100)
      },
    })
    await sb.connect(handler)
    await phone.write(sb.number, 'Hello?')
    await phone.expectNoMessage({ text: 'Sooner' })
    await assert.rejects(phone.expectNoMessage({ text: /Later/ }), (error) => {
      assert.ok(error instanceof SomethingCame)
      const expected = 'no message { text: /Later/ } to 16505551234 should come, and this came:\n  text "Later"'
      assert.equal(error.message, expected)
      assert.match(error.stack ?? '', /testing\.test\.ts/)
      return true
    })
    // What was found, or was waited for, is not found again.
    await phone.expectNoMessage()
    await assert.rejects(sb.expectNoEvent({ field: 'messages', kind: 'delivered' }), SomethingCame)
    sb.disconnect()
  })
})

test('a server of a fixture is not there before its hooks have run', () => {
  const hooks = { beforeAll: () => 0, beforeEach: () => 0, afterEach: () => 0, afterAll: () => 0 }
  const sb = useOneServer(hooks)
  assert.throws(() => sb.number, /the Switchboard server starts in beforeAll: use it within tests and hooks/)
})

/** The folders that belong to this process. */
const listFolders = () =>
  readdirSync(join(tmpdir(), `switchboard-testing-${process.getuid?.()}`)).filter((name) =>
    name.includes(`-${process.pid}-`),
  )

test('a server that cannot be started is named, and nothing is left of it', async () => {
  for (const command of ['/nowhere/switchboard', ['/nowhere/switchboard', 'again']] as const) {
    await assert.rejects(
      createSwitchboard({ command }),
      /the server could not be started: spawn \/nowhere\/switchboard/,
    )
  }
  assert.deepEqual(listFolders(), [])
})

test('a server begins with windows as new as itself, and removes the stores of worlds that nobody used for weeks', async () => {
  const base = join(tmpdir(), `switchboard-testing-${process.getuid?.()}`)
  const nameOf = (start: string) => join(base, `world-${start.padEnd(24, String(process.pid))}`)
  const [old, recent, foreign] = [nameOf('01d'), nameOf('1e7'), join(base, `of-somebody-${process.pid}`)]
  for (const [folder, days] of [
    [old, 15],
    [recent, 13],
    [foreign, 15],
  ] as const) {
    await mkdir(folder)
    const time = new Date(Date.now() - days * 24 * 60 * 60 * 1000)
    await utimes(folder, time, time)
  }
  // The store that it is copied from was left by the servers above.
  const begun = Date.now() - 100
  const sb = await createSwitchboard()
  try {
    assert.deepEqual([old, recent, foreign].map(existsSync), [false, true, true])
    const exported = await sb.client.operator.world.export({ headers: { accept: 'application/json' } })
    const { users } = (await exported.json()) as { users: { wa_id: string; chats?: { window_opened_at?: string }[] }[] }
    const opened = users.find(({ wa_id }) => wa_id === user)?.chats?.[0]?.window_opened_at
    assert.ok(opened && Date.parse(opened) >= begun, `${opened} is before ${new Date(begun).toISOString()}`)
    // The business may write first, as in the demo world that was applied just now.
    await sb.client.messages.send(sb.number, { to: user, type: 'text', text: { body: 'Hi' } })
    await sb.user(user).waitForMessage({ text: /Hi/ })
    await sb.advance('23h')
    await sb.client.messages.send(sb.number, { to: user, type: 'text', text: { body: 'Still there?' } })
    await sb.user(user).waitForMessage({ text: /Still/ })
  } finally {
    await sb.close()
    for (const folder of [recent, foreign]) await rmdir(folder)
  }
})

test('a link in the place of its folder is not followed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-linked-'))
  const other = join(folder, 'other')
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(other)
  const old = join(other, `world-${'0'.repeat(24)}`)
  await mkdir(old)
  await utimes(old, 0, 0)
  await symlink(other, join(folder, `switchboard-testing-${process.getuid?.()}`))
  const program = "import('@switchboard/testing').then((testing) => testing.createSwitchboard())"
  const env = { ...process.env, TMPDIR: folder }
  const run = promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', '--eval', program], {
    env,
  })
  await assert.rejects(run, /is not a folder of this user: remove it, or set TMPDIR/)
  assert.deepEqual(readdirSync(other), [basename(old)])
})

test('what is asked of a server that was closed, or has died, fails at once and says why; servers side by side have worlds of their own', async () => {
  // That of docs/testing.md, so that one store is prepared for both.
  const world: World = {
    businesses: [{ id: '2000000000000009', name: 'Shop' }],
    accounts: [
      {
        id: '1000000000000009',
        business_id: '2000000000000009',
        name: 'Shop',
        phone_numbers: [{ id: '4000000000000009', display_phone_number: '+1 631-555-1009', registered: true }],
      },
    ],
  }
  const [closed, died] = await Promise.all([createSwitchboard(), createSwitchboard({ world, vocabulary: 'whatsapp' })])
  const clients: [Switchboard, Switchboard<'whatsapp'>] = [closed.client, died.client]
  assert.deepEqual(
    clients.map(({ vocabulary }) => vocabulary),
    ['msgapp', 'whatsapp'],
  )
  const check = async () => {
    const text = { field: 'messages', kind: 'text' } as const
    void (await died.waitForEvent(text)).value.messages[0].from_user_id
    // @ts-expect-error: the first vocabulary has no ids of users
    void (await closed.waitForEvent(text)).value.messages[0].from_user_id
  }
  assert.equal(typeof check, 'function')
  await died.user(user).write(died.number, 'Hi')
  const { value } = await died.waitForEvent({ field: 'messages' })
  assert.equal(value.messaging_product, 'whatsapp')
  // Nobody of this world could agree, and its app has no address to be sent back to: the library adds both.
  const { client, account_id, scopes } = await died.signUp()
  assert.deepEqual(scopes, ['whatsapp_business_management', 'whatsapp_business_messaging'])
  assert.equal((await client.accounts.retrieve(account_id)).name, 'Shop')
  await died.client.messages.send('4000000000000009', { to: user, text: { body: 'Hello' } })
  await died.user(user).waitForMessage({ text: 'Hello' })
  assert.deepEqual([closed.events.length, closed.user(user).messages.length], [0, 0])

  const waits = [closed, died].flatMap((sb) => [
    sb.waitForEvent({ field: 'calls', timeout: Number.POSITIVE_INFINITY }),
    sb.user(user).waitForMessage({ timeout: Number.POSITIVE_INFINITY }),
  ])
  const outcomes = Promise.allSettled(waits)
  await Promise.all([closed.close(), closed.close()])
  await closed.close()
  process.kill(died.pid, 'SIGKILL')
  const reasons = (await outcomes).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''))
  for (const [index, reason] of reasons.entries()) {
    assert.match(reason, index < 2 ? /: this Switchboard was closed$/ : /ended by itself \(SIGKILL\)/)
  }
  for (const [sb, why] of [
    [closed, /^SwitchboardError: this Switchboard was closed$/],
    [died, /^SwitchboardError: the server of this Switchboard ended by itself \(SIGKILL\)/],
  ] as const) {
    await assert.rejects(sb.client.accounts.retrieve('1000000000000001'), why)
    await assert.rejects(sb.reset(), why)
    await assert.rejects(sb.waitForEvent({ field: 'calls' }), why)
    await assert.rejects(sb.expectNoEvent({ field: 'calls' }), why)
    await assert.rejects(sb.user('16505550000').waitForMessage(), why)
  }
  await assert.rejects(closed.clientOf('2000000000000001').accounts.retrieve('1000000000000001'), /was closed$/)
  await died[Symbol.asyncDispose]()
  assert.deepEqual(listFolders(), [])
})
