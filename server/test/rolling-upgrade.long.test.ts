import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startCommand } from './harness/command.ts'
import { makeStorePlace } from './harness/databases.ts'
import { EventPoster } from './harness/event-poster.ts'
import { pdf } from './harness/media-files.ts'
import type { ReleasedSchema } from './harness/schema.ts'
import { TallySink } from './harness/tally-sink.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

const root = new URL('../../', import.meta.url).pathname
const released = JSON.parse(readFileSync(new URL('./released-schema.json', import.meta.url), 'utf8')) as ReleasedSchema
const authorization = `Bearer ${tokens.owner}`

interface Process {
  readonly url: string
  stop(): Promise<number | null>
}

/** The code of the last release, from the history, with the packages of this version. */
async function unpackRelease(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-release-'))
  const unpack = `git -C '${root}' archive ${released.commit} server/src server/package.json package.json worlds openapi docs | tar -x -C '${folder}'`
  await promisify(execFile)('sh', ['-c', unpack]).catch((error: Error) => {
    throw new Error(
      `the last release is not in the history of this clone (fetch it with git fetch --unshallow): ${error.message}`,
    )
  })
  for (const modules of ['node_modules', 'server/node_modules']) {
    if (existsSync(join(root, modules))) await symlink(join(root, modules), join(folder, modules))
  }
  return folder
}

async function startRelease(folder: string, args: readonly string[], env: Record<string, string>): Promise<Process> {
  const program = `import('${join(folder, 'server/src/cli/run.ts')}').then((one) => one.runProgram(${JSON.stringify(args)}))`
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', program], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  assert.ok(child.stdout)
  for await (const line of createInterface(child.stdout)) {
    const url = /listening on (\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    return {
      url,
      async stop() {
        child.kill('SIGTERM')
        const [code] = await once(child, 'exit')
        return code
      },
    }
  }
  throw new Error('the released version did not start')
}

test('processes of the last release and of this version work side by side during an upgrade, and no client notices', async (t) => {
  const place = await makeStorePlace('postgres')
  t.after(() => place.remove())
  const sink = await new TallySink().start()
  t.after(() => sink.end())
  const folder = await unpackRelease()
  t.after(() => rm(folder, { recursive: true, force: true }))
  const world = testWorld()
  const webhook = { callback_url: `${sink.url}/hook`, verify_token: 'vt', fields: ['messages'] }
  // The released version refuses keys that came after it.
  const heard = {
    ...world,
    businesses: world.businesses.map((business) => ({ ...business, users: undefined })),
    apps: world.apps.map((app) => ({
      ...app,
      redirect_uris: undefined,
      ...(app.id === ids.application && { webhook }),
    })),
    accounts: world.accounts.map((one) => ({
      ...one,
      onbehalf_requests: undefined,
      ...(one.id === ids.account && { subscribed_apps: [ids.application] }),
    })),
  }
  const file = join(place.dataDir, 'world.json')
  await writeFile(file, JSON.stringify(heard))
  const env = {
    DATA_DIR: place.dataDir,
    DATABASE_URL: place.databaseUrl as string,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    WEBHOOK_LEASE: '2s',
  }
  const serve = ['serve', '--port', '0']

  /** Those that get requests; the proxy takes one out before it is stopped. */
  const rotation: Process[] = []
  for (const more of [['--world', file], []]) rotation.push(await startRelease(folder, [...serve, ...more], env))
  const startNew = async (): Promise<Process> => {
    const server = await startCommand(serve, { cwd: place.dataDir, env })
    return { url: server.url, stop: async () => (await server.stop('SIGTERM')).code }
  }
  const urlOf = (turn: number) => (rotation[turn % rotation.length] as Process).url
  const poster = new EventPoster('upgrade', urlOf)
  t.after(() => poster.halt())
  poster.start(() => 10)

  /** Stores a file at each process and reads it at every other one, and changes the profile at each. */
  async function exchange(): Promise<void> {
    for (const [index, { url }] of rotation.entries()) {
      const body = new FormData()
      body.set('file', new Blob([new Uint8Array(Buffer.concat([pdf, Buffer.from(`% ${index} ${Math.random()}\n`)]))]))
      const stored = await fetch(`${url}/v23.0/${numbers.main}/media`, {
        method: 'POST',
        headers: { authorization },
        body,
      })
      assert.equal(stored.status, 200, await stored.clone().text())
      const { id } = (await stored.json()) as { id: string }
      for (const other of rotation) {
        const read = await fetch(`${other.url}/v23.0/${id}`, { headers: { authorization } })
        assert.equal(read.status, 200)
        const { url: link } = (await read.json()) as { url: string }
        const { pathname, search } = new URL(link)
        assert.equal((await fetch(other.url + pathname + search, { headers: { authorization } })).status, 200)
      }
      const written = await fetch(`${url}/v23.0/${numbers.main}/msgapp_business_profile`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ messaging_product: 'msgapp', about: `process ${index}` }),
      })
      assert.equal(written.status, 200)
      assert.equal((await fetch(`${url}/readyz`)).status, 200)
    }
  }

  await exchange()
  for (let turn = 0; turn < 2; turn++) {
    rotation.push(await startNew())
    await exchange()
    const old = rotation.shift() as Process
    // A request that was sent to it a moment ago gets its response.
    await wait(100)
    assert.equal(await old.stop(), 0)
  }
  await exchange()
  await poster.halt()
  assert.deepEqual([poster.refusals, poster.brokenOff], [[], 0])
  assert.ok(poster.acknowledged.size > 50)
  await sink.whenNothingIsMissing(() => {
    const came = new Set(sink.at('/hook').map(({ body }) => body.entry[0].changes[0].value.messages?.[0]?.id))
    return [...poster.acknowledged].filter((id) => !came.has(id))
  })
  for (const { stop } of rotation) assert.equal(await stop(), 0)
})
