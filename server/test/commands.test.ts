import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type RunningServer, runCommand, runProcess, startCommand } from './harness/command.ts'
import { makeStorePlace, onOneDatabase, type StorePlace } from './harness/databases.ts'
import { DialogBrowser } from './harness/dialog.ts'
import { accounts, ids, testWorld, tokens } from './harness/world.ts'

const demoToken = { authorization: 'Bearer demo-token' }
const demoNumber = '/v23.0/4000000000000001?fields=name_status'

function optionsOf({ dataDir, databaseUrl }: StorePlace): { env: Record<string, string>; cwd: string } {
  return { env: { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }, cwd: dataDir }
}

/** The one line that a person sees when a command cannot do its work. */
function assertOneLine(stderr: string, pattern: RegExp): void {
  assert.match(stderr, pattern)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
}

onOneDatabase('serve and start', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  before(async () => {
    place = await makeStorePlace(engine)
    options = optionsOf(place)
  })
  after(() => place.remove())

  test('serve fills an empty store with the demo, says one line, stops cleanly, and start finds everything as it was', async () => {
    const first = await startCommand(['serve', '--port', '0'], options)
    assert.match(first.stdout(), /^switchboard listening on http:\/\/127\.0\.0\.1:\d+\n$/)
    const before = await (await fetch(first.url + demoNumber, { headers: demoToken })).text()
    assert.match(before, /"name_status":"APPROVED"/)
    assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
    const changed = await fetch(`${first.url}/v23.0/1000000000000001`, {
      method: 'POST',
      headers: { ...demoToken, 'content-type': 'application/json' },
      body: '{"name":"Changed"}',
    })
    assert.equal(changed.status, 200)
    // A terminal sends it to every process, and npm passes it on.
    process.kill(first.pid, 'SIGINT')
    const stopped = await first.stop('SIGINT')
    assert.equal(stopped.code, 0)
    assert.ok(!stopped.stderr.includes('demo-token'), 'no token in the log')
    assert.match(stopped.stderr, /"operation":"phone_numbers.read_info","method":"GET","status":200/)
    assert.match(stopped.stderr, /"msg":"stopped"\}\n$/, 'the last line too')

    const second = await startCommand(['start', '--port', '0'], {
      ...options,
      env: { ...options.env, LOG_FORMAT: 'pretty' },
    })
    const [, header = '', value = '', url = ''] = await second.shows(/^ {4}curl -H '([^:]+): ([^']+)' '([^']+)'$/m)
    assert.match(second.stdout(), /Docs +http:\/\/127\.0\.0\.1:\d+\/docs/)
    assert.match(second.stdout(), /Token +demo-token/)
    assert.equal(await (await fetch(url, { headers: { [header]: value } })).text(), before)
    const account = await (await fetch(`${second.url}/v23.0/1000000000000001`, { headers: demoToken })).json()
    assert.deepEqual(account, { id: '1000000000000001', name: 'Changed' })
    await fetch(`${second.url}/secret-path?access_token=demo-token`)
    const { code, stderr } = await second.stop('SIGTERM')
    assert.equal(code, 0)
    assert.match(
      stderr,
      /^\S+ 200 {2}GET {5}phone_numbers\.read_info {2}\/:version\/:id {2}[\d.]+ ms {2}business 2000000000000001 {2}app 3000000000000001 {2}node 4000000000000001 {2}trace [\da-f]{32}$/m,
    )
    assert.match(stderr, /^\S+ 404 {2}GET {5}unknown {2}no such path {2}/m)
    assert.match(stderr, /^\S+ INFO {2}stopped\n$/m)
    assert.ok(!/demo-token|secret-path/.test(stderr), 'neither a token nor what a caller wrote')
  })
})

