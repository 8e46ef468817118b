import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runCommand } from './harness/command.ts'
import { onOneDatabase } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { subscribe } from './harness/subscriber.ts'
import { handInText } from './harness/webhooks.ts'
import { ids, tokens } from './harness/world.ts'

/** Commands on a machine that has no store: they ask a server. */
onOneDatabase('commands against a running server', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { REPLAY_AT_ONCE: '0' } })
  const held = { folder: '' }
  before(async () => {
    held.folder = await mkdtemp(join(tmpdir(), 'switchboard-remote-'))
  })
  after(() => rm(held.folder, { recursive: true, force: true }))

  const run = (args: readonly string[], token: string = tokens.operator) => {
    const env = { SWITCHBOARD_URL: server.url, SWITCHBOARD_TOKEN: token, DATA_DIR: join(held.folder, 'none') }
    return runCommand(args, { cwd: held.folder, env })
  }
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const readLines = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))

  test('status shows how the server is', async () => {
    const state = JSON.parse(await succeed('status', '--json'))
    assert.equal(state.counts.business, 3)
    assert.match(await succeed('status'), /^Server +http.*\nVersion .*\nStore .*\nSandbox +yes/)
  })

  test('find asks the server', async () => {
    const found = readLines(await succeed('find', 'lucky', 'shrub', '--kind', 'business', '--json'))
    assert.deepEqual(
      found.map(({ kind, id, title }) => [kind, id, title]),
      [['business', ids.business, 'Lucky Shrub']],
    )
    const { code, stderr } = await run(['find', '?!'])
    assert.deepEqual([code, /answered 400: .*a letter or a digit/.test(stderr)], [1, true], stderr)
  })

  test('every command takes its token from a flag too', async () => {
    for (const args of [['status'], ['wait', 'request', '--since', '1h'], ['token', 'list'], ['deliveries', 'list']]) {
      const refused = await run([...args, '--token', 'none'])
      assert.match(
        refused.stderr,
        /answered 401: .*--token or SWITCHBOARD_TOKEN;.*token create .*--scope operator/,
        args[0],
      )
      const { code, stderr } = await run([...args, '--token', tokens.operator], 'none')
      assert.equal(code, 0, stderr)
    }
  })

  test('clock, snapshot, faults and reset work on the sandbox', async () => {
    const ask = async (...args: string[]) => JSON.parse(await succeed(...args))
    const file = join(held.folder, 'faults.json')
    const rule = { match: { operation: 'account.read' }, rate: 0.5, times: 1, effect: { delay: '1s' } }
    await writeFile(file, JSON.stringify([rule]))
    assert.equal((await ask('snapshot', 'save', 'at-first')).name, 'at-first')
    assert.equal((await ask('clock', '--advance', '24h')).offset, 86_400_000)
    assert.equal((await ask('clock')).offset, 86_400_000)
    assert.deepEqual((await ask('faults', 'set', file)).rules, [{ ...rule, hits: 0 }])
    assert.deepEqual((await ask('snapshot', 'list')).data.length, 1)
    assert.deepEqual(await ask('snapshot', 'restore', 'at-first'), { success: true })
    assert.equal((await ask('clock', '--real')).offset, 0)
    assert.deepEqual((await ask('faults', 'list')).rules, [])
    assert.deepEqual((await ask('faults', 'clear')).rules, [])
    assert.deepEqual(await ask('snapshot', 'delete', 'at-first'), { success: true })
    assert.equal((await ask('reset')).success, true)
    const refused = await run(['snapshot', 'restore', 'never'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /answered 404: /)
  })

  test('token create, list and revoke', async () => {
    server.clock.advance(1000)
    const create = ['token', 'create', '--app', ids.application, '--scope', 'operator', '--name']
    const secret = (await succeed(...create, 'Nightly')).trim()
    assert.match(secret, /^sb_/)
    assert.equal((await run(['status'], secret)).code, 0)
    const listed = readLines(await succeed('token', 'list', '--json'))
    const made = listed.at(-1)
    assert.deepEqual([made.state, made.scopes], ['good', ['operator']])
    assert.deepEqual([made.name, typeof made.created_by], ['Nightly', 'string'])
    assert.match(await succeed('token', 'list'), /^ID .* NAME +LAST USED +BY /)
    await succeed(...create, 'Nightly')
    assert.match(
      (await run(['token', 'revoke', 'Nightly'])).stderr,
      /: 2 tokens have the name Nightly: give the id of one/,
    )
    assert.equal(await succeed('token', 'revoke', made.id), `Token ${made.id} is revoked.\n`)
    assert.match(await succeed('token', 'revoke', 'Nightly'), /^Token \w+, Nightly, is revoked\.\n$/)
    assert.match((await run(['token', 'revoke', 'Nightly'])).stderr, /: there is no token Nightly: see/)
    const refused = await run(['status'], secret)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /answered 401: /)
  })

  test('deliveries list, show and replay; why; wait; audit', async (t) => {
    const subscriber = await subscribe(t, server)
    await handInText(server, 'remote.1')
    await server.app.settle()
    const [delivery] = readLines(await succeed('deliveries', 'list', '--json', '--limit', '1'))
    assert.equal(delivery.state, 'delivered')
    assert.match(await succeed('deliveries', 'list', '--failed'), /^(?:ID .*|Nothing.*)?/)
    const listed = (...period: string[]) => succeed('deliveries', 'list', '--json', ...period).then(readLines)
    assert.deepEqual(
      (await listed('--since', '1h')).map(({ id }) => id),
      [delivery.id],
    )
    assert.deepEqual(await listed('--since', '1h', '--until', '30m'), [])
    const shown = JSON.parse(await succeed('deliveries', 'show', String(delivery.id), '--json'))
    assert.equal(shown.tries[0].request.body, subscriber.posts[0]?.body.toString('latin1'))
    const explained = await succeed('why', 'remote.1')
    const [sentence, line] = explained.split('\n')
    assert.equal(sentence, 'Received from the user. The business has not marked it as read.')
    assert.equal(
      line,
      `Shrub CRM at ${subscriber.url}: Delivered at the first attempt, 0 ms after the event. (delivery ${delivery.id})`,
    )
    const { kind, subscribers } = JSON.parse(await succeed('why', 'remote.1', '--json'))
    assert.deepEqual([kind, subscribers[0].delivery_id], ['message', String(delivery.id)])
    const unknown = await run(['why', 'remote.none'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /^switchboard: nothing is known of remote\.none: /)
    assert.equal(await succeed('deliveries', 'replay', String(delivery.id)), 'One delivery is sent again.\n')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['remote.1', 'remote.1'])
    const message = JSON.parse(await succeed('wait', 'message', '--since', '1h', '--timeout', '5s'))
    assert.equal(message.type, 'message')
    const late = await run(['wait', 'call', '--timeout', '10ms'])
    assert.equal(late.code, 1)
    assert.match(late.stderr, /answered 408: /)
    const [record] = readLines(await succeed('audit', 'list', '--json', '--limit', '1'))
    assert.equal(record.operation, 'operator.replay_deliveries')
  })

  test('deliveries replay by filter, replays and stop-replay', async (t) => {
    const subscriber = await subscribe(t, server)
    server.clock.advance(86_400_000)
    for (const id of ['some.1', 'some.2', 'some.3']) await handInText(server, id)
    await server.app.settle()
    const found = ['--field', 'messages', '--since', '1h']
    const text = await succeed('deliveries', 'replay', '--state', 'delivered', ...found)
    assert.match(
      text,
      /^Replay (\w+) has begun\.\n(?:\d+ %, .*\n)*100 %, 3 of about 3\n3 deliveries are sent again\.\n$/,
    )
    await server.app.settle()
    assert.equal(subscriber.messageIds().length, 6)
    server.clock.advance(1000)
    const [, id] = /^Replay (\w+) has begun:/.exec(await succeed('deliveries', 'replay', '--no-wait', ...found)) ?? []
    assert.ok(id)
    await server.app.settle()
    assert.equal(subscriber.messageIds().length, 9)
    const [listed] = readLines(await succeed('deliveries', 'replays', '--json'))
    assert.deepEqual([listed.id, listed.state, listed.replayed], [id, 'done', 3])
    const stopped = await succeed('deliveries', 'stop-replay', id)
    assert.equal(stopped, `Replay ${id} had ended before: 3 deliveries are sent again.\n`)
    for (const args of [[], ['1', '--state', 'failed'], ['--state', 'lost'], ['--since', 'then']]) {
      assert.equal((await run(['deliveries', 'replay', ...args])).code, 1, args.join(' '))
    }
  })

  test('export and apply', async () => {
    const text = await succeed('export')
    assert.match(text, /^businesses:\n/)
    const file = join(held.folder, 'world.yaml')
    await writeFile(file, text)
    assert.match(await succeed('apply', file), /: 0 created, 0 updated, \d+ unchanged\.\n$/)
    await writeFile(file, 'businesses: [{ id: 1 }]')
    const refused = await run(['apply', file])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /businesses\[0\]\.id/)
  })

  test('app rotate-secret prints the new secret', async () => {
    assert.match(await succeed('app', 'rotate-secret', ids.application), /^[\da-f]{64}\n$/)
  })

  test('an address that is none, one where nothing listens, and one of a page are said in one line', async (t) => {
    const page = await startSink(t, (_request, response) => response.end('<html></html>'))
    for (const [url, expected] of [
      ['localhost:1', /--url localhost:1 is not an http or https URL/],
      ['http://a:b@127.0.0.1:1', /is not an http or https URL .*without a password/],
      ['http://127.0.0.1:1', /cannot be reached .*--url or SWITCHBOARD_URL/],
      [page.url, /answered 200 as no Switchboard does \(<html>.*\): give the address of the server alone/],
    ] as const) {
      const { code, stderr } = await run(['status', '--url', url])
      assert.equal(code, 1)
      assert.match(stderr, expected)
    }
  })
})
