import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runCommand, startCommand } from './harness/command.ts'
import { makeStorePlace, onBothDatabases, type StorePlace } from './harness/databases.ts'
import { accounts, ids, testWorld, tokens } from './harness/world.ts'

const demoToken = { authorization: 'Bearer demo-token' }
const demoNumber = '/v23.0/4000000000000001?fields=name_status'

function environmentOf(place: StorePlace): Record<string, string> {
  return { DATA_DIR: place.dataDir, ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }) }
}

/** The one line that a person sees when a command cannot do its work. */
function assertOneLine(stderr: string, pattern: RegExp): void {
  assert.match(stderr, pattern)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
}

onBothDatabases('the command line', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  before(async () => {
    place = await makeStorePlace(engine)
    options = { env: environmentOf(place), cwd: place.dataDir }
  })
  after(() => place.remove())

  test('serve fills an empty store with the demo, says one line, stops cleanly, and finds everything as it was', async () => {
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
    assert.equal((await first.stop('SIGTERM')).code, 0)

    const second = await startCommand(['serve', '--port', '0'], options)
    assert.equal(await (await fetch(second.url + demoNumber, { headers: demoToken })).text(), before)
    const account = await (await fetch(`${second.url}/v23.0/1000000000000001`, { headers: demoToken })).json()
    assert.deepEqual(account, { id: '1000000000000001', name: 'Changed' })
    const stopped = await second.stop('SIGINT')
    assert.equal(stopped.code, 0)
    assert.ok(!stopped.stderr.includes('demo-token'), 'no token in the log')
    assert.match(stopped.stderr, /"operation":"phone_numbers.read_info","method":"GET","status":200/)
  })

  test('start greets a newcomer with a curl line that works', async () => {
    const server = await startCommand(['start', '--port', '0'], options)
    const stopped = await server.stop('SIGTERM')
    const line = /^ {4}curl -H '([^:]+): ([^']+)' '([^']+)'$/m.exec(stopped.stdout)
    assert.ok(line, stopped.stdout)
    assert.match(stopped.stdout, /Docs +http:\/\/127\.0\.0\.1:\d+\/docs/)
    assert.match(stopped.stdout, /Token +demo-token/)

    const again = await startCommand(['start', '--port', new URL(server.url).port], options)
    const answer = await fetch(line[3] as string, { headers: { [line[1] as string]: line[2] as string } })
    assert.equal(answer.status, 200)
    await again.stop('SIGTERM')
  })

  test('token create, list and revoke: the token works until it is revoked, and its secret is shown once', async () => {
    const created = await runCommand(
      ['token', 'create', '--app', '3000000000000001', '--account', '1000000000000001', '--expires', '60d'],
      options,
    )
    assert.equal(created.code, 0, created.stderr)
    const secret = created.stdout.trim()
    assert.match(secret, /^sb_[\w-]{43}$/)
    const id = /Token (\S+) was made/.exec(created.stderr)?.[1] as string

    const listed = await runCommand(['token', 'list'], options)
    assert.match(listed.stdout, new RegExp(`^${id} .*3000000000000001 .*1000000000000001 .*good$`, 'm'))
    assert.ok(!listed.stdout.includes(secret))

    const server = await startCommand(['serve', '--port', '0'], options)
    const read = () => fetch(server.url + demoNumber, { headers: { authorization: `Bearer ${secret}` } })
    assert.equal((await read()).status, 200)
    assert.equal((await runCommand(['token', 'revoke', id], options)).code, 0)
    assert.equal((await read()).status, 401)
    await server.stop('SIGTERM')
    assert.match((await runCommand(['token', 'list'], options)).stdout, new RegExp(`^${id} .*revoked$`, 'm'))
  })

  test('audit list shows the newest writes first, of all accounts or of one, and no secret', async () => {
    const server = await startCommand(['serve', '--port', '0'], options)
    const [first, second] = ['1000000000000001', '1000000000000002'] as const
    const traces: string[] = []
    for (const account of [first, second, first]) {
      const answer = await fetch(`${server.url}/v23.0/${account}`, { method: 'POST', headers: demoToken })
      assert.equal(answer.status, 200)
      traces.push(answer.headers.get('x-svctrace-id') as string)
    }
    await server.stop('SIGTERM')
    const list = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(['audit', 'list', ...args], options)
      assert.deepEqual([code, stderr], [0, ''])
      assert.ok(!stdout.includes('demo-token'))
      return stdout.trimEnd().split('\n')
    }
    const cellsIn = ([, ...lines]: string[], column: number) => lines.map((line) => line.split(/ +/).at(column) ?? '')

    const all = await list('--limit', '3')
    assert.match(all[0] ?? '', /^TIME +OPERATION +NODE +KIND +ACCOUNT +APP +BUSINESS +TOKEN +FROM +TRACE$/)
    for (const line of all.slice(1)) {
      assert.match(
        line,
        /^\S+Z {2}account\.update {2}(\d{16}) {2}account {2}\1 {2}3000000000000001 {2}2000000000000001 {2}t[0-9a-f]{16} {2}127\.0\.0\.1 {2}[0-9a-f]{32}$/,
      )
    }
    assert.deepEqual(cellsIn(all, -1).toSorted(), traces.toSorted(), 'the newest, not those of earlier tests')
    assert.deepEqual(cellsIn(all, 0), cellsIn(all, 0).toSorted().reverse())
    assert.deepEqual(cellsIn(await list('--account', second, '--limit', '1'), -1), [traces[1]])
    assert.ok(cellsIn(await list(), -1).length >= 3)
  })

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
    const { code, stdout } = await runCommand(['migrate'], options)
    assert.deepEqual([code, stdout], [0, 'The schema is up to date.\n'])
  })
})

