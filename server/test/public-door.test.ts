import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createApp } from '../src/app.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { systemClock } from '../src/base/time/clock.ts'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/schema/migrate.ts'
import { serveVersions } from '../src/graph/versions.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { doorOf } from '../src/http/openapi/doors.ts'
import { buildOpenApi } from '../src/http/openapi/openapi.ts'
import { isOperation } from '../src/http/route-table.ts'
import { buildOperations, chapters } from '../src/operations.ts'
import { chooseEncoding } from '../src/replies/packed.ts'
import { packageVersion } from '../src/version.ts'
import { applyWorld } from '../src/world/apply.ts'
import type { World } from '../src/world/list.ts'
import { readWorld, readWorldFile } from '../src/world/read.ts'
import { type Engine, makeStorePlace, openPlace, unlockPlace } from './harness/databases.ts'
import { testWorld } from './harness/world.ts'

const vocabulary = chooseVocabulary('msgapp')
const demoWorld = new URL('../../worlds/demo.yaml', import.meta.url)
const description = {
  operations: buildOperations(vocabulary),
  vocabulary,
  versions: serveVersions(undefined, false),
  packageVersion: packageVersion(),
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Over node:http, because fetch would undo the compression that is looked at here. */
function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

interface DoorOptions {
  readonly publicUrl?: string
  readonly production?: boolean
  readonly world?: World
  readonly engine?: Engine
}

/** Starts the service on a free port, on a store with the demo world or another. */
async function openDoor({ publicUrl, production = false, world, engine = 'sqlite' }: DoorOptions = {}) {
  const place = await makeStorePlace(engine)
  const database = await openPlace(place)
  await migrate(database, systemClock)
  await unlockPlace(place, database)
  await applyWorld(database, systemClock, systemRandom, world ?? (await readWorldFile(demoWorld)))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: place.dataDir,
    LOG_LEVEL: 'silent',
    // The start page is what is there without the console, which has a test of its own.
    CONSOLE: 'off',
    ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }),
    ...(production && { NODE_ENV: 'production' }),
  })
  const app = await createApp({ config, database, clock: systemClock, random: systemRandom, log: silentLog })
  let isOpen = true
  const closeStore = async () => {
    if (isOpen) await database.close()
    isOpen = false
  }
  return {
    url: await app.listen(),
    closeStore,
    async close() {
      await app.close(1000)
      await closeStore()
      await place.remove()
    },
  }
}

function policyOf({ headers }: Answer): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split('; ')
  return new Map(directives.map((directive) => [directive.split(' ', 1)[0] as string, directive.split(' ').slice(1)]))
}

/** The source expression of the only element of that name. */
function hashOf(html: string, element: 'style' | 'script'): string {
  const found = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))]
  assert.equal(found.length, 1)
  return `'sha256-${createHash('sha256')
    .update(found[0]?.[1] ?? '')
    .digest('base64')}'`
}

