import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { test } from 'node:test'
import {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  RateLimitError,
  Switchboard,
  SwitchboardError,
} from '@switchboard/client'
import { connect } from './small-server.ts'

test('the address of a server may be a URL, and may have a path', async (t) => {
  const { baseUrl, asked } = await connect(t, (_request, response) => response.end('{}'))
  for (const end of ['/behind/proxy', '/behind/proxy//', '/@team/']) {
    await new Switchboard({ baseUrl: new URL(`${baseUrl}${end}`), token: 't' }).accounts.retrieve('1')
  }
  assert.deepEqual(asked, ['GET /behind/proxy/v23.0/1', 'GET /behind/proxy/v23.0/1', 'GET /@team/v23.0/1'])
})

test('an address that cannot be one is refused at once, and no password is shown', () => {
  for (const baseUrl of [
    '127.0.0.1:8080',
    '',
    'ftp://host',
    'http://host/?a=1',
    'http://host/#a',
    'http://me:pass@host',
  ]) {
    assert.throws(
      () => new Switchboard({ baseUrl }),
      ({ name, message }: Error) =>
        name === 'SwitchboardError' &&
        /^baseUrl \(or SWITCHBOARD_URL\) must be an http/.test(message) &&
        !message.includes('pass@'),
    )
  }
})

test('a timeout of Infinity waits, and one of nothing is refused', async (t) => {
  const { client, asked } = await connect(t, (_request, response) => setImmediate(() => response.end('{"id":"1"}')))
  assert.equal((await client.accounts.retrieve('1', {}, { timeout: Number.POSITIVE_INFINITY })).id, '1')
  for (const timeout of [0, -1, Number.NaN]) {
    await assert.rejects(
      client.accounts.retrieve('1', {}, { timeout }),
      /^SwitchboardError: timeout must be above 0 ms/,
    )
  }
  assert.equal(asked.length, 1)
})

test('Retry-After is read as seconds and as a date, and as nothing else', async (t) => {
  let header = ''
  const { client } = await connect(
    t,
    (_request, response) => response.writeHead(429, { 'retry-after': header }).end(),
    {
      maxRetries: 0,
    },
  )
  const read = async (given: string) => {
    header = given
    const error = await client.accounts.retrieve('1').catch((failure: unknown) => failure)
    assert.ok(error instanceof RateLimitError)
    return error.retryAfter
  }
  assert.equal(await read('7'), 7)
  const inAnHour = await read(new Date(Date.now() + 3_600_000).toUTCString())
  assert.ok(inAnHour !== undefined && inAnHour > 3_500 && inAnHour <= 3_600)
  assert.equal(await read(new Date(0).toUTCString()), 0)
  for (const odd of ['-5', '1, 1', 'soon']) assert.equal(await read(odd), undefined)
})

test('a write that is redirected is an error, not a read of another address', async (t) => {
  const location = 'https://switchboard.example'
  const { client, asked } = await connect(t, (_request, response) => response.writeHead(302, { location }).end())
  for (const write of [
    client.qrCodes.create('1', { prefilled_message: 'Hi' }),
    client.messages.send('1', { to: '2', text: { body: 'Hi' } }),
  ]) {
    await assert.rejects(write, /^SwitchboardError: http:.+ redirects to https:\/\/switchboard\.example: give that as/)
  }
  assert.equal(asked.length, 2)
})

test('a success that something else sent is an error that shows it, and is not tried again', async (t) => {
  for (const [text, shown] of [
    ['<html>Sign in', '200 with another body: <html>Sign in'],
    ['{"status":"up"}', '200 with another body: {"status":"up"}'],
    ['null', '200 with another body: null'],
  ] as const) {
    const { client, asked } = await connect(t, (_request, response) => response.end(text))
    await assert.rejects(client.phoneNumbers.list('1'), (error) => error instanceof APIError && error.message === shown)
    assert.equal(asked.length, 1)
  }
})

test('a header that cannot be sent is named before anything is sent', async (t) => {
  const { client, asked } = await connect(t, (_request, response) => response.end('{}'), {
    headers: { 'X-Team': 'Grün' },
  })
  await client.accounts.retrieve('1')
  const send = client.messages.send('1', { to: '2', text: { body: 'Hi' } }, { idempotencyKey: 'order ☃' })
  await assert.rejects(send, /^SwitchboardError: the header idempotency-key has characters/)
  await assert.rejects(client.accounts.retrieve('1', {}, { headers: { 'x-a': 'b\nc' } }), SwitchboardError)
  assert.equal(asked.length, 1)
})

