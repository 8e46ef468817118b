import type * as Sdk from '@switchboard/client'

/** What a scenario needs to know; it crosses from the test into pages and workers. */
export interface Given {
  readonly baseUrl: string
  readonly token: string
  readonly gatewayToken: string
  readonly operatorToken: string
  readonly number: string
  readonly accountId: string
  /** A post of the server, and the secret that signed it. */
  readonly post: { readonly body: string; readonly headers: Record<string, string>; readonly secret: string }
}

const user = '16505551234'
const size = 300_000

/** What programs do with the client, in a place that has nothing of Node. Returns what was seen, as plain values. */
export async function tryClient(sdk: typeof Sdk, given: Given) {
  const { number, post } = given
  const client = makeClient(sdk, given)

  const stream = client.gateway.stream({ user_wa_id: user })
  await stream.opened
  await client.gateway.messages.write({ phone_number_id: number, from: user, type: 'text', text: { body: 'Hello?' } })
  let streamed = ''
  for await (const { event, data } of stream) {
    if (event !== 'message') continue
    streamed = data.type
    break
  }
  const sent = await client.messages.send(number, { to: user, type: 'text', text: { body: 'Hi' } })

  const numbers: string[] = []
  for await (const { id } of client.phoneNumbers.list(given.accountId, { limit: 1 })) numbers.push(id)

  const blob = new Blob(['x'.repeat(size)], { type: 'text/plain' })
  const { id } = await client.media.upload(number, { file: blob })
  const { url } = await client.media.retrieve(id)
  const downloaded = await countBytes(await client.media.download(url))

  // Nothing of the kind happens: the server answers much later.
  const wait = (options: Sdk.RequestOptions) => client.operator.feed.wait({ type: 'call', timeout: '30s' }, options)
  const late = await nameFailure(wait({ timeout: 50 }))
  const controller = new AbortController()
  const aborted = nameFailure(wait({ signal: controller.signal }))
  controller.abort()
  const missing = await client.media.retrieve('9999999999999999').catch((error: unknown) => error)

  const unwrapped = await client.webhooks.unwrap(post.body, post.headers, post.secret)
  return {
    streamed,
    sent: sent.messages[0]?.id.startsWith('wamid.'),
    numbers,
    downloaded,
    late,
    aborted: await aborted,
    missing: missing instanceof sdk.NotFoundError && typeof missing.trace === 'string',
    fields: unwrapped.events.map(({ field }) => field),
    forged: await nameFailure(client.webhooks.unwrap(`${post.body} `, post.headers, post.secret)),
  }
}

function makeClient(sdk: typeof Sdk, given: Given): Sdk.Switchboard {
  return new sdk.Switchboard({ ...given, maxRetries: 0 })
}

/** Sends a message, for pages that may not do it. */
export async function trySend(sdk: typeof Sdk, given: Given): Promise<string> {
  const params = { to: user, type: 'text', text: { body: 'From elsewhere' } } as const
  const call = makeClient(sdk, given).messages.send(given.number, params)
  return call.then(
    () => 'sent',
    (error: Error) => `${error.name}: ${error.message}`,
  )
}

/** What everybody should see who tries it. */
export function expectSeen(numbers: readonly string[]) {
  return {
    ...{ streamed: 'text', sent: true, numbers, downloaded: size, missing: true, fields: ['messages'] },
    ...{ late: 'APIConnectionTimeoutError', aborted: 'APIUserAbortError', forged: 'WebhookVerificationError' },
  }
}

async function countBytes({ body }: Response): Promise<number> {
  let count = 0
  const reader = body?.getReader()
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return count
    count += chunk.value.length
  }
}

function nameFailure(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'no failure',
    (error: Error) => error.name,
  )
}
