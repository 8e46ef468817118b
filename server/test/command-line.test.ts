import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { runCommand, runProcess } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'

const main = new URL('../src/main.js', import.meta.url).pathname

/** The one line that a person sees when a command cannot do its work. */
function assertOneLine(stderr: string, pattern: RegExp): void {
  assert.match(stderr, pattern)
  assert.match(stderr, /^switchboard: [^\n]+\n$/, 'one line, without a stack')
}

test('a reader that closes the pipe is no failure', async () => {
  const script = '{ "$0" --disable-warning=ExperimentalWarning "$1" version; echo "ended with $?" >&2; } | true'
  const { stderr } = await promisify(execFile)('sh', ['-c', script, process.execPath, main])
  assert.equal(stderr, 'ended with 0\n')
})

describe('what cannot start', () => {
  let place: StorePlace
  before(async () => {
    place = await makeStorePlace('sqlite')
  })
  after(() => place.remove())

  const optionsWith = (env: Record<string, string>) => ({
    env: { DATA_DIR: place.dataDir, LOG_LEVEL: 'silent', ...env },
    cwd: place.dataDir,
  })

  test('a taken port: one line, exit code 1, and nothing is left behind', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port))
    })
    const folder = join(place.dataDir, 'new')
    const { code, stderr } = await runProcess(['serve', '--port', String(port)], optionsWith({ DATA_DIR: folder }))
    taken.close()
    assert.equal(code, 1)
    assert.ok(!existsSync(folder))
    assertOneLine(stderr, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken: .*--port N, or set PORT`))
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
      // Who got as far as listening has begun more than it ends by itself.
      const run = 'HOST' in env ? runProcess : runCommand
      const { code, stderr } = await run(args, optionsWith(env))
      assert.equal(code, 1)
      assertOneLine(stderr, pattern)
      assert.ok(!stderr.includes('secret'))
    })
  }
})

describe('help', () => {
  const run = (args: string[], env: Record<string, string> = {}) => runCommand(args, { env, cwd: import.meta.dirname })

  test('a command that there is not: exit code 1 and a pointer to the help', async () => {
    const { code, stderr } = await run(['fly'])
    assert.equal(code, 1)
    assert.match(stderr, /unknown command 'fly'\n\(see \.\/switchboard --help\)/)
  })

  test('a command that lacks something: exit code 1 and a pointer to its own help', async () => {
    const { code, stderr } = await run(['simulate', 'message'])
    assert.equal(code, 1)
    assert.match(stderr, /required option '--to <id>' .*\n\(see \.\/switchboard simulate message --help\)/)
  })

  test('the version, in every way that people ask for it', async () => {
    for (const args of [['--version'], ['-v'], ['version']]) {
      const { code, stdout } = await run(args)
      assert.equal(code, 0)
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    }
    assert.match((await runProcess(['-v'], { cwd: import.meta.dirname })).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  test('the defaults are those that hold: of token create, and the port of the environment', async () => {
    const { stdout } = await run(['token', 'create', '--help'])
    const text = stdout.replaceAll(/\s+/g, ' ')
    assert.match(text, /--scope <scope> a permission; repeat for several \(default: both business scopes\) --account/)
    assert.match(text, /repeat for several \(default: all that the app's business sees\) --business/)
    for (const [env, port] of [
      [{}, 8080],
      [{ PORT: '8099' }, 8099],
    ] as const) {
      assert.match((await run(['serve', '--help'], env)).stdout, new RegExp(`default: PORT,\\s+${port}\\)`))
      assert.match(
        (await run(['simulate', 'join', '--help'], env)).stdout,
        new RegExp(`http://127\\.0\\.0\\.1:${port}\\)`),
      )
    }
  })
})
