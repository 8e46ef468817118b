import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { countPosts, postMessages, writeEventWorld } from './events.ts'
import { measureRate, median, type Request, sendRequests } from './load.ts'
import { type Measured, startBareServer, startSink, startSwitchboard } from './processes.ts'

const phone_number_id = '4000000000000001'
export const users = Array.from({ length: 100 }, (_, index) => String(16_505_550_000 + index))
/** Their phones deliver what comes at once, and do not read it. */
export const onlineUsers = users.map((wa_id) => ({ wa_id, presence: 'online' }))
/** Sent, delivered and read. */
const webhooksOfMessage = 3
// On, as in life, but out of the way of a load test.
export const noMessageLimits = { RATE_LIMIT_MESSAGES: '1000000000/1h', RATE_LIMIT_MESSAGE_PAIR: '1000000000/1h' }

/** Microseconds of CPU of one text message, until its last webhook has come to the sink, and of one bare durable write. */
export interface SendingCost {
  readonly ratio: number
  readonly ours: number
  readonly theirs: number
}

/** Text messages to users whose phones deliver and read them at once, against a bare route with one prepared UPDATE. */
export async function compareSending(folder: string, rounds: number, amount: number): Promise<SendingCost> {
  const sink = await startSink()
  const world = await writeEventWorld(folder, `${sink.url}/`, 0, {
    users: onlineUsers.map((user) => ({ ...user, auto_read: true })),
  })
  const bare = await startBareServer()
  const ours = await startSwitchboard({ dataDir: join(folder, 'sending'), world, env: noMessageLimits })
  try {
    // Who has written may be written to.
    await postMessages([ours], users.length, users.length)
    await waitForPosts(sink, users.length)
    await measureMessages(ours, sink, amount)
    const pairs: { ours: number; theirs: number }[] = []
    for (let round = 0; round < rounds; round++) {
      pairs.push({ theirs: await measureBareWrites(bare), ours: await measureMessages(ours, sink, amount) })
    }
    return {
      ratio: median(pairs.map((pair) => pair.ours / pair.theirs)),
      ours: median(pairs.map((pair) => pair.ours)),
      theirs: median(pairs.map((pair) => pair.theirs)),
    }
  } finally {
    await Promise.all([ours.stop(), bare.stop(), sink.stop()])
  }
}

async function measureBareWrites(bare: Measured): Promise<number> {
  const before = bare.cpu()
  const rate = await measureRate(
    {
      url: `${bare.url}/v23.0/1000000000000001`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Lucky Shrub Retail' }),
    },
    1,
  )
  return (bare.cpu() - before) / rate
}

async function measureMessages(server: Measured, sink: Measured, amount: number): Promise<number> {
  const [before, known] = [server.cpu(), await countPosts(sink)]
  await sendRequests([server], amount, textMessage)
  await waitForPosts(sink, known + webhooksOfMessage * amount)
  return (server.cpu() - before) / amount
}

/** A text to one of the users. */
export function textMessage(index: number): Request {
  const to = users[index % users.length]
  const body = JSON.stringify({ messaging_product: 'msgapp', to, type: 'text', text: { body: 'Hello' } })
  return { method: 'POST', path: `/v23.0/${phone_number_id}/messages`, body }
}

export async function waitForPosts(sink: Measured, amount: number): Promise<void> {
  while ((await countPosts(sink)) < amount) await wait(5)
}