onOneDatabase('the command line', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  let server: RunningServer
  before(async () => {
    place = await makeStorePlace(engine)
    options = optionsOf(place)
    server = await startCommand(['serve', '--port', '0'], options)
  })
  after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  /** What a list prints with --json, which is all that is known. */
  async function list(...args: string[]): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await runCommand([...args, '--json'], options)
    assert.deepEqual([code, stderr], [0, ''])
    assert.ok(!stdout.includes('demo-token'))
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  test('console link: prints a link that signs in once, limited as asked, and refuses a limit that is none', async () => {
    const made = await runCommand(['console', 'link', '--for', 'Ada', '--business', '2000000000000002'], options)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stderr, /works once, within 1h, and signs in as Ada/)
    const code = /^http:\/\/\S+\/#enter=(sb_[\w-]{43})\n$/.exec(made.stdout)?.[1] as string
    const signIn = () => fetch(`${server.url}/console/session`, { method: 'POST', headers: { 'x-console-code': code } })
    const first = await signIn()
    const { name, limited } = (await first.json()) as Record<string, unknown>
    assert.deepEqual([name, limited], ['Ada', true])
    assert.equal((await signIn()).status, 403)
    const refused = await runCommand(['console', 'link', '--business', '1000000000000001'], options)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /--business 1000000000000001 is no business of this store/)
  })

  test('user link: prints a code that signs a person in to the sign-up, and refuses who is none', async () => {
    const made = await runCommand(['user', 'link', '2300000000000001', '--expires', '30m'], options)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^[\w-]{43}\n$/)
    assert.match(made.stderr, /works once, within 30m, and signs in as .+@/)
    const browser = new DialogBrowser(server)
    const redirect_uri = 'http://127.0.0.1:9000/connected'
    await browser.open({ client_id: '3000000000000002', redirect_uri, state: 's', response_type: 'code' })
    assert.equal((await browser.send('sign-in', { code: made.stdout.trim() })).url, '/dialog/business')
    for (const wrong of [['1000000000000001'], ['2300000000000001', '--expires', '0m']]) {
      const refused = await runCommand(['user', 'link', ...wrong], options)
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, /1000000000000001 is no person|--expires 0m is not a duration/)
    }
  })

  test('console link: works in a store that is empty', async () => {
    const empty = await makeStorePlace(engine)
    try {
      const inEmpty = optionsOf(empty)
      assert.equal((await runCommand(['migrate'], inEmpty)).code, 0)
      const made = await runCommand(['console', 'link'], inEmpty)
      assert.equal(made.code, 0, made.stderr)
      assert.match(made.stdout, /#enter=sb_/)
    } finally {
      await empty.remove()
    }
  })

  test('token create, list and revoke: the token works until it is revoked, and its secret is shown once', async () => {
    const created = await runProcess(
      ['token', 'create', '--app', '3000000000000001', '--account', '1000000000000001', '--expires', '60d'],
      options,
    )
    assert.equal(created.code, 0, created.stderr)
    const secret = created.stdout.trim()
    assert.match(secret, /^sb_[\w-]{43}$/)
    const id = /Token (\S+) was made/.exec(created.stderr)?.[1] as string

    const find = async () => (await list('token', 'list')).find((token) => token['id'] === id)
    const { created_time, expires_time, ...listed } = (await find()) ?? {}
    assert.deepEqual(listed, {
      id,
      app_id: '3000000000000001',
      scopes: ['msgapp_business_management', 'msgapp_business_messaging'],
      accounts: ['1000000000000001'],
      businesses: null,
      name: null,
      created_by: null,
      revoked_time: null,
      last_used_time: null,
      state: 'good',
    })
    assert.equal(Date.parse(String(expires_time)) - Date.parse(String(created_time)), 60 * 24 * 3_600_000)

    const read = () => fetch(server.url + demoNumber, { headers: { authorization: `Bearer ${secret}` } })
    assert.equal((await read()).status, 200)
    assert.equal((await runCommand(['token', 'revoke', id], options)).code, 0)
    assert.equal((await read()).status, 401)
    assert.equal((await find())?.['state'], 'revoked')
    const { stdout } = await runCommand(['token', 'list'], options)
    assert.match(stdout, /^ID +STATE +FOR +ACCOUNTS +EXPIRES/)
    assert.match(stdout, new RegExp(`^${id} +revoked +\\S+0001 +\\S+0001 +\\S+Z `, 'm'))
    assert.ok(!stdout.includes(secret))
  })

  test('find shows what has a number, an id or words, in the store itself, as a table of 80 columns at the most or as JSON', async () => {
    const [user] = await list('find', '+1', '650', '555', '1234', '--kind', 'user')
    assert.deepEqual([user?.['id'], user?.['link']], ['16505551234', '/?phones=16505551234'])
    const found = await list('find', 'lucky shrub', '--limit', '2')
    assert.equal(found.length, 2)
    assert.deepEqual(await list('find', 'lucky', '--until', '2020-01-01'), [])
    const { stdout } = await runCommand(['find', 'lucky', 'shrub', '--kind', 'phone_number'], options)
    assert.match(stdout, /^TIME +KIND +TITLE +ID +LINK\n\S+Z +phone_number +Lucky Shrub/)
    for (const [args, says] of [
      [['?!'], /q: .*a letter or a digit/],
      [['x', '--kind', 'nonsense'], /--kind: .*message, delivery/],
      [['x', '--since', 'nonsense'], /--since: /],
      [['x', '--limit', '0'], /--limit 0 is not a number from 1 to 1000/],
    ] as const) {
      const refused = await runCommand(['find', ...args], options)
      assert.equal(refused.code, 1)
      assertOneLine(refused.stderr, says)
    }
  })

  test('audit list shows the newest writes first, of all accounts or of one, and no secret', async () => {
    const [first, second] = ['1000000000000001', '1000000000000002'] as const
    const traces: string[] = []
    for (const account of [first, second, first]) {
      const answer = await fetch(`${server.url}/v23.0/${account}`, { method: 'POST', headers: demoToken })
      assert.equal(answer.status, 200)
      traces.push(answer.headers.get('x-svctrace-id') as string)
    }
    const all = await list('audit', 'list', '--limit', '3')
    for (const { time, node_id, trace: _, actor_token_id, ...record } of all) {
      assert.match(String(time), /^\S+Z$/)
      assert.match(String(actor_token_id), /^t[0-9a-f]{16}$/)
      assert.deepEqual(record, {
        operation: 'account.update',
        node_kind: 'account',
        account_id: node_id,
        actor_app_id: '3000000000000001',
        actor_business_id: '2000000000000001',
        remote_address: '127.0.0.1',
      })
    }
    const pick = (records: Record<string, unknown>[], name: string) => records.map((record) => String(record[name]))
    assert.deepEqual(pick(all, 'trace').toSorted(), traces.toSorted(), 'the newest, not those of earlier tests')
    assert.deepEqual(pick(all, 'time'), pick(all, 'time').toSorted().reverse())
    assert.deepEqual(pick(await list('audit', 'list', '--account', second, '--limit', '1'), 'trace'), [traces[1]])
    assert.ok((await list('audit', 'list')).length >= 3)
    const { stdout } = await runCommand(['audit', 'list', '--limit', '1'], options)
    assert.match(
      stdout,
      /^TIME +OPERATION +NODE +BY +FROM +TRACE +APP +ACCOUNT +BUSINESS +KIND\n\S+Z {2}account\.update {2}/,
    )
  })

  for (const command of ['token', 'audit', 'deliveries', 'signing-key']) {
    test(`${command} list is whole in a pipe`, async () => {
      const { code, stdout } = await runCommand([command, 'list'], options)
      assert.equal(code, 0)
      assert.doesNotMatch(stdout, /…/)
    })
  }

  for (const [name, args, pattern] of [
    [
      'an app that there is not',
      ['token', 'create', '--app', '3999999999999999'],
      /--app 3999999999999999 is not an app/,
    ],
    [
      'an account that there is not',
      ['token', 'create', '--app', '3000000000000001', '--account', '1'],
      /--account 1 is not an account/,
    ],
    [
      'a scope that there is not',
      ['token', 'create', '--app', '3000000000000001', '--scope', 'all'],
      /--scope all is not one of/,
    ],
    [
      'a lifetime that is none',
      ['token', 'create', '--app', '3000000000000001', '--expires', 'soon'],
      /--expires soon is not a duration/,
    ],
    ['a token that there is not', ['token', 'revoke', 't0'], /there is no token t0/],
    [
      'the record of an account that there is not',
      ['audit', 'list', '--account', '1'],
      /--account 1 is not an account of this store/,
    ],
    ['a limit below 1', ['audit', 'list', '--limit', '0'], /--limit 0 is not a number from 1 to 10000/],
    ['a limit that is too high', ['audit', 'list', '--limit', '10001'], /--limit 10001 is not a number/],
    ['a limit that is no number', ['audit', 'list', '--limit', 'all'], /--limit all is not a number/],
  ] as const) {
    test(`one line and exit code 1 for ${name}`, async () => {
      const { code, stdout, stderr } = await runCommand(args, options)
      assert.deepEqual([code, stdout], [1, ''])
      assertOneLine(stderr, pattern)
    })
  }

  test('migrate says what it did', async () => {
    for (const args of [['migrate'], ['migrate', '--check']]) {
      const { code, stdout } = await runCommand(args, options)
      assert.deepEqual([code, stdout], [0, 'The schema is up to date.\n'])
    }
  })
})

