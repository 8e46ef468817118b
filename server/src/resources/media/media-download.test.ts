import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { compoundFile, fill, jpeg, pdf } from '../../../test/harness/media-files.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { internalFault, linkExpired, notFound } from '../../graph/errors.ts'

/** The clock of a test server moves for all its tests: each of these reads the address that it needs anew. */
onOneDatabase('downloads of media', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { PUBLIC_URL: 'https://api.example.com/switchboard' } })
  const bytes = Buffer.concat([pdf, Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251))])
  const size = bytes.length
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  let id: string

  before(async () => {
    id = await upload(bytes)
  })

  async function upload(content: Buffer): Promise<string> {
    const multipart = { file: new Blob([new Uint8Array(content)]) }
    const answer = await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, multipart })
    assert.equal(answer.status, 200, answer.text)
    return answer.body.id
  }

  /** The address of a media file, as the outside sees it, and where this test reaches it. */
  async function readUrl(of = id, client = server.client): Promise<string> {
    const { body } = await client.get(`/v23.0/${of}`, { token: tokens.owner })
    const start = 'https://api.example.com/switchboard/'
    assert.ok(body.url.startsWith(start), body.url)
    return body.url.replace(start, `${client.url}/`)
  }

  interface Asked {
    readonly token?: string | undefined
    readonly method?: string
    readonly headers?: Record<string, string>
  }

  async function get(url: string, { token = tokens.owner, method = 'GET', headers = {} }: Asked = {}) {
    const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(url, { method, headers: { ...authorization, ...headers } })
    const content = Buffer.from(await answer.arrayBuffer())
    const isEnvelope = answer.headers.get('content-type')?.startsWith('application/json') && method !== 'HEAD'
    const error = isEnvelope ? JSON.parse(content.toString()).error : undefined
    return { status: answer.status, headers: answer.headers, content, error }
  }

  test('downloads of media: 200 with the bytes, their type, and nothing that a browser could be led astray by', async () => {
    const { status, headers, content } = await get(await readUrl())
    assert.equal(status, 200)
    assert.ok(content.equals(bytes))
    assert.equal(headers.get('content-type'), 'application/pdf')
    assert.equal(headers.get('content-length'), String(size))
    assert.equal(headers.get('content-disposition'), `attachment; filename="${id}.pdf"`)
    assert.equal(headers.get('etag'), etag)
    assert.equal(headers.get('accept-ranges'), 'bytes')
    assert.equal(headers.get('cache-control'), 'private, no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
  })

  for (const [content, type, extension] of [
    [Buffer.from('hello'), 'text/plain', 'txt'],
    [jpeg, 'image/jpeg', 'jpg'],
    [compoundFile(['WordDocument']), 'application/msword', 'doc'],
  ] as const) {
    test(`the type of a ${extension} is ${type}, without anything added`, async () => {
      const of = await upload(content)
      const { headers } = await get(await readUrl(of))
      assert.equal(headers.get('content-type'), type)
      assert.equal(headers.get('content-disposition'), `attachment; filename="${of}.${extension}"`)
    })
  }

  test('HEAD has the headers of GET and no bytes', async () => {
    const url = await readUrl()
    const head = await get(url, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.content.length, 0)
    for (const name of ['content-type', 'content-length', 'content-disposition', 'etag', 'accept-ranges']) {
      assert.equal(head.headers.get(name), (await get(url)).headers.get(name), name)
    }
    const part = await get(url, { method: 'HEAD', headers: { range: 'bytes=0-9' } })
    assert.deepEqual([part.status, part.headers.get('content-length')], [206, '10'])
    assert.equal((await get(url, { method: 'HEAD', token: '' })).status, 401)
  })

  for (const [range, start, end] of [
    ['bytes=0-0', 0, 0],
    ['bytes=5-9', 5, 9],
    ['bytes=70000-140000', 70_000, 140_000],
    ['bytes=100-', 100, size - 1],
    ['bytes=-1', size - 1, size - 1],
    ['bytes=-500', size - 500, size - 1],
    [`bytes=-${size}`, 0, size - 1],
    [`bytes=-${size + 1}`, 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    [`bytes=${size - 2}-${size + 100}`, size - 2, size - 1],
    ['Bytes=0-3', 0, 3],
  ] as const) {
    test(`206 with the bytes from ${start} to ${end} for "${range}"`, async () => {
      const { status, headers, content } = await get(await readUrl(), { headers: { range } })
      assert.equal(status, 206)
      assert.equal(headers.get('content-range'), `bytes ${start}-${end}/${size}`)
      assert.equal(headers.get('content-length'), String(end - start + 1))
      assert.ok(content.equals(bytes.subarray(start, end + 1)))
    })
  }

  for (const range of ['bytes=0-1,3-4', 'bytes=9-5', 'bytes=-', 'bytes=a-b', 'bytes 0-5', 'lines=0-5', '']) {
    test(`downloads of media: 200 with all of it for "${range}", which asks for nothing that is served`, async () => {
      const { status, headers, content } = await get(await readUrl(), { headers: { range } })
      assert.equal(status, 200)
      assert.equal(headers.get('content-range'), null)
      assert.equal(content.length, size)
    })
  }

  for (const range of [`bytes=${size}-`, `bytes=${size}-${size + 5}`, 'bytes=-0', 'bytes=99999999999999999999-']) {
    test(`416 for "${range}", and how many bytes there are`, async () => {
      const { status, headers, error } = await get(await readUrl(), { headers: { range } })
      assert.equal(status, 416)
      assert.equal(headers.get('content-range'), `bytes */${size}`)
      assert.deepEqual([error.code, error.type], [100, 'OAuthException'])
      assert.equal(headers.get('x-svctrace-id'), error.svctrace_id)
    })
  }

  test('downloads of media: 206 when If-Range names the content, 200 with all of it when it names another', async () => {
    const url = await readUrl()
    const ask = (condition: string) => get(url, { headers: { range: 'bytes=0-4', 'if-range': condition } })
    assert.equal((await ask(etag)).status, 206)
    for (const other of ['"other"', `W/${etag}`, 'Mon, 01 Jun 2026 12:00:00 GMT']) {
      const { status, content } = await ask(other)
      assert.deepEqual([status, content.length], [200, size])
    }
  })

  test('downloads of media: 304 when If-None-Match names the content', async () => {
    const url = await readUrl()
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, content, headers } = await get(url, { headers: { 'if-none-match': known } })
      assert.deepEqual([status, content.length, headers.get('etag')], [304, 0, etag])
    }
    assert.equal((await get(url, { headers: { 'if-none-match': '"other"' } })).status, 200)
  })

  test('an address is good for 5 minutes, then 404 that says so', async () => {
    const url = await readUrl()
    server.clock.advance(5 * minute - 1)
    assert.equal((await get(url)).status, 200)
    server.clock.advance(1)
    const { status, error } = await get(url)
    assertError({ status, body: { error } }, linkExpired())
    assert.equal((await get(await readUrl())).status, 200)
  })

  test('404 for an address that was altered or made up', async () => {
    const url = new URL(await readUrl())
    const other = await upload(jpeg)
    const expires = Number(url.searchParams.get('expires'))
    const signature = url.searchParams.get('signature') ?? ''
    assert.equal((await get(url.href)).status, 200)
    for (const [path, query] of [
      [`/media/${id}`, ''],
      [`/media/${id}`, `?expires=${expires}`],
      [`/media/${id}`, `?signature=${signature}`],
      [`/media/${id}`, `?expires=${expires + 1}&signature=${signature}`],
      [`/media/${id}`, `?expires=${expires}.0&signature=${signature}`],
      [`/media/${id}`, `?expires=${expires}&expires=${expires}&signature=${signature}`],
      [
        `/media/${id}`,
        `?expires=${expires}&signature=${signature.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))}`,
      ],
      [`/media/${id}`, `?expires=${expires}&signature=${signature}=`],
      [`/media/${id}`, `?expires=${expires}&signature=${signature.slice(0, 16)}`],
      [`/media/${id}`, `?expires=${expires}&signature=`],
      [`/media/${other}`, url.search],
      ['/media/x', url.search],
    ] as const) {
      const { status, error } = await get(`${server.url}${path}${query}`)
      assertError({ status, body: { error } }, notFound())
    }
    assert.equal((await get(`${server.url}/media${url.search}`)).status, 404)
  })

  test('downloads of media: 401 without a token, 404 with one that does not see the account, 403 with one that lacks the permission', async () => {
    const url = await readUrl()
    assert.equal((await get(url, { token: '' })).status, 401)
    assert.equal((await get(url, { token: tokens.expired })).status, 401)
    for (const token of [tokens.stranger, tokens.granular, tokens.partner]) {
      assert.equal((await get(url, { token })).status, 404)
    }
    assert.equal((await get(url, { token: tokens.managementOnly })).status, 403)
    assert.equal((await get(url, { token: tokens.messagingOnly })).status, 200)
    assert.equal((await get(`${url}&access_token=${tokens.owner}`, { token: '' })).status, 401)
  })

  test('404 once the media file is deleted', async () => {
    const of = await upload(fill(jpeg, 1000))
    const url = await readUrl(of)
    assert.equal((await get(url)).status, 200)
    await server.client.delete(`/v23.0/${of}`, { token: tokens.owner })
    assert.equal((await get(url)).status, 404)
  })

  test('an address that one process made is good at another', async () => {
    const second = await startSecondProcess(server, { PUBLIC_URL: 'https://api.example.com/switchboard' })
    try {
      const url = await readUrl(id, second.client)
      assert.equal((await get(url)).status, 200)
      assert.equal((await get(url.replace(second.client.url, server.url))).status, 200)
    } finally {
      await second.app.close(1000)
    }
  })

  test('500 without a path or a stack when the bytes are gone from the storage', async () => {
    const content = fill(jpeg, 2000)
    const url = await readUrl(await upload(content))
    const sha256 = createHash('sha256').update(content).digest('hex')
    await server.files.lose(sha256)
    const { status, error } = await get(url)
    assertError({ status, body: { error } }, internalFault())
  })
})
