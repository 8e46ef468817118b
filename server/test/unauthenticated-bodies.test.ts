import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bodyInTooManyPieces, bodyTooLarge, bodyTooLate, tooManyUnauthenticatedBodies } from '../src/http/errors.ts'
import { rateLimitReached } from '../src/limits/errors.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError, type ExpectedError, like } from './harness/errors.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { Stranger } from './harness/stranger.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'
import { accounts, ids, strangerIds, testWorld, tokens } from './harness/world.ts'

/** Bodies of whoever has not proven yet who they are: what of them is read, held and waited for. */

const secret = 'shrub-app-secret'
const falseSignature = `sha256=${'0'.repeat(64)}`
const timeout = 400

function writeHead(length: number | 'chunked', lines: readonly string[] = [`X-Hub-Signature-256: ${falseSignature}`]) {
  const size = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const head = ['POST /msgapp/webhooks HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', size, ...lines]
  return `${head.join('\r\n')}\r\n\r\n`
}

interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

function assertRefused({ status, head, body }: RawAnswer, expected: ExpectedError): void {
  assertError({ status, body: JSON.parse(body || '{}') }, expected)
  assert.match(head, /^connection: close$/im)
}

const env = {
  WEBHOOK_MAX_BODY_BYTES: '20000',
  MAX_UNPROVEN_BYTES_PER_ADDRESS: '65536',
  TRUST_PROXY: '127.0.0.1',
}

async function begin(server: TestServer, head: string, ...sent: (string | Uint8Array)[]): Promise<Stranger> {
  const stranger = new Stranger(server.url)
  await stranger.opened
  stranger.send(head)
  for (const bytes of sent) stranger.send(bytes)
  return stranger
}

function from(address: string): string[] {
  return [`X-Hub-Signature-256: ${falseSignature}`, `X-Forwarded-For: ${address}`]
}

describe('a signed body', () => {
  const server = useTestServer({ engine: 'sqlite', env: { ...env, UNPROVEN_BODY_TIMEOUT: `${timeout}ms` } })

  test('a signed body that does not come in time is refused and its connection closed', async () => {
    for (const stranger of [
      await begin(server, writeHead(1000)),
      await begin(server, writeHead(1000), '{"entry":'),
      await begin(server, writeHead('chunked'), '9\r\n{"entry":\r\n'),
    ]) {
      assertRefused(await stranger.answer(), bodyTooLate({ period: '400ms' }))
      await stranger.closed
    }
  })

  test('a signed body that trickles is refused all the same', async () => {
    const stranger = await begin(server, writeHead(1000))
    const timer = setInterval(() => stranger.send(' '), timeout / 8)
    assertRefused(await stranger.answer(), bodyTooLate({ period: '400ms' }))
    clearInterval(timer)
    await stranger.closed
  })

  test('a signed body whose signature has no form is refused before any byte of it', async () => {
    const stranger = await begin(server, writeHead(1000, ['X-Hub-Signature-256: sha256=short']))
    assert.equal((await stranger.answer()).status, 401)
    stranger.cut()
  })

  test('a signed body that is larger than is taken is refused, announced or not', async () => {
    const announced = await begin(server, writeHead(20_001))
    assertRefused(await announced.answer(), bodyTooLarge({ max: 20_000 }))
    const found = await begin(server, writeHead('chunked'), `4e21\r\n${' '.repeat(0x4e21)}\r\n`)
    assertRefused(await found.answer(), bodyTooLarge({ max: 20_000 }))
  })

  test('a signed body in thousands of pieces is refused', async () => {
    const stranger = await begin(server, writeHead('chunked'), '1\r\n \r\n'.repeat(2000))
    assertRefused(await stranger.answer(), bodyInTooManyPieces())
    await stranger.closed
  })

  test('a body with a token has the time of any other request', async () => {
    const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('slow'))]))
    const late = await begin(server, writeHead(1000))
    const stranger = await begin(
      server,
      writeHead(raw.length, [`Authorization: Bearer ${tokens.gateway}`]),
      raw.slice(0, 20),
    )
    // By now more time has passed than a stranger has.
    await late.closed
    stranger.send(raw.slice(20))
    assert.equal((await stranger.answer()).status, 200)
    stranger.cut()
  })
})

