import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type RunningServer, runCommand, startCommand } from './command.ts'
import type { StorePlace } from './databases.ts'
import { makeRsaPair } from './rsa-keys.ts'
import type { KnownSecret } from './secret-search.ts'
import { startSubscriber } from './subscriber.ts'
import { envelopeOf, signHubByHand } from './webhooks.ts'

export const rich = {
  business: '2000000000000001',
  app: '3000000000000001',
  account: '1000000000000001',
  number: '4000000000000001',
  token: 'a-token-that-somebody-chose',
  gatewayToken: 'a-gateway-token-that-somebody-chose',
  secret: 'an-app-secret-that-somebody-chose',
  verifyToken: 'a-verify-token-that-somebody-chose',
} as const

/** Longer than usual, so that no other digits in the store match by chance. */
const codeDigits = '10'

export interface RichStore {
  /** A number with a waiting code, and the code. */
  readonly waiting: { readonly id: string; readonly code: string }
  /** A registered number, and its PIN. */
  readonly registered: { readonly id: string; readonly pin: string }
  /** The new signing secret, and the token that a command created. */
  readonly newSecret: string
  readonly madeToken: string
  /** The public key of `rich.number`, signed. */
  readonly publicKey: string
  readonly secrets: readonly KnownSecret[]
}

export function optionsOf({ dataDir, databaseUrl }: StorePlace, env: Readonly<Record<string, string>> = {}) {
  const options = { DATA_DIR: dataDir, VERIFICATION_CODE_DIGITS: codeDigits, RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
  return { env: { ...options, ...(databaseUrl && { DATABASE_URL: databaseUrl }), ...env }, cwd: dataDir }
}

type Options = ReturnType<typeof optionsOf>

/**
 * A store that was served and used, and holds every kind of secret. No server runs on it. With `listener`, a listener of its app was
 * killed.
 */
export async function makeRichStore(
  t: TestContext,
  place: StorePlace,
  { listener }: { readonly listener: boolean },
): Promise<RichStore> {
  const options = optionsOf(place)
  const world = await writeRichWorld(place)
  const subscriber = await startSubscriber(t)
  const apiVerifyToken = 'a-verify-token-of-the-api'
  const overrideToken = 'a-verify-token-of-an-override'

  const server = await startCommand(['serve', '--port', '0', '--world', world], options)
  const call = callsOf(server)
  await call.post(`${rich.app}/subscriptions`, {
    object: 'msgapp_business_account',
    callback_url: subscriber.url,
    verify_token: apiVerifyToken,
    fields: ['messages'],
  })
  const override = { override_callback_uri: subscriber.url, verify_token: overrideToken }
  await call.post(`${rich.account}/subscribed_apps`, override)
  const waiting = await call.createNumber('16315552001')
  const registered = await call.createNumber('16315552002')
  await call.post(`${registered.id}/verify_code`, { code: registered.code })
  const pin = '907183'
  await call.post(`${registered.id}/register`, { messaging_product: 'msgapp', pin })
  const { pem } = makeRsaPair()
  await call.post(`${rich.number}/msgapp_business_encryption`, { business_public_key: pem })
  const newSecret = await runOne(['app', 'rotate-secret', rich.app], options)
  const madeToken = await runOne(['token', 'create', '--app', rich.app], options)
  if (listener) {
    const listening = await startCommand(['listen'], { ...options, ready: /Listening for app (\S+)/ })
    await listening.stop('SIGKILL')
  }
  await server.stop('SIGTERM')
  await leaveCodeWithCarrier(options)

  const named = {
    waitingCode: waiting.code,
    usedCode: registered.code,
    pin,
    newSecret,
    madeToken,
    apiVerifyToken,
    overrideToken,
  }
  const chosen = [rich.token, rich.gatewayToken, rich.secret, rich.verifyToken].map((text) => ({ name: text, text }))
  const secrets = [...chosen, ...Object.entries(named).map(([name, text]) => ({ name, text }))]
  return { waiting, registered: { id: registered.id, pin }, newSecret, madeToken, publicKey: pem, secrets }
}

/** Writes the initial world file of such a store. */
export async function writeRichWorld({ dataDir }: StorePlace): Promise<string> {
  const file = join(dataDir, 'rich.json')
  await writeFile(file, JSON.stringify(richWorld()))
  return file
}

function richWorld(): object {
  const { business, app, account, number, token, gatewayToken, secret, verifyToken } = rich
  const webhook = { callback_url: 'http://127.0.0.1:1/hook', verify_token: verifyToken, fields: ['messages'] }
  return {
    businesses: [{ id: business, name: 'Lucky Shrub' }],
    apps: [{ id: app, business_id: business, secret, webhook }],
    tokens: [
      { token, app_id: app },
      { token: gatewayToken, app_id: app, scopes: ['gateway'] },
    ],
    accounts: [
      {
        id: account,
        business_id: business,
        name: 'Retail',
        subscribed_apps: [app],
        phone_numbers: [{ id: number, display_phone_number: '+1 631-555-1001', registered: true }],
      },
    ],
  }
}

/** A code that a carrier has not accepted yet. */
async function leaveCodeWithCarrier(options: Options): Promise<void> {
  const env = { ...options.env, CARRIER_URL: 'http://127.0.0.1:1/send' }
  const server = await startCommand(['serve', '--port', '0'], { ...options, env })
  await callsOf(server).post(`${rich.account}/phone_numbers`, { phone_number: '16315552003', verified_name: 'Shrub' })
  await server.stop('SIGKILL')
}

export function callsOf({ url }: Pick<RunningServer, 'url'>, token: string = rich.token) {
  const send = async (path: string, init: RequestInit = {}, by = token) => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { ...init, headers })
    const text = await response.text()
    return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) }
  }
  const calls = {
    send,
    async get(path: string) {
      const answer = await send(`/v23.0/${path}`)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    async post(path: string, body: object) {
      const answer = await send(`/v23.0/${path}`, { method: 'POST', body: JSON.stringify(body) })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
      return answer.body
    },
    async codes(digits: string): Promise<string[]> {
      const answer = await send(`/gateway/outbox?to=${digits}`, {}, rich.gatewayToken)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.data.map(({ code }: { code: string }) => code)
    },
    async createNumber(digits: string): Promise<{ id: string; code: string }> {
      const { id } = await calls.post(`${rich.account}/phone_numbers`, { phone_number: digits, verified_name: 'Shrub' })
      const [code] = await calls.codes(digits)
      assert.ok(code)
      return { id, code }
    },
  }
  return calls
}

