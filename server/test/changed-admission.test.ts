import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before as beforeAll, beforeEach, describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { hashToken } from '../src/auth/tokens.ts'
import { hour } from '../src/base/time/duration.ts'
import type { Transaction } from '../src/db/database.ts'
import { watchAdmissions } from './harness/admissions.ts'
import { onBothDatabases } from './harness/databases.ts'
import { dumpStore } from './harness/dump.ts'
import { readRawAnswer } from './harness/raw-http.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { SlowUpload } from './harness/slow-upload.ts'
import { startSubscriber } from './harness/subscriber.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, textMessage } from './harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, tokens, users } from './harness/world.ts'

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * A write is admitted before its body is read, before a callback has passed its handshake, before it is its turn at the database.
 * Who may no longer when it is committed may not, whatever was found before: nothing of the write stays.
 */
onBothDatabases('a write whose admission has changed meanwhile', (engine) => {
  const server = useTestServer({ engine })
  const change = (work: (tx: Transaction) => Promise<unknown>) => server.database.transaction(work)
  const revoke = (token: string) =>
    change(({ query }) =>
      query
        .updateTable('tokens')
        .set({ revoked_time: 1 })
        .where('hash', '=', hashToken(server.database.read, token))
        .execute(),
    )
  const setScopes = (token: string, scopes: string[]) =>
    change(({ query }) =>
      query.updateTable('tokens').set({ scopes }).where('hash', '=', hashToken(server.database.read, token)).execute(),
    )
  const withdraw = () =>
    change(({ query }) =>
      query
        .deleteFrom('account_access')
        .where('account_id', '=', accounts.shared)
        .where('business_id', '=', partnerIds.business)
        .execute(),
    )

  let before: Record<string, string[]>
  let admissions: ReturnType<typeof watchAdmissions>
  let writes = 0
  beforeAll(() => {
    admissions = watchAdmissions(server)
  })
  beforeEach(async () => {
    await change(async ({ query }) => {
      const both = ['msgapp_business_management', 'msgapp_business_messaging']
      await query.updateTable('tokens').set({ revoked_time: null }).execute()
      for (const token of [tokens.owner, tokens.partner]) {
        await query
          .updateTable('tokens')
          .set({ scopes: both, accounts: null, expires_time: null })
          .where('hash', '=', hashToken(server.database.read, token))
          .execute()
      }
      await query
        .insertInto('account_access')
        .values({ account_id: accounts.shared, business_id: partnerIds.business, relation: 'shared', created_time: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    })
  })

  /** All tables but those that the test itself changes, and the files that arrived and will be swept. */
  async function written(): Promise<Record<string, string[]>> {
    const {
      tokens: _tokens,
      account_access: _access,
      files: _files,
      timers: _timers,
      ...rest
    } = await dumpStore(server.database)
    return rest
  }

  /** A post that was admitted and whose body is not whole yet; it goes on when the test says so. */
  async function startPost(path: string, token: string, body: string, t: TestContext) {
    before = await written()
    const admitted = await watchNext(path.startsWith('/v23.0/') ? 'node' : 'token')
    const request = await SlowPost.start(server, path, token, body)
    t.after(() => request.close())
    await admitted()
    return request
  }

  /** Something is written first, so that nothing is remembered and everything is looked up. */
  async function watchNext(last: 'node' | 'token'): Promise<() => Promise<void>> {
    await change(({ query }) => query.updateTable('tokens').set({ created_time: writes++ }).execute())
    const admitted = admissions.next(last)
    return () => admitted
  }

  const profilePath = (number: string) => `/v23.0/${number}/msgapp_business_profile`
  const profile = JSON.stringify({ messaging_product: 'msgapp', about: `written ${engine}` })

  describe('while its body arrives', () => {
    test('401 when the token was revoked, and nothing is written', async (t) => {
      const request = await startPost(profilePath(numbers.main), tokens.owner, profile, t)
      await revoke(tokens.owner)
      const answer = await request.finish()
      assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [401, 190])
      assert.deepEqual(await written(), before)
    })

    test('a write whose admission has changed meanwhile while its body arrives: 401 when the token has expired', async (t) => {
      const expires_time = server.clock.now() + hour
      await change(({ query }) =>
        query
          .updateTable('tokens')
          .set({ expires_time })
          .where('hash', '=', hashToken(server.database.read, tokens.owner))
          .execute(),
      )
      const request = await startPost(profilePath(numbers.main), tokens.owner, profile, t)
      server.clock.advance(hour)
      assert.equal((await request.finish()).status, 401)
      assert.deepEqual(await written(), before)
    })

    test('404 when access to the account was withdrawn', async (t) => {
      const request = await startPost(profilePath(numbers.shared), tokens.partner, profile, t)
      await withdraw()
      const answer = await request.finish()
      assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [404, 803])
      assert.deepEqual(await written(), before)
    })

    test('404 when the token was limited to other accounts', async (t) => {
      const request = await startPost(profilePath(numbers.main), tokens.owner, profile, t)
      await change(({ query }) =>
        query
          .updateTable('tokens')
          .set({ accounts: [accounts.shared] })
          .where('hash', '=', hashToken(server.database.read, tokens.owner))
          .execute(),
      )
      assert.equal((await request.finish()).status, 404)
      assert.deepEqual(await written(), before)
    })

    test('403 when the token lost the permission', async (t) => {
      const request = await startPost(profilePath(numbers.main), tokens.owner, profile, t)
      await setScopes(tokens.owner, ['msgapp_business_messaging'])
      assert.equal((await request.finish()).status, 403)
      assert.deepEqual(await written(), before)
    })

    test('a write whose admission has changed meanwhile while its body arrives: 200 when the token was changed and still may, and it is written once', async (t) => {
      const request = await startPost(profilePath(numbers.main), tokens.owner, profile, t)
      await setScopes(tokens.owner, ['msgapp_business_management'])
      assert.equal((await request.finish()).status, 200)
      const after = await written()
      assert.equal(after['activities']?.length, (before['activities']?.length ?? 0) + 1)
    })

    test('a write whose admission has changed meanwhile while its body arrives: 401 for a refusal that would have been counted, and it is not counted', async (t) => {
      const code = { token: tokens.owner, json: { code_method: 'SMS', language: 'en_US' } }
      assert.equal((await server.client.post(`/v23.0/${numbers.fresh}/request_code`, code)).status, 200)
      const wrong = JSON.stringify({ code: '000000' })
      const request = await startPost(`/v23.0/${numbers.fresh}/verify_code`, tokens.owner, wrong, t)
      await revoke(tokens.owner)
      assert.equal((await request.finish()).status, 401)
      assert.deepEqual(await written(), before)
    })

    test('a write whose admission has changed meanwhile while its body arrives: 401 and not what else stands against it', async (t) => {
      const body = JSON.stringify({ code_method: 'SMS', language: 'en_US' })
      const path = `/v23.0/${numbers.main}/request_code`
      assert.equal((await server.client.post(path, { token: tokens.owner, json: JSON.parse(body) })).status, 422)
      const request = await startPost(path, tokens.owner, body, t)
      await revoke(tokens.owner)
      assert.equal((await request.finish()).status, 401)
    })

    test('401 at the gateway, and at the receiver of events', async (t) => {
      const permission = { phone_number_id: numbers.main, user_wa_id: users.denying, status: 'granted' }
      const event = envelopeOf([messagesChange(textMessage(`late.${engine}`))])
      for (const [path, body] of [
        ['/gateway/call_permissions', permission],
        ['/msgapp/webhooks', event],
      ] as const) {
        const request = await startPost(path, tokens.gateway, JSON.stringify(body), t)
        await revoke(tokens.gateway)
        assert.equal((await request.finish()).status, 401, path)
        assert.deepEqual(await written(), before)
        await change(({ query }) => query.updateTable('tokens').set({ revoked_time: null }).execute())
      }
    })

    test('404 at the gateway when the token was limited to other accounts', async (t) => {
      const permission = { phone_number_id: numbers.main, user_wa_id: users.denying, status: 'granted' }
      const limit = (to: string[] | null) =>
        change(({ query }) =>
          query
            .updateTable('tokens')
            .set({ accounts: to })
            .where('hash', '=', hashToken(server.database.read, tokens.gateway))
            .execute(),
        )
      const request = await startPost('/gateway/call_permissions', tokens.gateway, JSON.stringify(permission), t)
      await limit([accounts.shared])
      assert.equal((await request.finish()).status, 404)
      assert.deepEqual(await written(), before)
      await limit(null)
    })

    test('401 for a medium, of which nothing is kept', async (t) => {
      const path = `/v23.0/${numbers.main}/media`
      before = await written()
      const admitted = await watchNext('node')
      const upload = await SlowUpload.start({ url: server.url, path, token: tokens.owner })
      t.after(() => upload.cut())
      await upload.send(picture.subarray(0, 40))
      await admitted()
      await revoke(tokens.owner)
      await upload.send(picture.subarray(40))
      await upload.end()
      assert.equal((await upload.answer()).status, 401)
      assert.deepEqual(await written(), before)
    })

    test('401 for an upload by pieces, which keeps those from before', async (t) => {
      const opened = await server.client.post(`/v23.0/${ids.application}/uploads`, {
        token: tokens.owner,
        json: { file_length: picture.length, file_type: 'image/png' },
      })
      assert.equal(opened.status, 200, opened.text)
      const path = `/v23.0/${opened.body.id}`
      const offset = async () => (await server.client.get(path, { token: tokens.managementOnly })).body.file_offset
      const piece = { token: tokens.owner, raw: picture.subarray(0, 20), headers: { file_offset: '0' } }
      assert.equal((await server.client.post(path, piece)).status, 200)
      const socket = await SlowPost.open(server)
      t.after(() => socket.destroy())
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\nfile_offset: 20\r\nContent-Length: ${picture.length - 20}\r\n\r\n`,
      )
      socket.write(picture.subarray(20, 40))
      // Written down when no more has come for a moment, though the request has not ended.
      await until(async () => (await offset()) === 40, 'the bytes so far were kept')
      await revoke(tokens.owner)
      socket.write(picture.subarray(40))
      const [answer] = await once(socket, 'data')
      assert.match(String(answer), /^HTTP\/1\.1 401 /)
      assert.equal(await offset(), 40)
    })
  })

  describe('while a callback is asked', () => {
    /** A callback that passes the handshake when the test says so. */
    async function startSlowCallback(t: TestContext) {
      const asked = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const sink = await startSink(t, async ({ target }, response) => {
        asked.resolve()
        await released.promise
        response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge'))
      })
      return { url: `${sink.url}/hook`, asked: asked.promise, release: () => released.resolve() }
    }

    async function link(t: TestContext, meanwhile: () => Promise<unknown>) {
      const callback = await startSlowCallback(t)
      before = await written()
      const answer = server.client.post(`/v23.0/${accounts.shared}/subscribed_apps`, {
        token: tokens.partner,
        json: { override_callback_uri: callback.url, verify_token: 'vt' },
      })
      await callback.asked
      await meanwhile()
      callback.release()
      return answer
    }

    test('401 for a link when the token was revoked', async (t) => {
      assert.equal((await link(t, () => revoke(tokens.partner))).status, 401)
      assert.deepEqual(await written(), before)
    })

    test('404 for a link when access was withdrawn', async (t) => {
      assert.equal((await link(t, withdraw)).status, 404)
      assert.deepEqual(await written(), before)
    })

    test('401 for a subscription when the token was revoked', async (t) => {
      const callback = await startSlowCallback(t)
      before = await written()
      const answer = server.client.post(`/v23.0/${ids.application}/subscriptions`, {
        token: tokens.owner,
        json: {
          object: 'msgapp_business_account',
          callback_url: callback.url,
          verify_token: 'vt',
          fields: ['messages'],
        },
      })
      await callback.asked
      await revoke(tokens.owner)
      callback.release()
      assert.equal((await answer).status, 401)
      assert.deepEqual(await written(), before)
    })

    test("401 for a number's override when the token was revoked", async (t) => {
      const subscriber = await startSubscriber(t)
      const subscribed = await server.client.post(`/v23.0/${ids.application}/subscriptions`, {
        token: tokens.owner,
        json: {
          object: 'msgapp_business_account',
          callback_url: subscriber.url,
          verify_token: 'vt',
          fields: ['messages'],
        },
      })
      assert.equal(subscribed.status, 200, subscribed.text)
      const callback = await startSlowCallback(t)
      before = await written()
      const answer = server.client.post(`/v23.0/${numbers.main}`, {
        token: tokens.owner,
        json: { webhook_configuration: { override_callback_uri: callback.url, verify_token: 'vt' } },
      })
      await callback.asked
      await revoke(tokens.owner)
      callback.release()
      assert.equal((await answer).status, 401)
      assert.deepEqual(await written(), before)
    })
  })

  test('a write whose admission has changed meanwhile: 401 when the token was revoked while the write waited for its turn at the database', async (t) => {
    before = await written()
    const admitted = await watchNext('node')
    const held = await (engine === 'sqlite' ? holdSqlite : holdPostgres)(server, t)
    const path = profilePath(numbers.main)
    const answer = server.client.post(path, { token: tokens.owner, json: JSON.parse(profile) })
    await admitted()
    await held.revokeAndRelease(tokens.owner)
    assert.equal((await answer).status, 401)
    assert.deepEqual(await written(), before)
  })

  test('a node that the write itself deletes is no change of its admission', async () => {
    const uploaded = await server.client.post(`/v23.0/${numbers.main}/media`, {
      token: tokens.owner,
      multipart: { file: new Blob([picture], { type: 'image/png' }) },
    })
    const deleted = await server.client.delete(`/v23.0/${uploaded.body.id}`, { token: tokens.owner })
    assert.deepEqual([deleted.status, deleted.body], [200, { success: true }])
  })
})

interface Hold {
  /** Waits until the write waits, revokes a token, and lets the write go on. */
  revokeAndRelease(token: string): Promise<void>
}

/** Another process writes: whoever wants to write as well waits until it has committed. */
async function holdSqlite({ dataDir, database }: TestServer, t: TestContext): Promise<Hold> {
  const other = new DatabaseSync(join(dataDir, 'switchboard.db'))
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return {
    async revokeAndRelease(token) {
      other.prepare('UPDATE tokens SET revoked_time = 1 WHERE hash = ?').run(hashToken(database.read, token))
      other.exec('COMMIT')
    },
  }
}

/** Somebody else has locked the profiles, one of which is to be written to. */
async function holdPostgres({ database }: TestServer): Promise<Hold> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = database.transaction(async ({ query }) => {
    await sql`LOCK TABLE business_profiles IN SHARE MODE`.execute(query)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  return {
    async revokeAndRelease(token) {
      await until(async () => {
        const { rows } = await sql`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database.read.query)
        return rows.length > 0
      }, 'the write waits for the profile')
      await database.transaction(({ query }) =>
        query
          .updateTable('tokens')
          .set({ revoked_time: 1 })
          .where('hash', '=', hashToken(database.read, token))
          .execute(),
      )
      released.resolve()
      await holding
    },
  }
}

/** A post over a connection of its own, whose last byte comes when the test says so. */
class SlowPost {
  readonly #socket: Socket
  readonly #rest: string

  private constructor(socket: Socket, rest: string) {
    this.#socket = socket
    this.#rest = rest
  }

  static async open(server: TestServer): Promise<Socket> {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return socket
  }

  static async start(server: TestServer, path: string, token: string, body: string): Promise<SlowPost> {
    const socket = await SlowPost.open(server)
    socket.setEncoding('latin1')
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    )
    socket.write(body.slice(0, -1))
    return new SlowPost(socket, body.slice(-1))
  }

  async finish(): Promise<{ status: number; body: string }> {
    let received = ''
    this.#socket.on('data', (chunk: string) => {
      received += chunk
    })
    this.#socket.write(this.#rest)
    await once(this.#socket, 'close')
    return readRawAnswer(received)
  }

  close(): void {
    this.#socket.destroy()
  }
}