onBothDatabases('the command apply', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  before(async () => {
    place = await makeStorePlace(engine)
    options = { env: environmentOf(place), cwd: place.dataDir }
  })
  after(() => place.remove())

  test('apply brings the store to what a file says, twice the same', async () => {
    const file = join(place.dataDir, 'world.json')
    await writeFile(file, JSON.stringify({ ...testWorld(), businesses: testWorld().businesses }))
    for (const _ of [1, 2]) {
      const applied = await runCommand(['apply', file], options)
      assert.equal(applied.code, 0, applied.stderr)
    }
    const server = await startCommand(['serve', '--port', '0'], options)
    const answer = await fetch(`${server.url}/v23.0/${accounts.shared}`, {
      headers: { authorization: `Bearer ${tokens.partner}` },
    })
    assert.equal(((await answer.json()) as { id: string }).id, accounts.shared)
    await server.stop('SIGTERM')
  })

  test('apply refuses a bad file whole, with the place, and exit code 1', async () => {
    const world = testWorld()
    const [account] = world.accounts
    const [number] = account?.phone_numbers ?? []
    assert.ok(account && number)
    account.name = 'Must not be stored'
    number.display_phone_number = 'not a number'
    const file = join(place.dataDir, 'bad.json')
    await writeFile(file, JSON.stringify(world))
    const { code, stderr } = await runCommand(['apply', file], options)
    assert.equal(code, 1)
    assertOneLine(stderr, /accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: /)
    const server = await startCommand(['serve', '--port', '0'], options)
    const answer = await fetch(`${server.url}/v23.0/${ids.account}`, {
      headers: { authorization: `Bearer ${tokens.owner}` },
    })
    assert.notEqual(((await answer.json()) as { name: string }).name, 'Must not be stored')
    await server.stop('SIGTERM')
  })
})

describe('what cannot start', () => {
  let place: StorePlace
  before(async () => {
    place = await makeStorePlace('sqlite')
  })
  after(() => place.remove())

  const fails = (args: string[], env: Record<string, string>) =>
    runCommand(args, { env: { DATA_DIR: place.dataDir, ...env }, cwd: place.dataDir })

  test('a taken port: one line, exit code 1', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port))
    })
    const { code, stderr } = await fails(['serve', '--port', String(port)], { LOG_LEVEL: 'silent' })
    taken.close()
    assert.equal(code, 1)
    assertOneLine(stderr, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken: .*--port N, or PORT=N npm start`))
  })

  for (const [name, args, env, pattern] of [
    ['a bad setting', ['serve'], { PORT: 'eighty' }, /PORT is "eighty"; it must be an integer/],
    ['a bad flag', ['serve', '--port', '99999'], {}, /PORT is "99999"/],
    [
      'a database that nobody answers for',
      ['serve'],
      { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/none' },
      /cannot reach the database of DATABASE_URL: connect ECONNREFUSED/,
    ],
    [
      'a data folder that is a file',
      ['serve'],
      { DATA_DIR: '/dev/null/data' },
      /cannot open the database file \/dev\/null\/data/,
    ],
    ['a world file that is not there', ['serve', '--world', 'nowhere.yaml'], {}, /nowhere\.yaml/],
    [
      'a host that is not ours',
      ['serve', '--port', '0'],
      { HOST: '192.0.2.1' },
      /192\.0\.2\.1 is not an address of this machine/,
    ],
    [
      'a host that is no address at all',
      ['serve', '--port', '0'],
      { HOST: '999.0.0.1' },
      /HOST 999\.0\.0\.1 is not an address of this machine/,
    ],
  ] as const) {
    test(`${name}: one line, exit code 1`, async () => {
      const { code, stderr } = await fails([...args], { LOG_LEVEL: 'silent', ...env })
      assert.equal(code, 1)
      assertOneLine(stderr, pattern)
      assert.ok(!stderr.includes('secret'))
    })
  }

  test('a command that there is not: exit code 1 and a pointer to the help', async () => {
    const { code, stderr } = await fails(['fly'], {})
    assert.equal(code, 1)
    assert.match(stderr, /unknown command 'fly'\n\(see \.\/switchboard --help\)/)
  })

  test('a command that lacks something: exit code 1 and a pointer to its own help', async () => {
    const { code, stderr } = await fails(['simulate', 'message'], {})
    assert.equal(code, 1)
    assert.match(stderr, /required option '--to <id>' .*\n\(see \.\/switchboard simulate message --help\)/)
  })
})