describe('the room for signed bodies', () => {
  const server = useTestServer({ engine: 'sqlite', env: { ...env, UNPROVEN_BODY_TIMEOUT: '1m' } })

  test('the room for signed bodies is that of each address: the one that began first is refused', async () => {
    const bytes = ' '.repeat(15_000)
    const first = await begin(server, writeHead(16_000, from('198.51.100.1')), bytes)
    const elsewhere = await begin(server, writeHead(16_000, from('198.51.100.2')), bytes)
    await Promise.all([first.sent(), elsewhere.sent()])
    const second = await begin(server, writeHead(16_000, from('198.51.100.1')), bytes)
    const third = await begin(server, writeHead(15_000, from('198.51.100.1')), bytes)
    assertRefused(await first.answer(), tooManyUnauthenticatedBodies({ seconds: 1 }))
    assert.equal((await third.answer()).status, 401)
    assert.deepEqual([second.received, elsewhere.received], ['', ''])
    for (const stranger of [elsewhere, second, third]) stranger.cut()
  })

  test('the room for signed bodies is that of the process: the one that began first is refused, wherever it comes from', async () => {
    const bytes = ' '.repeat(19_000)
    const strangers: Stranger[] = []
    for (let index = 1; index <= 12; index++) {
      const stranger = await begin(server, writeHead(20_000, from(`203.0.113.${index}`)), bytes)
      await stranger.sent()
      strangers.push(stranger)
    }
    const last = await begin(server, writeHead(19_000, from('203.0.113.99')), bytes)
    assert.equal((await last.answer()).status, 401)
    assertRefused(await (strangers[0] as Stranger).answer(), tooManyUnauthenticatedBodies({ seconds: 1 }))
    for (const stranger of [...strangers, last]) stranger.cut()
  })

  test('the room for signed bodies is there for an honest app while others hold all that they may', async () => {
    const bytes = ' '.repeat(19_000)
    const strangers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => begin(server, writeHead(20_000, from(`192.0.2.${index}`)), bytes)),
    )
    await Promise.all(strangers.map((stranger) => stranger.sent()))
    const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('honest', 'x'.repeat(10_000)))]))
    const { status } = await server.client.post('/msgapp/webhooks', {
      raw,
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, secret) },
    })
    assert.equal(status, 200)
    for (const stranger of strangers) stranger.cut()
  })

  test('the room for signed bodies is given back when connections are cut', async () => {
    const bytes = ' '.repeat(15_000)
    for (let round = 0; round < 20; round++) {
      const stranger = await begin(server, writeHead(16_000, from('192.0.2.77')), bytes)
      await stranger.sent()
      stranger.cut()
      await stranger.closed
    }
    await until(async () => {
      const stranger = await begin(server, writeHead(15_000, from('192.0.2.77')), bytes)
      const { status } = await stranger.answer()
      stranger.cut()
      return status === 401
    }, 'there is room again')
  })
})

describe('whoever failed too often', () => {
  const server = useTestServer({
    engine: 'sqlite',
    env: { RATE_LIMITS: 'on', RATE_LIMIT_FAILURES: '20/1m', WEBHOOK_MAX_BODY_BYTES: '3000000' },
  })

  test('whoever failed too often is refused before a byte of the next body, and large bodies count for more', async () => {
    const body = `{"object":"msgapp_business_account","entry":[{"id":"${ids.account}","changes":"${'x'.repeat(1_000_000)}"}]}`
    const first = new Stranger(server.url)
    first.send(writeHead(body.length) + body)
    assert.equal((await first.answer()).status, 401)
    const second = new Stranger(server.url)
    second.send(writeHead(2_000_000))
    assertRefused(await second.answer(), like(rateLimitReached, { count: 20, period: '1m' }))
    await second.closed
    first.cut()
  })
})

const manyApps = Array.from({ length: 20 }, (_, index) => {
  const id = `39000000000000${String(index).padStart(2, '0')}`
  return { id, business_id: ids.business, name: `App ${index}`, secret: `secret of ${id}` }
})

/** The world of the tests, with many apps that are linked to the owner's account. */
function worldOfManyApps() {
  const world = testWorld()
  const subscribed_apps = [ids.application, ...manyApps.map(({ id }) => id)]
  return {
    ...world,
    apps: [...world.apps, ...manyApps],
    accounts: world.accounts.map((account) => (account.id === ids.account ? { ...account, subscribed_apps } : account)),
  }
}

