import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database } from '../src/db/database.ts'
import { openSecret, sealSecret } from '../src/db/secrets/sealing.ts'
import { findSecrets } from '../src/delivery/store/signing-secrets.ts'
import { webhookFields } from '../src/delivery/webhook-fields.ts'
import { openVerifyToken } from '../src/resources/webhooks/store.ts'
import { type RunningServer, runCommand, startCommand, startHosted } from './harness/command.ts'
import { makeMigratedPlace, onBothDatabases, openPlace, type StorePlace, unlockPlace } from './harness/databases.ts'
import { jpeg, mp3, mp4, pdf, webp } from './harness/media-files.ts'
import { hang, startSubscriber } from './harness/subscriber.ts'
import { signHubByHand } from './harness/webhooks.ts'

const demoWorldFile = fileURLToPath(new URL('../../worlds/demo.yaml', import.meta.url))
const account = '1000000000000001'
const number = '4000000000000001'
const user = '16505551234'
const demoApp = '3000000000000001'
const partnerApp = '3000000000000002'
const listening = /^Listening for app \d+ at (\S+), to all fields/m

function assertOneLine(stderr: string, pattern: RegExp): void {
  assert.match(stderr, pattern)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
}

onBothDatabases('the commands listen and simulate', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  let server: RunningServer
  let database: Database
  before(async () => {
    place = await makeMigratedPlace(engine)
    const env = { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) }
    options = { env, cwd: place.dataDir }
    server = await startCommand(['serve', '--port', '0'], options)
    database = await openPlace(place)
    await unlockPlace(place, database)
  })
  after(async () => {
    await database.close()
    await server.stop('SIGTERM')
    await place.remove()
  })

  const listen = (...args: string[]) => startHosted(['listen', ...args], { ...options, ready: listening })
  const listenAlone = () => startCommand(['listen'], { ...options, ready: listening })
  const simulate = (...args: string[]) => runCommand(['simulate', ...args, '--url', server.url], options)
  const write = (...args: string[]) => simulate('message', '--to', number, '--from', user, ...args)

  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await simulate(...args)
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  }

  async function callApi(path: string, body: object): Promise<Record<string, never>> {
    const answer = await fetch(`${server.url}/v23.0/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200, await answer.clone().text())
    return (await answer.json()) as Record<string, never>
  }

  async function findDemoSecret(): Promise<{ secret: string }> {
    const [secret = ''] = await findSecrets(database.read, demoApp, Date.now())
    return { secret }
  }

  /** Asks until what came of a try is written down. */
  async function untilShown(id: string, pattern: RegExp): Promise<string> {
    for (;;) {
      const { stdout } = await runCommand(['deliveries', 'show', id], options)
      if (pattern.test(stdout)) return stdout
    }
  }

  /** All that listen touches and has to put back. */
  async function readTouched(): Promise<object> {
    const { query } = database.read
    const subscriptions = await query.selectFrom('app_subscriptions').selectAll().orderBy('app_id').execute()
    return {
      // Sealed, a verify token is another text each time that it is put back.
      subscriptions: subscriptions.map((one) => ({ ...one, verify_token: openVerifyToken(database.read, one) })),
      links: await query.selectFrom('subscribed_apps').selectAll().orderBy('account_id').orderBy('app_id').execute(),
      secrets: await query.selectFrom('service_secrets').selectAll().orderBy('name').execute(),
      listeners: await query.selectFrom('listeners').selectAll().execute(),
    }
  }

  test('a simulated message comes up as a line with a good signature, and Ctrl-C puts everything back', async () => {
    const before = await readTouched()
    const listener = await listenAlone()
    assert.notDeepEqual(await readTouched(), before)
    assert.match(
      (await runCommand(['export'], options)).stderr,
      /^App 3000000000000001 is listened to, .* and export again\.$/m,
    )
    const sent = await write('--text', 'Do you have ferns?', '--name', 'Ada')
    assert.equal(sent.code, 0, sent.stderr)
    const id =
      /^→ text from 16505551234 to \+1 631-555-1001 \(4000000000000001\), message (wamid\.\S+)\n← 200 \{"message_id":"wamid\.\S+"\}\n$/.exec(
        sent.stdout,
      )?.[1]
    assert.ok(id, sent.stdout)
    const [line] = await listener.shows(/^\d\d:\d\d:\d\d ✓ messages .*\n/m)
    assert.equal(
      line.slice(9),
      `✓ messages account ${account} number ${number} text from ${user} (Ada) “Do you have ferns?” ${id}\n`,
    )
    const stopped = await listener.stop('SIGINT')
    assert.equal(stopped.code, 0, stopped.stderr)
    assert.match(stopped.stderr, /Stopped; app 3000000000000001 has its callback and links back\.\n$/)
    assert.deepEqual(await readTouched(), before)
    assert.doesNotMatch((await runCommand(['export'], options)).stderr, /is listened to/)
  })

  test('an account that the app was not linked to is heard of as well, and SIGTERM unlinks it again', async () => {
    const before = await readTouched()
    const listener = await listen('--app', demoApp)
    assert.equal((await simulate('message', '--to', '4000000000000006', '--from', user)).code, 0)
    await listener.shows(/✓ messages account 1000000000000003 number 4000000000000006 text/)
    await listener.stop('SIGTERM')
    assert.deepEqual(await readTouched(), before)
  })

  test('an app that had no subscription has none afterwards', async () => {
    const before = await readTouched()
    const listener = await listen('--app', partnerApp)
    await listener.stop('SIGINT')
    assert.deepEqual(await readTouched(), before)
  })

  test('--json prints the whole body; a post with a wrong signature gets ✗ and 401', async () => {
    const listener = await listen('--json')
    await write('--text', 'Grüße')
    const [text] = await listener.shows(/^\{.*\}$/m)
    const { object, entry } = JSON.parse(text)
    assert.deepEqual([object, entry[0].id], ['msgapp_business_account', account])
    assert.equal(entry[0].changes[0].value.messages[0].text.body, 'Grüße')
    await listener.shows(/^✓$/m)
    const forged = await fetch(listener.url, { method: 'POST', body: text, headers: { 'webhook-id': 'x' } })
    assert.equal(forged.status, 401)
    await listener.shows(/^✗ \(X-Hub-Signature-256, webhook-signature wrong\)$/m)
    const elsewhere = await fetch(new URL('/listen/guess', listener.url), { method: 'POST', body: text })
    assert.equal(elsewhere.status, 404)
    await listener.stop('SIGINT')
  })

  test('--forward-to posts each event on, byte for byte, and answers as the developer does', async (t) => {
    const own = await startSubscriber(t)
    own.answerWith((_post, response) => response.writeHead(422, { 'retry-after': '3600' }).end('no such plant'))
    const listener = await listen('--forward-to', own.url)
    await write('--text', 'Grüße')
    const [, id] = await listener.shows(/→ 422 from http:\S+\/hook in \d+ ms, delivery_(\d+)_\d+\n/)
    const [post] = own.posts
    assert.ok(post)
    const { secret } = await findDemoSecret()
    assert.equal(post.headers['x-hub-signature-256'], signHubByHand(post.body, secret))
    assert.equal(post.headers['content-type'], 'application/json')
    assert.match(String(post.headers['user-agent']), /^switchboard\//)
    assert.match(post.body.toString(), /"body":"Gr\\u00fc\\u00dfe"/)
    const shown = await untilShown(id ?? '', /no such plant/)
    assert.ok(shown.includes(`\nwebhook-signature: ${post.headers['webhook-signature']}\n\n${post.body}\n`), shown)
    assert.match(shown, /^State +waiting/m)
    await listener.stop('SIGINT')
  })

  test('--forward-to shows when nobody answers, and Ctrl-C does not wait for one who is slow', async (t) => {
    const dead = await listen('--forward-to', 'http://127.0.0.1:9/hook')
    await write('--text', 'anyone?')
    await dead.shows(/→ ✗ ECONNREFUSED from http:\/\/127\.0\.0\.1:9\/hook in \d+ ms, delivery_\d+_\d+\n/)
    await dead.stop('SIGINT')
    const slow = await startSubscriber(t)
    slow.answerWith(hang)
    const waiting = await listen('--forward-to', slow.url)
    await write('--text', 'slowly')
    await slow.whenPosted(1)
    const { code } = await waiting.stop('SIGINT')
    assert.equal(code, 0)
  })

  test('--since first shows what happened since a time or a delivery, then what comes', async () => {
    const started = new Date().toISOString()
    await write('--text', 'early bird')
    const byTime = await listen('--since', started)
    await byTime.shows(/^\d\d:\d\d:\d\d · messages account \d+ number \d+ text from \d+ .*“early bird”/m)
    await write('--text', 'second one')
    await byTime.shows(/“early bird”.*\n(?:.*\n)*\S+ ✓ messages .*“second one”/)
    const stopped = await byTime.stop('SIGINT')
    assert.doesNotMatch(stopped.stdout, /Grüße/)
    const { id } = JSON.parse((await runCommand(['deliveries', 'list', '--limit', '1', '--json'], options)).stdout)
    const byId = await listen('--json', '--since', String(id))
    const [text] = await byId.shows(/^\{.*\}$/m)
    const { object, entry } = JSON.parse(text)
    assert.deepEqual([object, entry[0].id], ['msgapp_business_account', account])
    assert.equal(entry[0].changes[0].value.messages[0].text.body, 'second one')
    await byId.shows(/^·$/m)
    await byId.stop('SIGINT')
    const recent = await listen('--since', '1h')
    await recent.shows(/“early bird”/)
    await recent.stop('SIGINT')
  })

  test('a second listen for the same app is refused in one line; one for another app is not', async () => {
    const listener = await listen()
    const { code, stdout, stderr } = await runCommand(['listen'], options)
    assert.deepEqual([code, stdout], [1, ''])
    assertOneLine(stderr, /another listen for app 3000000000000001 runs already, at http/)
    assertOneLine((await runCommand(['listen', '--restore'], options)).stderr, /runs already/)
    const other = await listen('--app', partnerApp)
    await other.stop('SIGINT')
    await listener.stop('SIGINT')
  })

  test('what a killed listen left behind is put back by --restore, or by the next listen', async () => {
    const before = await readTouched()
    await (await listenAlone()).stop('SIGKILL')
    assert.notDeepEqual(await readTouched(), before)
    assert.match(
      (await runCommand(['listen', '--restore'], options)).stderr,
      /^App 3000000000000001 has its callback and links back\.\n$/,
    )
    assert.deepEqual(await readTouched(), before)
    assert.match(
      (await runCommand(['listen', '--restore'], options)).stderr,
      /^App \d+ has its own callback: there is nothing to restore/,
    )

    await (await listenAlone()).stop('SIGKILL')
    const next = await listen()
    await next.shows(/was killed; the callback from before it is restored/)
    await next.stop('SIGINT')
    assert.deepEqual(await readTouched(), before)
  })

  test('listen says so where there is no server, and goes on', async (t) => {
    const lonely = await makeMigratedPlace(engine)
    t.after(() => lonely.remove())
    const port = new URL(server.url).port
    const env = { DATA_DIR: lonely.dataDir, ...(lonely.databaseUrl && { DATABASE_URL: lonely.databaseUrl }) }
    const own = { env: { ...env, PORT: '9' }, cwd: lonely.dataDir }
    assert.equal((await runCommand(['apply', demoWorldFile], own)).code, 0)
    const alone = await startHosted(['listen'], { ...own, ready: listening })
    await alone.shows(
      engine === 'sqlite'
        ? /^No server runs on the store in \S+: start one with \.\/switchboard serve\./m
        : /^No server answers at http:\/\/127\.0\.0\.1:9: where none runs on this database elsewhere, start one/m,
    )
    await alone.stop('SIGINT')
    const accompanied = await startHosted(['listen'], {
      env: { ...options.env, PORT: port },
      cwd: options.cwd,
      ready: listening,
    })
    assert.doesNotMatch((await accompanied.stop('SIGINT')).stderr, /No server/)
  })

  test('what a listen of an earlier version left behind, among the secrets of the service, is put back too', async () => {
    const before = await readTouched()
    await (await listenAlone()).stop('SIGKILL')
    await database.transaction(async (tx) => {
      const { app_id, record } = await tx.query.deleteFrom('listeners').returningAll().executeTakeFirstOrThrow()
      const name = `listener:${app_id}`
      const text = openSecret(tx, 'listeners.record', app_id, record)
      const value = await sealSecret(tx, 'service_secrets.value', name, text)
      await tx.query.insertInto('service_secrets').values({ name, value }).execute()
    })
    assert.match((await runCommand(['export'], options)).stderr, /^App 3000000000000001 is listened to/m)
    assert.match(
      (await runCommand(['listen', '--restore'], options)).stderr,
      /^App 3000000000000001 has its callback and links back\.\n$/,
    )
    assert.deepEqual(await readTouched(), before)
  })

  test('a subscription that somebody else changed meanwhile stays as they left it', async () => {
    const listener = await listen('--app', partnerApp)
    const callback_url = 'http://127.0.0.1:9/theirs'
    await database.transaction(async (tx) => {
      await tx.query.updateTable('app_subscriptions').set({ callback_url }).where('app_id', '=', partnerApp).execute()
    })
    await listener.shows(/^App 3000000000000002 has got another callback, http:\/\/127\.0\.0\.1:9\/theirs: its events/m)
    const { stderr } = await listener.stop('SIGINT')
    assert.match(stderr, /^Stopped; app 3000000000000002 keeps the callback that it has got meanwhile\.$/m)
    const kept = await database.read.query
      .selectFrom('app_subscriptions')
      .select('callback_url')
      .where('app_id', '=', partnerApp)
      .execute()
    assert.deepEqual(
      kept.map(({ callback_url }) => callback_url),
      [callback_url],
    )
  })

  test('listen says when it has lost the callback or a field, and when it has everything again', async () => {
    const listener = await listen('--app', partnerApp)
    const change = (values: { callback_url?: string; fields?: string[] }) =>
      database.transaction(async (tx) => {
        const [changed] = await tx.query
          .updateTable('app_subscriptions')
          .set(values)
          .where('app_id', '=', partnerApp)
          .returning('fields')
          .execute()
        return changed?.fields ?? []
      })
    const fields = await change({ fields: ['messages'] })
    assert.deepEqual(fields, ['messages'])
    await listener.shows(/^App 3000000000000002 is not subscribed to these fields any more: calls, /m)
    await change({ fields: [...webhookFields] })
    await listener.shows(/^App 3000000000000002 has the callback of this command again: its events come here\.$/m)
    await database.transaction(async (tx) => {
      await tx.query.deleteFrom('app_subscriptions').where('app_id', '=', partnerApp).execute()
    })
    await listener.shows(/^App 3000000000000002 is not subscribed any more: its events come to nobody\./m)
    await listener.stop('SIGINT')
  })

  test('commands in a folder without a store use that of the server at HOST and PORT, or say which servers run', async (t) => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'switchboard-elsewhere-'))
    t.after(() => rm(elsewhere, { recursive: true, force: true }))
    const at = (port: string, ...args: string[]) => runCommand(args, { env: { PORT: port }, cwd: elsewhere })
    const { port } = new URL(server.url)
    for (const args of [
      ['token', 'list'],
      ['deliveries', 'list', '--since', '1h'],
      ['find', 'lucky'],
      ['wait', 'request', '--since', '1h'],
    ]) {
      const { code, stdout, stderr } = await at(port, ...args)
      assert.deepEqual([code, stdout === ''], [0, false], stderr)
      // On PostgreSQL it asks the server.
      if (args[0] !== 'wait')
        assert.match(stderr, /^switchboard: (?:using the store in|there is no store in \S+: asking the server)/)
    }
    const found = engine === 'sqlite' ? 0 : 1
    assert.equal((await at(port, 'templates', 'list')).code, found)
    for (const command of ['status', 'token list', 'listen', 'templates list']) {
      const { code, stderr } = await at('9', ...command.split(' '))
      assert.equal(code, 1)
      assertOneLine(stderr, new RegExp(`127\\.0\\.0\\.1:9\\b.*--url .*running here: .*--url ${server.url}`))
    }
    // On PostgreSQL a folder does not say which server is meant.
    if (engine === 'postgres') return
    const { stdout } = await runCommand(['status'], { env: { DATA_DIR: place.dataDir }, cwd: elsewhere })
    assert.match(stdout, new RegExp(server.url))
  })

  test('deliveries that still wait when a listen ends are given up, so that nobody else on its port gets them', async () => {
    const listener = await listenAlone()
    await listener.stop('SIGKILL')
    await write('--text', 'to nobody')
    await runCommand(['listen', '--restore'], options)
    const waiting = await database.read.query
      .selectFrom('deliveries')
      .innerJoin('lanes', 'lanes.id', 'deliveries.lane_id')
      .select('deliveries.state')
      .where('lanes.callback_url', '=', listener.url)
      .execute()
    assert.deepEqual(
      waiting.map(({ state }) => state),
      ['failed'],
    )
  })

  /** What the business gets of the file in a message, and its bytes, through the media API. */
  async function fetchMedium(id: string): Promise<{ mime_type: string; sha256: string; bytes: Buffer }> {
    const headers = { authorization: 'Bearer demo-token' }
    const found = await fetch(`${server.url}/v23.0/${id}`, { headers })
    assert.equal(found.status, 200, await found.clone().text())
    const { url, mime_type, sha256 } = (await found.json()) as Record<'url' | 'mime_type' | 'sha256', string>
    return { mime_type, sha256, bytes: Buffer.from(await (await fetch(url, { headers })).arrayBuffer()) }
  }

  /** The message that a listener shows as JSON, by its kind. */
  async function receiveMessage(listener: RunningServer, type: string): Promise<Record<string, unknown>> {
    const [text] = await listener.shows(new RegExp(`^\\{.*"type":"${type}".*\\}$`, 'm'))
    return JSON.parse(text).entry[0].changes[0].value.messages[0]
  }

  test('files that users send, given or made up, can be fetched by the business', async () => {
    const listener = await listen('--json')
    const given = {
      image: jpeg,
      video: mp4('isom', ['vide']),
      audio: mp3,
      document: pdf,
      sticker: webp({ animated: true }),
    }
    for (const [type, bytes] of Object.entries(given)) {
      const path = join(place.dataDir, `from-phone-${type}`)
      await writeFile(path, bytes)
      const sent = await write('--file', path, '--text', 'Look')
      assert.deepEqual([sent.code, sent.stderr], [0, ''])
      const { id, mime_type, sha256, ...rest } = (await receiveMessage(listener, type))[type] as Record<string, string>
      const medium = await fetchMedium(id ?? '')
      assert.deepEqual([medium.mime_type, medium.sha256], [mime_type, sha256])
      assert.ok(medium.bytes.equals(bytes), type)
      const members: Record<string, object> = {
        image: { caption: 'Look' },
        video: { caption: 'Look' },
        audio: { voice: false },
        document: { filename: 'from-phone-document', caption: 'Look' },
        sticker: { animated: true },
      }
      assert.deepEqual(rest, members[type])
    }
    await listener.stop('SIGINT')

    const second = await listen('--json')
    for (const type of Object.keys(given)) {
      assert.equal((await write('--type', type)).code, 0)
      const { id, sha256 } = (await receiveMessage(second, type))[type] as Record<string, string>
      assert.equal((await fetchMedium(id ?? '')).sha256, sha256)
    }
    const picture = join(place.dataDir, 'from-phone-image')
    assert.equal((await write('--file', picture, '--type', 'document')).code, 0)
    await second.shows(/"mime_type":"image\/jpeg".*"filename":"from-phone-image"/)
    assertOneLine(
      (await write('--file', picture, '--type', 'audio')).stderr,
      /--file \S+ is image\/jpeg: send it with --type image or document, not audio/,
    )
    await second.stop('SIGINT')
  })

  test('replies and presses name the message of the business, from the number of the business', async () => {
    const listener = await listen('--json')
    await write('--text', 'Thanks', '--reply-to', 'wamid.ours')
    const context = { from: '16315551001', id: 'wamid.ours' }
    assert.deepEqual((await receiveMessage(listener, 'text'))['context'], context)
    await write('--type', 'button', '--text', 'Yes please', '--payload', 'order-7', '--reply-to', 'wamid.ours')
    const pressed = await receiveMessage(listener, 'button')
    assert.deepEqual([pressed['context'], pressed['button']], [context, { payload: 'order-7', text: 'Yes please' }])
    await write('--type', 'interactive')
    assert.equal(((await receiveMessage(listener, 'interactive'))['context'] as typeof context).from, '16315551001')
    await write('--type', 'reaction', '--reply-to', 'wamid.ours')
    const { reaction } = await receiveMessage(listener, 'reaction')
    assert.deepEqual(reaction, { message_id: 'wamid.ours', emoji: '👍' })
    await listener.stop('SIGINT')
  })

  test('one line for a kind of message that there is not lists those that there are', async () => {
    assertOneLine(
      (await write('--type', 'telegram')).stderr,
      /--type telegram is not one of text, image, .*, unknown$/m,
    )
  })

  test('a user grants a permission, picks up when the business calls, and hangs up', async () => {
    const listener = await listen()
    const caller = '16505557777'
    await succeed('permission', '--number', number, '--user', caller, '--status', 'granted')
    const offer = (await import('../src/cli/simulate/simulated-sessions.ts')).writeSession('offer', Buffer.alloc(32, 7))
    const { calls } = (await callApi(`${number}/calls`, {
      messaging_product: 'msgapp',
      action: 'connect',
      to: caller,
      session: offer,
    })) as unknown as { calls: [{ id: string }] }
    const call_id = calls[0].id
    await succeed('call', '--ring', call_id)
    await listener.shows(new RegExp(`✓ calls .* call ${call_id} RINGING for ${caller}`))
    await succeed('call', '--answer', call_id)
    await listener.shows(new RegExp(`✓ calls .* connect from .* to ${caller}, call ${call_id}`))
    await succeed('call', '--hang-up', call_id)
    await listener.shows(new RegExp(`✓ calls .* terminate COMPLETED .*, call ${call_id}`))
    await listener.stop('SIGINT')
  })

  test('a user calls, and follows the invite link of a group', async () => {
    const listener = await listen()
    const called = await succeed('call', '--to', number, '--from', '16505558888', '--name', 'Ada')
    const call_id = /"call_id":"([^"]+)"/.exec(called)?.[1]
    await listener.shows(new RegExp(`✓ calls .* connect from 16505558888 to 16315551001, call ${call_id}`))

    const { invite_link } = (await callApi('6000000000000001/invite_link', {
      messaging_product: 'msgapp',
    })) as unknown as { invite_link: string }
    assert.match(await succeed('join', '--link', invite_link, '--user', user, '--name', 'Ada'), /"status":"joined"/)
    await listener.shows(/✓ group_participants_update .* group_participants_add 6000000000000001 16505551234/)
    await listener.stop('SIGINT')
  })

  for (const [name, args, pattern] of [
    ['an app that there is not', ['listen', '--app', '1'], /--app 1 is not an app of this store/],
    ['a port that is none', ['listen', '--port', '70000'], /--port 70000 is not a port/],
    ['a since that is none', ['listen', '--since', 'yesterday'], /--since yesterday is neither a duration such as 10m/],
    ['a since of no delivery', ['listen', '--since', '999999'], /--since 999999: there is no such delivery/],
    [
      'a target that is none',
      ['listen', '--forward-to', 'localhost:3000'],
      /--forward-to localhost:3000 is not an http/,
    ],
    ['an address that is none', ['listen', '--url', 'tunnel'], /--url: it must be an http or https URL/],
    [
      'no server',
      ['simulate', 'join', '--link', 'x', '--user', '1', '--url', 'http://127.0.0.1:9'],
      /cannot be reached/,
    ],
    [
      'a user who is no phone number',
      ['simulate', 'message', '--to', number, '--from', '+16505551234'],
      /--from \+16505551234 is not a user: .*digits alone/,
    ],
    [
      'a payload without a button',
      ['simulate', 'message', '--to', number, '--from', user, '--payload', 'x'],
      /--payload is what a button holds: give it with --type button or interactive/,
    ],
    [
      'a file that there is not',
      ['simulate', 'message', '--to', number, '--from', user, '--file', '/nowhere/at-all'],
      /--file \/nowhere\/at-all cannot be read \(ENOENT\)/,
    ],
    [
      'a file that no message carries',
      ['simulate', 'message', '--to', number, '--from', user, '--file', process.execPath],
      /--file \S+ is of no type that messages carry: give one of image\/jpeg, /,
    ],
    ['an empty id', ['simulate', 'press', '', 'Yes'], /needs an id for its path, not ""/],
    [
      'a token that no header can hold',
      ['simulate', 'join', '--link', 'x', '--user', '1', '--token', 'secret\nword'],
      /: the token for the gateway door has blanks or characters that no header holds\n$/,
    ],
    ['a call of nothing', ['simulate', 'call', '--to', number], /give either --to and --from .*, or one of --ring/],
  ] as const) {
    test(`one line and exit code 1 for ${name}`, async () => {
      const { code, stdout, stderr } = await runCommand(args, options)
      assert.deepEqual([code, stdout], [1, ''])
      assertOneLine(stderr, pattern)
    })
  }

  test('one line for a token that the gateway does not take, a number that there is not, and a dead link', async () => {
    assertOneLine((await write('--token', 'demo-token')).stderr, / answered 403: /)
    assertOneLine(
      (await simulate('message', '--to', '16315551001', '--from', user)).stderr,
      /--to 16315551001 is no number .*: give a Phone-Number-ID/,
    )
    assertOneLine((await simulate('join', '--link', 'nowhere', '--user', user)).stderr, / answered 400: invite_link/)
    const withEnvironment = { ...options, env: { ...options.env, SWITCHBOARD_GATEWAY_TOKEN: 'no-such-token' } }
    const args = ['simulate', 'message', '--to', number, '--from', user, '--url', server.url]
    assertOneLine((await runCommand(args, withEnvironment)).stderr, / answered 401: /)
  })

  test('the commands listen and simulate: where callbacks must be public, listen says what to do and changes nothing', async () => {
    const before = await readTouched()
    const production = { ...options, env: { ...options.env, NODE_ENV: 'production' } }
    assertOneLine(
      (await runCommand(['listen'], production)).stderr,
      /public https .*--url.*ALLOW_INTERNAL_CALLBACKS=true/,
    )
    assert.deepEqual(await readTouched(), before)
    const tunnelled = await startHosted(['listen', '--url', 'https://tunnel.example.com/'], {
      ...production,
      ready: listening,
    })
    assert.match(tunnelled.url, /^https:\/\/tunnel\.example\.com\/listen\/[\w-]{24}$/)
    await tunnelled.stop('SIGINT')
    assert.deepEqual(await readTouched(), before)
  })
})

onBothDatabases('simulate against a server of the other vocabulary', (engine) => {
  test('simulate against a server of the other vocabulary asks the server for it, and finds the server by PORT', async (t) => {
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const env = { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) }
    const speaking = { env: { ...env, VOCABULARY: 'whatsapp' }, cwd: place.dataDir }
    const server = await startCommand(['serve', '--port', '0'], speaking)
    t.after(() => server.stop('SIGTERM'))
    const silent = { env: { ...env, PORT: new URL(server.url).port }, cwd: place.dataDir }
    const listener = await startHosted(['listen', '--json'], { ...silent, ready: listening })
    const args = ['simulate', 'message', '--to', number, '--from', user]
    const { code, stderr } = await runCommand(args, silent)
    assert.deepEqual([code, stderr], [0, ''])
    const [text] = await listener.shows(/^\{.*\}$/m)
    assert.equal(JSON.parse(text).object, 'whatsapp_business_account')
    await listener.stop('SIGINT')
    const past = await startHosted(['listen', '--json', '--since', '1h'], { ...silent, ready: listening })
    const [again] = await past.shows(/^\{.*\}$/m)
    assert.equal(again, text)
    await past.stop('SIGINT')
    const shown = await runCommand(['deliveries', 'show', '1'], silent)
    assert.ok(shown.stdout.endsWith(`\n\n${text}\n`), shown.stdout)
  })
})