onOneDatabase('where there is no store', 'sqlite', (engine) => {
  let place: StorePlace
  before(async () => {
    place = await makeStorePlace(engine)
  })
  after(() => place.remove())

  for (const args of [
    ['token', 'list'],
    ['token', 'create', '--app', '3000000000000001'],
    ['deliveries', 'list'],
    ['deliveries', 'show', '1'],
    ['audit', 'list'],
    ['signing-key', 'list'],
    ['listen'],
    ['export'],
  ]) {
    test(`${args.slice(0, 2).join(' ')} says so and makes none`, async () => {
      const { env, cwd } = optionsOf(place)
      const folder = join(cwd, 'none')
      // Twice: the first must not have made what the second would find.
      for (const _ of [1, 2]) {
        const { code, stdout, stderr } = await runCommand(args, { env: { ...env, DATA_DIR: folder }, cwd })
        assert.deepEqual([code, stdout], [1, ''])
        assertOneLine(
          stderr,
          engine === 'sqlite' ? /there is no store in \S+none: / : /there is no store in the database/,
        )
      }
      assert.deepEqual(await readdir(cwd), [])
    })
  }
})

onOneDatabase('the command apply', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  before(async () => {
    place = await makeStorePlace(engine)
    options = optionsOf(place)
  })
  after(() => place.remove())

  test('apply brings the store to what a file says, twice the same, and refuses a bad file whole, with the place', async () => {
    const file = join(place.dataDir, 'world.json')
    await writeFile(file, JSON.stringify({ ...testWorld(), businesses: testWorld().businesses }))
    for (const _ of [1, 2]) {
      const applied = await runCommand(['apply', file], options)
      assert.equal(applied.code, 0, applied.stderr)
    }

    const world = testWorld()
    const [account] = world.accounts
    const [number] = account?.phone_numbers ?? []
    assert.ok(account && number)
    account.name = 'Must not be stored'
    number.display_phone_number = 'not a number'
    const bad = join(place.dataDir, 'bad.json')
    await writeFile(bad, JSON.stringify(world))
    const { code, stderr } = await runCommand(['apply', bad], options)
    assert.equal(code, 1)
    assertOneLine(stderr, /accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: /)

    const server = await startCommand(['serve', '--port', '0'], options)
    const read = async (id: string, token: string) => {
      const answer = await fetch(`${server.url}/v23.0/${id}`, { headers: { authorization: `Bearer ${token}` } })
      return (await answer.json()) as { id: string; name: string }
    }
    assert.equal((await read(accounts.shared, tokens.partner)).id, accounts.shared)
    assert.notEqual((await read(ids.account, tokens.owner)).name, 'Must not be stored')
    await server.stop('SIGTERM')
  })
})