onOneDatabase('the signature of a post', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldOfManyApps() })
  const post = (raw: string, by = secret) =>
    server.client.post('/msgapp/webhooks', {
      raw,
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, by) },
    })
  const change = (id: string) => JSON.stringify(messagesChange(textMessage(id)))
  const object = '"object":"msgapp_business_account"'
  const countEvents = async () => (await server.database.read.query.selectFrom('events').select('id').execute()).length

  for (const [name, raw] of [
    [
      'whose id comes behind everything else',
      `{"entry":[{"changes":[${change('a1')}],"id":"${ids.account}"}],${object}}`,
    ],
    [
      'with blanks everywhere',
      ` \n{ ${object} , "entry" : [ { "id" : "${ids.account}" , "changes" : [ ${change('a2')} ] } ] } `,
    ],
    [
      'with members before it that look like it',
      `{"x":{"entry":[{"id":"1"}]},"y":["entry",{"id":"2"}],"z":"\\"entry\\":[{\\"id\\":\\"3\\"}]",${object},"entry":[{"id":"${ids.account}","changes":[${change('a3')}]}]}`,
    ],
    [
      'of two accounts that the app is linked to',
      `{${object},"entry":[{"id":"${ids.account}","changes":[${change('a4')}]},{"id":"${ids.account}","changes":[${change('a5')}]}]}`,
    ],
  ] as const) {
    test(`the signature of a post: 200 for an envelope ${name}`, async () => {
      const answer = await post(raw)
      assert.equal(answer.status, 200, answer.text)
    })
  }

  for (const [name, raw] of [
    [
      'a second account that it is not linked to',
      `{${object},"entry":[{"id":"${ids.account}","changes":[${change('b1')}]},{"id":"${strangerIds.account}","changes":[${change('b2')}]}]}`,
    ],
    [
      'an account hidden behind an escaped name',
      `{${object},"entry":[{"id":"${ids.account}","changes":[${change('b3')}]}],"entr\\u0079":[{"id":"${strangerIds.account}","changes":[${change('b4')}]}]}`,
    ],
    [
      'an account hidden behind an escaped id',
      `{${object},"entry":[{"id":"${ids.account}","i\\u0064":"${strangerIds.account}","changes":[${change('b5')}]}]}`,
    ],
    [
      'an account named twice',
      `{${object},"entry":[{"id":"${ids.account}","id":"${strangerIds.account}","changes":[${change('b6')}]}]}`,
    ],
    [
      'entries named twice',
      `{${object},"entry":[{"id":"${ids.account}","changes":[${change('b7')}]}],"entry":[{"id":"${strangerIds.account}","changes":[${change('b8')}]}]}`,
    ],
    ['no account', `{${object},"entry":[]}`],
    ['an account that is no id', `{${object},"entry":[{"id":"x","changes":[${change('b9')}]}]}`],
    ['no object', '[]'],
    ['nothing', ''],
  ] as const) {
    test(`401 for an envelope of ${name}, and nothing is stored`, async () => {
      const before = await countEvents()
      const answer = await post(raw)
      assert.equal(answer.status, 401, answer.text)
      assert.equal(await countEvents(), before)
    })
  }

  test('unknown accounts, accounts without apps and false signatures cannot be told apart', async () => {
    const answers = []
    for (const account of [ids.account, accounts.smallBusiness, '1999999999999999']) {
      const raw = `{${object},"entry":[{"id":"${account}","changes":[${change('c')}]}]}`
      const stranger = new Stranger(server.url)
      stranger.send(writeHead(raw.length) + raw.slice(0, -1))
      await stranger.sent()
      // Nothing is said before the end, whoever is named.
      assert.equal(stranger.received, '')
      stranger.send(raw.slice(-1))
      const { status, body } = await stranger.answer()
      const { svctrace_id, ...error } = JSON.parse(body).error
      answers.push({ status, error })
      stranger.cut()
    }
    assert.deepEqual([answers[1], answers[2]], [answers[0], answers[0]])
    assert.equal(answers[0]?.status, 401)
  })

  test('many apps of one account are all tried', async () => {
    const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('many', 'x'.repeat(200_000)))]))
    const good = await post(raw, manyApps.at(-1)?.secret)
    assert.equal(good.status, 200, good.text)
    assert.equal((await post(raw, 'secret of none')).status, 401)
  })
})