/** What a person reads of a page. */
function textOf(html: string): string {
  return html
    .replaceAll(/<(style|script)>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
}

describe('the public door', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  before(async () => {
    door = await openDoor()
  })
  after(() => door.close())

  test('/openapi.json is the document of the table, for the address that the outside sees', async () => {
    const { status, headers, body } = await get(`${door.url}/openapi.json`)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['content-encoding'], undefined)
    const expected = buildOpenApi({ ...description, serverUrl: door.url })
    assert.deepEqual(JSON.parse(body.toString()), JSON.parse(JSON.stringify(expected)))
  })

  test('/openapi.json comes compressed to whoever takes that', async () => {
    const plain = await get(`${door.url}/openapi.json`)
    const br = await get(`${door.url}/openapi.json`, { 'accept-encoding': 'gzip, deflate, br' })
    assert.equal(br.headers['content-encoding'], 'br')
    assert.deepEqual(brotliDecompressSync(br.body), plain.body)
    const gzip = await get(`${door.url}/openapi.json`, { 'accept-encoding': 'gzip' })
    assert.equal(gzip.headers['content-encoding'], 'gzip')
    assert.equal(gzip.headers.vary, 'accept-encoding')
    assert.deepEqual(gunzipSync(gzip.body), plain.body)
    assert.ok(br.body.length < plain.body.length / 3)
  })

  test('/openapi.json answers 304 to whoever has it already', async () => {
    const { headers } = await get(`${door.url}/openapi.json`)
    const again = await get(`${door.url}/openapi.json`, { 'if-none-match': String(headers.etag) })
    assert.equal(again.status, 304)
    assert.equal(again.body.length, 0)
    const other = await get(`${door.url}/openapi.json`, { 'if-none-match': 'W/"other"' })
    assert.equal(other.status, 200)
  })

  for (const path of ['/', '/docs']) {
    test(`${path} lets nothing into the page but its own style and script`, async () => {
      const page = await get(`${door.url}${path}`)
      assert.equal(page.status, 200)
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
      const html = page.body.toString()
      const policy = policyOf(page)
      assert.deepEqual(policy.get('default-src'), ["'none'"])
      assert.deepEqual(policy.get('style-src'), [hashOf(html, 'style')])
      assert.deepEqual(policy.get('script-src'), [hashOf(html, 'script')])
      assert.deepEqual(policy.get('connect-src'), path === '/docs' ? ["'self'"] : undefined)
      for (const sources of policy.values()) {
        for (const source of sources) assert.match(source, /^('none'|'self'|'sha256-.+'|data:)$/)
      }
      assert.doesNotMatch(html, /<[^>]+ (style|on\w+)=/, 'neither styles nor scripts in attributes')
      const loaded = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url as string)
      assert.ok(loaded.length > 3)
      for (const url of loaded) assert.match(url, /^(\/(?!\/)|#|data:)/)
      assert.match(html, /<html lang="en">/)
    })
  }

  test('/docs lists every operation once, by chapter in the order of the specification', async () => {
    const html = (await get(`${door.url}/docs`)).body.toString()
    const found = [...html.matchAll(/<h2 id="([^"]+)">|<details class="op" id="([^"]+)">/g)].map(
      ([, chapter, operation]) => chapter ?? `  ${operation}`,
    )
    const ofBusinesses = description.operations.filter((row) => doorOf(row).document === 'business' && isOperation(row))
    const expected = chapters
      .filter(({ name }) => ofBusinesses.some(({ chapter }) => chapter === name))
      .flatMap(({ name: chapter }) => [
        chapter,
        ...ofBusinesses.filter((row) => row.chapter === chapter).map(({ name }) => `  ${name}`),
      ])
    const edgeDoors = ['gateway', 'receiver', 'handshake', 'operator']
    const rows = description.operations.filter(({ door }) => edgeDoors.includes(door)).map(({ name }) => `  ${name}`)
    const edge = ['gateway', 'receiver', 'operator', 'sandbox', ...rows]
    const service = ['healthz', 'readyz', 'readyz_process', 'metrics'].map((name) => `  operators.${name}`)
    const operators = ['operators', ...service]
    assert.deepEqual(found.slice(0, expected.length), expected)
    assert.deepEqual(found.slice(expected.length).sort(), [...edge, ...operators].sort())
  })

  test('/docs comes compressed, is small, and is not sent again to whoever has it', async () => {
    const plain = await get(`${door.url}/docs`)
    const packed = await get(`${door.url}/docs`, { 'accept-encoding': 'br' })
    assert.deepEqual(brotliDecompressSync(packed.body), plain.body)
    assert.ok(packed.body.length < 72_000, `${packed.body.length} bytes are sent`)
    const { etag } = plain.headers
    for (const known of [String(etag), '*']) {
      const again = await get(`${door.url}/docs`, { 'if-none-match': known })
      assert.deepEqual([again.status, again.headers['content-type']], [304, undefined])
    }
  })

  test('/ links to what a newcomer and an operator look for', async () => {
    const html = (await get(`${door.url}/`)).body.toString()
    const paths = [
      '/docs',
      '/docs#receiver',
      '/openapi.json',
      '/openapi-gateway.json',
      '/openapi-operator.json',
      '/healthz',
      '/readyz',
      '/metrics',
    ]
    for (const path of paths) assert.ok(html.includes(`href="${path}"`), path)
  })

  test('HEAD answers with the headers alone', async () => {
    for (const path of ['/', '/docs', '/openapi.json']) {
      const { status, headers, body } = await get(`${door.url}${path}`, {}, 'HEAD')
      assert.equal(status, 200)
      assert.ok(Number(headers['content-length']) > 0)
      assert.equal(body.length, 0)
    }
  })
})

