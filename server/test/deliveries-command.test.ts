import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type RunningServer, runCommand, startCommand, startHosted } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, type StorePlace } from './harness/databases.ts'
import type { SinkRequest } from './harness/sink.ts'
import { type Subscriber, startSubscriber, takeIt } from './harness/subscriber.ts'
import { anyUser, envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'
import { accounts, ids, numbers, testWorld, tokens } from './harness/world.ts'

const conversation = `${numbers.main}/${anyUser}`
onOneDatabase('the commands of deliveries', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  before(async () => {
    place = await makeMigratedPlace(engine)
    const env = { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) }
    options = {
      env: { ...env, WEBHOOK_RETRY_DELAYS: '1h', LOG_LEVEL: 'silent', REPLAY_AT_ONCE: '1' },
      cwd: place.dataDir,
    }
  })
  after(() => place.remove())
  const run = (...args: string[]) => runCommand(args, options)

  async function startWith(subscriber: Subscriber): Promise<RunningServer> {
    const world = testWorld()
    const webhook = { callback_url: subscriber.url, verify_token: 'vt', fields: ['messages'] }
    const apps = world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app))
    const file = join(place.dataDir, 'world.json')
    await writeFile(file, JSON.stringify({ ...world, apps }))
    return startCommand(['serve', '--port', '0', '--world', file], options)
  }

  async function handInTo(server: RunningServer, id: string): Promise<void> {
    const response = await fetch(`${server.url}/msgapp/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
      body: JSON.stringify(envelopeOf([messagesChange(textMessage(id))])),
    })
    assert.equal(response.status, 200)
  }

  /** Asks until the answer has what is waited for: the server writes down what came of a post after the post. */
  async function untilListed(pattern: RegExp, ...flags: string[]): Promise<string> {
    for (;;) {
      const { code, stdout, stderr } = await run('deliveries', 'list', ...flags)
      assert.equal(code, 0, stderr)
      if (pattern.test(stdout)) return stdout
    }
  }

  /** What show prints is what the subscriber got, to the byte. */
  async function assertShowsPost(post: SinkRequest | undefined, id: string, attempt: number): Promise<void> {
    assert.ok(post)
    const signed = ['x-hub-signature-256', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
    const headers = ['user-agent', 'content-type', 'traceparent', ...signed].map(
      (name) => [name, post.headers[name]] as const,
    )
    const { stdout } = await run('deliveries', 'show', id)
    const [, request] = stdout.split(`Attempt ${attempt} sent:\n\n`)
    const lines = headers.map(([name, value]) => `${name}: ${value}\n`)
    assert.match(request ?? stdout, /^POST http\S+\n/)
    assert.equal(request?.slice(request.indexOf('\n') + 1), `${lines.join('')}\n${post.body}\n`)
    const whole = JSON.parse((await run('deliveries', 'show', id, '--json')).stdout)
    assert.equal(whole.attempts.length, attempt)
    assert.deepEqual(whole.request, {
      attempt,
      method: 'POST',
      url: whole.callback_url,
      headers: Object.fromEntries(headers),
      body: post.body.toString(),
      is_signed: true,
    })
  }

  test('list, show and replay what failed; rotate the secret that signs it', async (t) => {
    const subscriber = await startSubscriber(t)
    const server = await startWith(subscriber)
    t.after(() => server.stop('SIGTERM'))
    await handInTo(server, 'wamid.good')
    await subscriber.whenPosted(1)
    subscriber.answerWith((_post, response) => response.writeHead(500).end('broken\u001b[31m\nhere'))
    await handInTo(server, 'wamid.bad')
    await subscriber.whenPosted(2)

    const all = await untilListed(/^2 .* waiting +1 /m)
    assert.match(all, /^ID +RAISED +ACCOUNT +FIELD +STATE +TRIES +CALLBACK/)
    assert.match(all, /^1 +\S+Z +\S+ +messages +delivered +1 +http/m)
    const listed = (await run('deliveries', 'list', '--json')).stdout.trim().split('\n')
    const { created_time, ...delivered } = JSON.parse(listed.at(-1) ?? '')
    assert.match(created_time, /Z$/)
    assert.deepEqual(delivered, {
      id: 1,
      app_id: ids.application,
      account_id: ids.account,
      field: 'messages',
      conversation,
      state: 'delivered',
      attempts: 1,
      callback_url: subscriber.url,
      next_time: null,
    })
    const failed = await untilListed(/waiting/, '--failed', '--account', accounts.private, '--limit', '5')
    assert.ok(!failed.includes('delivered'))
    assert.equal((await run('deliveries', 'list', '--account', accounts.shared)).stdout.trim().split('\n').length, 1)
    assert.equal(
      (await run('deliveries', 'list', '--since', '1h', '--until', '30m')).stdout.trim().split('\n').length,
      1,
    )
    assert.equal((await run('deliveries', 'list', '--limit', '1')).stdout.trim().split('\n').length, 2)

    const shown = await run('deliveries', 'show', '2')
    assert.equal(shown.code, 0, shown.stderr)
    assert.match(shown.stdout, new RegExp(`^Callback +${subscriber.url}$`, 'm'))
    assert.match(shown.stdout, new RegExp(`^Conversation +${conversation}$`, 'm'))
    assert.match(shown.stdout, /^State +waiting, next attempt \S+Z$/m)
    assert.match(shown.stdout, /wamid\.bad/)
    assert.match(shown.stdout, /^1 +\S+Z +\d+ ms +500 +it answered 500 +broken \[31m here$/m)

    const explained = await run('why', 'wamid.bad')
    assert.equal(explained.code, 0, explained.stderr)
    assert.match(
      explained.stdout,
      /^Received from the user\. The business has not marked it as read\.\nShrub CRM at http\S+: Failing: attempt 1 failed \(it answered 500\)\. The next attempt is in 1 h\b.* UTC\. \(delivery 2\)\n$/,
    )

    for (const line of shown.stdout.split('\n').slice(0, 12)) assert.ok(line.length <= 80, line)
    await assertShowsPost(subscriber.posts[0], '1', 1)
    await assertShowsPost(subscriber.posts[1], '2', 1)

    subscriber.answerWith(takeIt)
    const rotated = await run('app', 'rotate-secret', ids.application, '--overlap', '1h')
    assert.equal(rotated.code, 0, rotated.stderr)
    const secret = rotated.stdout.trim()
    assert.match(secret, /^[0-9a-f]{64}$/)
    assert.match(rotated.stderr, /^App 3000000000000001 signs with this secret from now on; it is shown this once\./)
    const replayed = await run('deliveries', 'replay', '2', '1')
    assert.deepEqual([replayed.code, replayed.stdout], [0, '2 deliveries are sent again.\n'])
    await subscriber.whenPosted(4)
    assert.deepEqual(subscriber.messageIds(), ['wamid.good', 'wamid.bad', 'wamid.good', 'wamid.bad'])
    const last = subscriber.posts.at(-1)
    assert.ok(last)
    assert.equal(last.headers['x-hub-signature-256'], signHubByHand(last.body, secret))
    assert.equal(String(last.headers['webhook-signature']).split(' ').length, 2)
    await untilListed(/^2 .* delivered +2 /m)
    await assertShowsPost(last, '2', 2)

    const elsewhere = await startSubscriber(t)
    const moved = await run('deliveries', 'replay', '1', '--to', elsewhere.url)
    assert.deepEqual([moved.code, moved.stdout], [0, 'One delivery is sent again.\n'])
    await elsewhere.whenPosted(1)
    assert.deepEqual(elsewhere.messageIds(), ['wamid.good'])
    assert.deepEqual(elsewhere.posts[0]?.body, subscriber.posts[0]?.body)
    const again = await run('deliveries', 'replay', '--account', ids.account)
    assert.match(again.stdout, /^Replay \w+ has begun\.\n100 %, 2 of about 2\n2 deliveries are sent again\.\n$/)
    await subscriber.whenPosted(6)
    assert.match((await run('deliveries', 'replays')).stdout, /^\w+ +done +100 %, 2 of about 2/m)
    const refused = await runCommand(['deliveries', 'replay', '1', '--to', elsewhere.url], {
      ...options,
      env: { ...options.env, NODE_ENV: 'production' },
    })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^switchboard: --to: it must be an https URL/)
  })

  test('list --watch writes how deliveries stand, again and again, until it is stopped', async () => {
    const line =
      /^(waiting \d+ \| of these tried in vain \d+ \| oldest (?:-|\d+ s) \| delivered in the last minute \d+ \| given up \d+)$/m
    const watching = await startHosted(['deliveries', 'list', '--watch'], { ...options, ready: line })
    await watching.shows(/\n.*\n/)
    const { code, stdout } = await watching.stop('SIGINT')
    assert.equal(code, 0)
    for (const one of stdout.trim().split('\n')) assert.match(one, line)
  })

  for (const [name, args, pattern] of [
    ['a delivery that there is not', ['deliveries', 'show', '999'], /there is no delivery 999/],
    ['what is no delivery', ['deliveries', 'show', 'x'], /x is not the id of a delivery/],
    ['a replay of one that there is not', ['deliveries', 'replay', '1', '999'], /there is no delivery 999/],
    ['why, of what there is not', ['why', 'wamid.none'], /nothing is known of wamid\.none: give the id of/],
    ['a limit that is none', ['deliveries', 'list', '--limit', '0'], /--limit 0 is not a number from 1 to 10000/],
    ['a replay of nothing', ['deliveries', 'replay'], /which deliveries\?/],
    ['a since that is none', ['deliveries', 'list', '--since', 'then'], /--since: it must be a time/],
    ['a time that is none', ['deliveries', 'replay', '--since', 'then'], /--since: it must be a time/],
    ['a replay to stop that there is not', ['deliveries', 'stop-replay', 'x'], /there is no replay x/],
    ['a token where there is no server', ['deliveries', 'list', '--token', 'x'], /--token is for a server/],
    ['an app that there is not', ['app', 'rotate-secret', '3999999999999999'], /3999999999999999 is not an app/],
    [
      'an overlap that is none',
      ['app', 'rotate-secret', ids.application, '--overlap', 'long'],
      /--overlap long is not/,
    ],
  ] as const) {
    test(`one line and exit code 1 for ${name}`, async () => {
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, pattern)
      assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
    })
  }
})
