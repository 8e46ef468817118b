import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { ClientOptions, LogLevel } from '@switchboard/client'
import { skipWaits } from './skip-waits.ts'
import { connect } from './small-server.ts'

describe('the log of the client', () => {
  skipWaits()

  /** A client whose lines are kept; the server repeats every value that it is sent, in an error. */
  async function logging(t: TestContext, logLevel: LogLevel, options: ClientOptions = {}, status = 400) {
    const lines: string[] = []
    const logger = { info: (line: string) => lines.push(line), debug: (line: string) => lines.push(line) }
    const { client, baseUrl } = await connect(
      t,
      (request, response) => {
        const message = `no ${request.url} ${JSON.stringify(request.headers)}`
        const error = { message, code: 100, error_subcode: 7, access_token: 'hidden-in-error' }
        response.writeHead(status, { 'x-svctrace-id': 'abc', 'set-cookie': 'hidden-cookie=1' })
        response.end(JSON.stringify(status === 200 ? { id: 'hidden-id' } : { error }))
      },
      { token: 'hidden-token', ...options, logger, logLevel },
    )
    return { client, lines, baseUrl }
  }

  test('the log of the client has a line for each try, with its trace', async (t) => {
    const { client, lines } = await logging(t, 'info', {}, 503)
    await assert.rejects(client.accounts.retrieve('1000000000000001', {}, { maxRetries: 1 }))
    assert.equal(lines.length, 2)
    const tried = 'switchboard: account\\.read 503 InternalServerError 100 7 \\(trace abc\\) in \\d+ ms'
    assert.match(lines[0] ?? '', new RegExp(`^${tried}; again in \\d+ ms$`))
    assert.match(lines[1] ?? '', new RegExp(`^${tried}$`))
    await assert.rejects(client.accounts.retrieve('1', {}, { signal: AbortSignal.abort() }))
    assert.match(lines[2] ?? '', /^switchboard: account\.read APIUserAbortError in \d+ ms$/)
    const nowhere = client.withOptions({ baseUrl: 'http://127.0.0.1:65009', maxRetries: 0 })
    await assert.rejects(nowhere.accounts.retrieve('1'))
    assert.match(lines[3] ?? '', /^switchboard: account\.read APIConnectionError ECONNREFUSED in \d+ ms$/)
    const fine = await logging(t, 'info', {}, 200)
    await fine.client.accounts.retrieve('1')
    assert.match(fine.lines[0] ?? '', /^switchboard: account\.read 200 \(trace abc\) in \d+ ms$/)
  })

  test('the log of the client is silent unless it is asked for', async (t) => {
    const { client, lines } = await logging(t, 'off', {}, 200)
    await client.accounts.retrieve('1')
    assert.deepEqual(lines, [])
  })

  test('the log of the client shows the form of what is sent, and of its values the kinds alone', async (t) => {
    const { client, lines, baseUrl } = await logging(t, 'debug', {}, 200)
    const message = { to: '16505551234', type: 'text', text: { body: 'hidden' }, preview: null, tries: [1, true] }
    await client.messages.send('4000000000000001', message as never, { idempotencyKey: 'order-1' })
    const [, line = ''] = lines
    const [address, sent] = [line.slice(0, line.indexOf(' {')), line.slice(line.indexOf(' {') + 1)]
    assert.equal(address, `switchboard: POST ${baseUrl}/v23.0/4000000000000001/messages`)
    const [headers, body] = sent.split('} {').map((text, at) => JSON.parse(at === 0 ? `${text}}` : `{${text}`))
    assert.deepEqual(headers, {
      'user-agent': headers['user-agent'],
      authorization: '<string>',
      'idempotency-key': 'order-1',
      'content-type': 'application/json',
    })
    assert.deepEqual(body, {
      to: '<string>',
      type: 'text',
      text: { body: '<string>' },
      preview: null,
      tries: ['<number>', true],
      messaging_product: '<string>',
    })
  })

  test('the log of the client has no secret, no message and no number of a user, wherever it stands', async (t) => {
    const secret = 'hidden-value'
    const headers = { Cookie: secret, 'X-Api-Key': secret, 'X-Hub-Signature-256': secret, 'X-Team': secret }
    const { client, lines } = await logging(t, 'debug', { headers, maxRetries: 0 })
    const number = '4000000000000001'
    const bytes = new TextEncoder().encode(secret)
    const calls = [
      client.messages.send(number, { to: '16505551234', text: { body: secret } }),
      client.phoneNumbers.update(number, { pin: '135790' } as never),
      client.phoneNumbers.update(number, { pin: 135790 } as never),
      client.phoneNumbers.list(number, { access_token: secret, after: secret } as never),
      client.media.download(`https://anywhere/media/1?expires=1&signature=${secret}`),
      client.media.upload(number, { file: new File([secret], `${secret}.png`), note: secret } as never),
      client.media.upload(number, { file: ReadableStream.from([bytes]), caption: secret } as never),
      client.uploads.append(`upload:${secret}`, Buffer.from(secret), { file_offset: 0 }),
      client.uploads.append('upload:1', bytes, { file_offset: 0 }),
      client.operator.world.apply({ apps: [{ secret, verify_token: secret }] }),
      client.operator.world.apply(secret),
      client.gateway.users.retrieve('16505551234'),
      client.request({ path: `/gateway/users/16505551234/${secret}?token=${secret}`, door: 'gateway' }),
      client.request({
        method: 'POST',
        path: '/tokens',
        query: { code: secret },
        body: { code: 135790 },
        token: secret,
      }),
    ]
    for (const { status, reason } of (await Promise.allSettled(calls)) as { status: string; reason?: Error }[]) {
      assert.deepEqual([status, reason?.name], ['rejected', 'BadRequestError'])
    }
    assert.equal(lines.length, 2 * calls.length)
    const text = lines.join('\n')
    assert.doesNotMatch(text, /hidden|135790|16505551234/)
    assert.match(text, /POST \S+\/4000000000000001\/media .+\{"file":"<file>","note":"<string>"/)
    assert.match(text, /"file":"<readablestream>"/)
    assert.match(text, /POST \S+\/… .+ "<uint8array>"/)
    assert.match(text, /POST \S+\/operator\/world .+\{"apps":\[\{"secret":"<string>","verify_token":"<string>"\}\]\}/)
    assert.match(text, /: GET \/gateway\/users\/…\/… 400 BadRequestError 100 7 \(trace abc\) in/)
    assert.match(text, /GET \S+\/gateway\/users\/…\/… \{/)
  })
})