/** Uses every secret of the store through the doors of a server. Repeatable. */
export async function checkSecretsAtWork(server: RunningServer, store: RichStore): Promise<void> {
  const call = callsOf(server)
  for (const token of [store.madeToken, rich.token]) {
    assert.equal((await callsOf(server, token).send(`/v23.0/${rich.number}`)).status, 200)
  }
  assert.deepEqual(await call.codes('16315552001'), [store.waiting.code])
  const verify = { method: 'POST', body: JSON.stringify({ code: store.waiting.code }) }
  const verified = await call.send(`/v23.0/${store.waiting.id}/verify_code`, verify)
  assert.ok(verified.status === 200 || /verified already/.test(verified.text), verified.text)
  const { data } = await call.get(`${rich.number}/msgapp_business_encryption`)
  assert.equal(data[0].business_public_key_signature_status, 'VALID')
  await call.post(`${rich.number}/msgapp_business_encryption`, { business_public_key: store.publicKey })

  await call.post(`${store.registered.id}/deregister`, {})
  const register = (pin: string) => {
    const body = JSON.stringify({ messaging_product: 'msgapp', pin })
    return call.send(`/v23.0/${store.registered.id}/register`, { method: 'POST', body })
  }
  assert.equal((await register('111111')).body.error.code, 133005)
  assert.equal((await register(store.registered.pin)).status, 200)

  const ask = (token: string) =>
    fetch(`${server.url}/msgapp/webhooks?hub.mode=subscribe&hub.challenge=7&hub.verify_token=${token}`)
  assert.deepEqual([(await ask('a-verify-token-of-the-api')).status, (await ask(rich.verifyToken)).status], [200, 403])
  for (const secret of [rich.secret, store.newSecret]) {
    assert.equal(await postSigned(server, secret), 200, 'the secret before is good during its overlap')
  }
  assert.equal(await postSigned(server, 'another secret'), 401)
}

async function postSigned({ url }: RunningServer, secret: string): Promise<number> {
  const metadata = { display_phone_number: '16315551001', phone_number_id: rich.number }
  const status = { id: 'wamid.X', status: 'read', timestamp: '1780315200', recipient_id: '16505551234' }
  const value = { messaging_product: 'msgapp', metadata, statuses: [status] }
  const body = JSON.stringify(envelopeOf([{ field: 'messages', value }], rich.account))
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(body, secret) }
  return (await fetch(`${url}/msgapp/webhooks`, { method: 'POST', headers, body })).status
}

async function runOne(args: readonly string[], options: Options): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, options)
  assert.equal(code, 0, stderr)
  return stdout.trim()
}