test('a list ends with its signal, between two pages', async (t) => {
  const page = { data: [{ id: '1' }, { id: '2' }], paging: { cursors: { after: 'a' }, next: 'http://there' } }
  const { client, asked } = await connect(t, (_request, response) => response.end(JSON.stringify(page)))
  const ending = new AbortController()
  let count = 0
  const read = async () => {
    for await (const _number of client.phoneNumbers.list('1', {}, { signal: ending.signal })) {
      if (++count === 3) ending.abort()
    }
  }
  await assert.rejects(read(), APIUserAbortError)
  assert.deepEqual([count, asked.length], [4, 2])
})

test('a source is closed when what it was sent to does not take all of it', async (t) => {
  const ending = new AbortController()
  /** Bytes without end, and the promise that they were ended. */
  function flow(onChunk: (count: number) => void = () => undefined) {
    let close = () => {}
    const closed = new Promise<void>((resolve) => {
      close = resolve
    })
    async function* write() {
      try {
        for (let count = 1; ; count++) {
          onChunk(count)
          yield new Uint8Array(1_000)
          await new Promise(setImmediate)
        }
      } finally {
        close()
      }
    }
    return { bytes: write(), closed }
  }

  const taking = await connect(t, (request) => void request.resume())
  const aborted = flow((count) => count === 5 && ending.abort())
  const upload = taking.client.media.upload('1', { file: aborted.bytes }, { signal: ending.signal })
  await assert.rejects(upload, APIUserAbortError)
  await aborted.closed

  const stream = flow((count) => count === 5 && late.abort())
  const late = new AbortController()
  const piece = taking.client.uploads.append(
    'upload:1',
    ReadableStream.from(stream.bytes),
    { file_offset: 0 },
    { signal: late.signal },
  )
  await assert.rejects(piece, APIUserAbortError)
  await stream.closed

  const refusing = await connect(t, (_request, response) => response.writeHead(403).end('{}'))
  const refused = flow()
  await assert.rejects(refusing.client.media.upload('1', { file: refused.bytes }), SwitchboardError)
  await refused.closed

  // What was never begun is closed too.
  const file = createReadStream(import.meta.filename)
  const nowhere = taking.client.withOptions({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
  await assert.rejects(nowhere.media.upload('1', { file }), APIConnectionError)
  if (!file.closed) await once(file, 'close')
})

test('a file of any name, type and kind arrives as the form that every server reads', async (t) => {
  const received: unknown[] = []
  const { client } = await connect(t, async (request, response) => {
    const headers = { 'content-type': String(request.headers['content-type']) }
    const form = await new Response(ReadableStream.from(request), { headers }).formData()
    const file = form.get('file') as File
    const names = [...form.keys()]
    received.push([file.name, file.type, await file.text(), names, form.get('messaging_product')])
    response.end('{"id":"1"}')
  })
  const text = 'a\r\n--b--\r\nمرحبا\0'
  // Nothing that a caller gives ends a header: not the name of a parameter either.
  const odd = 'x"\r\nC: d'
  const names = [odd, 'messaging_product', 'file']
  const bytes = new TextEncoder().encode(text)
  const named = new File([text], 'a"b\r\nC: d; فاتورة 1.pdf', { type: 'application/pdf' })
  for (const file of [
    named,
    new Blob([text], { type: 'text/plain' }),
    bytes,
    bytes.buffer,
    ReadableStream.from([bytes]),
  ])
    await client.media.upload('1', { ...{ [odd]: '1' }, file })
  assert.deepEqual(received, [
    ['a"b\r\nC: d; فاتورة 1.pdf', 'application/pdf', text, names, 'msgapp'],
    ['file', 'text/plain', text, names, 'msgapp'],
    ['file', 'application/octet-stream', text, names, 'msgapp'],
    ['file', 'application/octet-stream', text, names, 'msgapp'],
    ['file', 'application/octet-stream', text, names, 'msgapp'],
  ])
})