test('behind a proxy that adds a path, every link has it', async (context) => {
  const door = await openDoor({ publicUrl: 'https://api.example.com/graph' })
  context.after(door.close)
  const docs = (await get(`${door.url}/docs`)).body.toString()
  assert.match(docs, /data-prefix="\/graph"/)
  assert.match(docs, /href="\/graph\/openapi\.json"/)
  assert.match(docs, /'https:\/\/api\.example\.com\/graph\/v23\.0\/4000000000000001/)
  assert.match((await get(`${door.url}/`)).body.toString(), /href="\/graph\/docs"/)
  const { servers } = JSON.parse((await get(`${door.url}/openapi.json`)).body.toString())
  assert.deepEqual(servers, [{ url: 'https://api.example.com/graph' }])
})

for (const [engine, store] of [
  ['sqlite', 'SQLite file'],
  ['postgres', 'PostgreSQL'],
] as const) {
  test(`/ tells the state of the store, what it holds, and the numbers of the demo world (${engine})`, async (context) => {
    const door = await openDoor({ engine })
    context.after(door.close)
    const text = textOf((await get(`${door.url}/`)).body.toString())
    for (const told of [
      'State Ready',
      `Version ${packageVersion()}`,
      'Vocabulary msgapp',
      `Store ${store}`,
      'Businesses 2',
      'Accounts 4',
      'Phone numbers 7',
      'Groups 3',
      'Waiting deliveries 0',
      '+1 631-555-1002 Lucky Shrub Retail Lucky Shrub Retail PENDING',
      `'${door.url}/v23.0/4000000000000007?fields=name_status'`,
      `./switchboard simulate message --to 4000000000000001 --from 16505551234 --text Hello --url '${door.url}'`,
    ]) {
      assert.ok(text.includes(told), `${told} is in: ${text}`)
    }
  })
}

for (const [name, options] of [
  ['in production', { production: true }],
  ['where the store knows no demo token', { world: readWorld(JSON.stringify(testWorld()), 'the test world') }],
] as const) {
  test(`${name} neither page has a token, a number, or a count`, async (context) => {
    const door = await openDoor(options)
    context.after(door.close)
    for (const path of ['/', '/docs']) {
      const html = (await get(`${door.url}${path}`)).body.toString()
      assert.doesNotMatch(html, /demo-(token|partner|gateway)/)
      if (path === '/') assert.doesNotMatch(html, /631-555|Businesses|Lucky Shrub/)
    }
    const text = textOf((await get(`${door.url}/`)).body.toString())
    assert.match(text, /State Ready/)
    assert.equal(/SQLite|Started/.test(text), !('production' in options), 'what the store is, and since when')
  })
}

test('/ says that the store does not answer, and is served all the same', async (context) => {
  const door = await openDoor()
  context.after(door.close)
  await door.closeStore()
  const page = await get(`${door.url}/`)
  assert.equal(page.status, 200)
  assert.match(textOf(page.body.toString()), /State Not ready: the database does not answer/)
  assert.equal((await get(`${door.url}/docs`)).status, 200)
})

describe('the encoding of an answer', () => {
  for (const [header, expected] of [
    [undefined, 'identity'],
    ['', 'identity'],
    ['deflate', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.0, *;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
  ] as const) {
    test(`${JSON.stringify(header)} gets ${expected}`, () => assert.equal(chooseEncoding(header), expected))
  }
})
