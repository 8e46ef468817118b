import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '../src/base/keys/random.ts'
import { systemClock } from '../src/base/time/clock.ts'
import { applyWorld } from '../src/world/apply.ts'
import { demoSecrets } from '../src/world/guessable-secrets.ts'
import { readWorld, readWorldFile, WorldRefused } from '../src/world/read.ts'
import { runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, type StorePlace, useTestDatabase } from './harness/databases.ts'
import { dumpStore } from './harness/dump.ts'

const demo = new URL('../../worlds/demo.yaml', import.meta.url)
const business = { id: '2000000000000001', name: 'Lucky Shrub' }
const app = { id: '3000000000000001', business_id: business.id }
const letters = 'abcdefghijklmnopqrstuvwxyz'

const worldWith = (token: string, secret: string, verify_token: string) => ({
  businesses: [business],
  apps: [{ ...app, secret, webhook: { callback_url: 'https://hook.example/', verify_token } }],
  tokens: [{ token, app_id: app.id }],
})

test('what is known of the demo world is what it holds', async () => {
  const { tokens, apps } = (await readWorldFile(demo)).content as {
    tokens: { token: string }[]
    apps: { secret?: string; webhook?: { verify_token?: string } }[]
  }
  const held = [
    ...tokens.map(({ token }) => token),
    ...apps.flatMap(({ secret, webhook }) => [secret, webhook?.verify_token]),
  ]
  assert.deepEqual(new Set(held.filter((secret) => secret !== undefined)), demoSecrets)
})

onOneDatabase('the secrets of a world that is applied in production', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)
  const apply = (content: object, production = true) =>
    applyWorld(store.database, systemClock, systemRandom, readWorld(JSON.stringify(content), 'w'), { production })

  for (const [what, content, lines] of [
    [
      'of the demo',
      worldWith('demo-token', 'shrub-app-secret', 'shrub-verify-token'),
      [
        /^w: tokens\[0\]\.token: it is of the demo world, which everybody can read; in production give one of your own\.$/,
        /^w: apps\[0\]\.secret: it is of the demo world/,
        /^w: apps\[0\]\.webhook\.verify_token: it is of the demo world/,
      ],
    ],
    [
      'that are short',
      worldWith(letters.slice(0, 19), letters.slice(0, 15), letters.slice(0, 7)),
      [
        /^w: tokens\[0\]\.token: it has fewer than 20 characters; in production give a longer one, made at random\.$/,
        /^w: apps\[0\]\.secret: it has fewer than 16 characters/,
        /^w: apps\[0\]\.webhook\.verify_token: it has fewer than 8 characters/,
      ],
    ],
    [
      'of one letter',
      worldWith('a'.repeat(20), 'ab'.repeat(8), 'abcdabcd'),
      [
        /^w: tokens\[0\]\.token: it has fewer than 5 different characters; in production give one made at random\.$/,
        /^w: apps\[0\]\.secret: it has fewer than 5 different characters/,
        /^w: apps\[0\]\.webhook\.verify_token: it has fewer than 5 different characters/,
      ],
    ],
  ] as const) {
    test(`${what} are refused with their places, are not repeated, and nothing is written`, async () => {
      const untouched = await dumpStore(store.database)
      await assert.rejects(apply(content), (error: Error) => {
        assert.ok(error instanceof WorldRefused, error.stack)
        const found = error.message.split('\n')
        assert.equal(found.length, lines.length, error.message)
        for (const [index, line] of lines.entries()) assert.match(found[index] ?? '', line)
        for (const { token } of content.tokens) assert.ok(!error.message.includes(token))
        for (const { secret } of content.apps) assert.ok(!error.message.includes(secret))
        return true
      })
      assert.deepEqual(await dumpStore(store.database), untouched)
    })
  }

  test('secrets of the least length are taken in production, and so are those that are left out; elsewhere any', async () => {
    assert.equal((await apply(worldWith(letters.slice(0, 20), letters.slice(0, 16), letters.slice(0, 8)))).created, 4)
    assert.equal((await apply({ apps: [{ ...app, id: '3000000000000002' }] })).created, 1)
    await apply(worldWith('t', 's', 'v'), false)
  })
})

describe('the ways in which a world comes into a store in production', () => {
  let place: StorePlace
  before(async () => {
    place = await makeMigratedPlace('sqlite')
  })
  after(() => place.remove())
  const file = fileURLToPath(demo)
  const production = (env: Record<string, string> = {}) => ({
    env: { DATA_DIR: place.dataDir, NODE_ENV: 'production', ...env },
    cwd: place.dataDir,
  })

  for (const [what, args, env] of [
    ['apply', ['apply', file], {}],
    ['serve --world', ['serve', '--port', '0', '--world', file], {}],
    ['serve with WORLD', ['serve', '--port', '0'], { WORLD: file }],
  ] as const) {
    test(`${what}: the demo is refused, with exit code 1`, async () => {
      const { code, stderr } = await runCommand(args, production(env))
      assert.equal(code, 1)
      assert.match(stderr, /demo\.yaml: tokens\[0\]\.token: it is of the demo world/)
      assert.doesNotMatch(stderr, /demo-token|shrub-app-secret/)
    })
  }

  test('a store that was filled with the demo before: the log warns of its tokens at the start', async () => {
    const tried = await runCommand(['apply', file], { ...production(), env: { DATA_DIR: place.dataDir } })
    assert.equal(tried.code, 0, tried.stderr)
    const server = await startCommand(['serve', '--port', '0'], production())
    await server.shows(
      /"tokens":\["t[\da-f]{16}"(?:,"t[\da-f]{16}"){4}\],"msg":"the store takes tokens of the demo world/,
    )
    assert.equal((await server.stop('SIGTERM')).code, 0)
  })
})
