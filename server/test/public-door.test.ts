import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { silentLog } from '../src/base/log.ts'
import { systemRandom } from '../src/base/random.ts'
import { openPublicDoor, publicPaths } from '../src/doors/public.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { Metrics } from '../src/http/metrics.ts'
import { buildOpenApi } from '../src/http/openapi.ts'
import { chooseEncoding } from '../src/http/packed.ts'
import { createServer } from '../src/http/server.ts'
import { buildGatewayOperations, buildOperations } from '../src/operations.ts'

const words = chooseVocabulary('msgapp')
const description = {
  operations: buildOperations(words),
  gatewayOperations: buildGatewayOperations(),
  words,
  versions: ['v23.0'],
  packageVersion: '1.2.3',
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

/** Opens the door on a free port; the returned function closes it. */
async function openDoor(options: { publicUrl?: string; demoToken?: string }) {
  const server = createServer({
    words,
    versions: ['v23.0'],
    random: systemRandom,
    log: silentLog,
    metrics: new Metrics(),
    doors: publicPaths,
  })
  let url = ''
  openPublicDoor(server, { ...description, demoToken: options.demoToken, publicUrl: () => options.publicUrl ?? url })
  await server.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  return { url, close: () => server.close() }
}

function policyOf({ headers }: Answer): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split('; ')
  return new Map(directives.map((directive) => [directive.split(' ', 1)[0] as string, directive.split(' ').slice(1)]))
}

describe('the public door', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  before(async () => {
    door = await openDoor({ demoToken: '</script><b>demo' })
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

  test('/docs lets nothing into the page that comes from another host', async () => {
    const page = await get(`${door.url}/docs`)
    assert.equal(page.status, 200)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    const policy = policyOf(page)
    assert.deepEqual(policy.get('default-src'), ["'none'"])
    assert.deepEqual(policy.get('connect-src'), ["'self'"])
    for (const [directive, sources] of policy) {
      for (const source of sources) assert.match(source, /^('none'|'self'|'sha256-.+'|'unsafe-inline'|data:)$/)
      if (directive !== 'style-src') assert.ok(!sources.includes("'unsafe-inline'"), directive)
    }
    const loaded = [...page.body.toString().matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url as string)
    assert.ok(loaded.length > 0)
    for (const url of loaded) assert.match(url, /^(\/(?!\/)|data:)/)
  })

  test('/docs allows its own inline script by its hash', async () => {
    const page = await get(`${door.url}/docs`)
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page.body.toString()) ?? []
    const hash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`
    assert.deepEqual(policyOf(page).get('script-src'), ["'self'", hash])
    assert.match(script, /"telemetry":false,"withDefaultFonts":false/)
    assert.match(script, /"token":"\\u003c\/script>\\u003cb>demo"/, 'a token cannot end the script element')
  })

  test('/docs names a script whose name holds the hash of its content, so that it can be kept for ever', async () => {
    const page = await get(`${door.url}/docs`)
    const [, path = ''] = /<script src="([^"]+)"/.exec(page.body.toString()) ?? []
    const plain = await get(`${door.url}${path}`)
    assert.equal(plain.status, 200)
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    const hash = createHash('sha256').update(plain.body).digest('base64url')
    assert.equal(path, `/docs/reference-${hash.slice(0, 16)}.js`)
    const packed = await get(`${door.url}${path}`, { 'accept-encoding': 'br' })
    assert.deepEqual(brotliDecompressSync(packed.body), plain.body)
    assert.ok(packed.body.length < 1_500_000, `${packed.body.length} bytes are sent`)
    assert.match(plain.body.toString(), /createApiReference/)
  })

  test('404 in the envelope for another name under /docs', async () => {
    const { status, body } = await get(`${door.url}/docs/reference-other.js`)
    assert.equal(status, 404)
    assert.equal(JSON.parse(body.toString()).error.code, 803)
  })

  test('/ links to what an operator looks for', async () => {
    const page = await get(`${door.url}/`)
    assert.equal(page.status, 200)
    const html = page.body.toString()
    assert.match(html, /1\.2\.3/)
    for (const path of ['/docs', '/openapi.json', '/healthz', '/readyz', '/metrics']) {
      assert.ok(html.includes(`href="${path}"`), path)
    }
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? []
    const hash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
    assert.deepEqual(policyOf(page).get('style-src'), [hash])
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
  assert.match(docs, /<script src="\/graph\/docs\/reference-/)
  assert.match(docs, /"url":"\/graph\/openapi\.json"/)
  assert.match((await get(`${door.url}/`)).body.toString(), /href="\/graph\/docs"/)
  const { servers } = JSON.parse((await get(`${door.url}/openapi.json`)).body.toString())
  assert.deepEqual(servers, [{ url: 'https://api.example.com/graph' }])
})

test('without a demo token the page has no token', async (context) => {
  const door = await openDoor({})
  context.after(door.close)
  assert.doesNotMatch((await get(`${door.url}/docs`)).body.toString(), /"token"/)
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
