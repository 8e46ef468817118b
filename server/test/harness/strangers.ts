import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { FuzzedServer } from '../fuzz/server.ts'
import { repeatRequests } from './repeat-requests.ts'
import { ids, tokens } from './world.ts'

const falseSignature = `sha256=${'0'.repeat(64)}`
/** A body that only ends when it has been read whole, for an account that there is. */
export const largeBody = Buffer.from(
  `{"object":"msgapp_business_account","entry":[{"id":"${ids.account}","changes":[{"value":"${'x'.repeat(2_900_000)}"}]}]}`,
)

/** The head of a post of events that nobody has signed. */
export function writeFalsePost(length: number, lines: readonly string[] = []): string {
  return [
    'POST /msgapp/webhooks HTTP/1.1',
    'Host: a',
    `X-Hub-Signature-256: ${falseSignature}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...lines,
    '\r\n',
  ].join('\r\n')
}

export interface StrangersPlan {
  readonly url: string
  /** Sent one after the other, and again from the first. */
  readonly requests: readonly Uint8Array[]
  readonly connections: number
}

/** How many answers had which status. */
type Answers = Readonly<Record<number, number>>

const readers = 8
/** So many that a large body of a stranger arrives meanwhile. */
const readsPerRound = 4000
const rounds = 3
const read = Buffer.from(
  `GET /v23.0/${ids.account} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`,
)

/** The processor time of the server for so many reads, in milliseconds. */
async function timeReads(server: FuzzedServer): Promise<number> {
  const before = await server.readProcessorTime()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let answered = 0
  const stop = repeatRequests(
    server.url,
    readers,
    () => read,
    (status) => {
      if (status !== 200) reject(new Error(`a read was answered ${status}`))
      answered += 1
      if (answered === readsPerRound) resolve()
    },
  )
  await promise
  stop()
  return (await server.readProcessorTime()) - before
}

/**
 * What part of its processor a server has left for reads while strangers call it as fast as it answers. Processor time, because a
 * rate by the clock depends more on what else the machine does.
 */
export async function measureShare(
  server: FuzzedServer,
  plan: Omit<StrangersPlan, 'url'>,
): Promise<{ share: number; answers: Answers }> {
  const worker = new Worker(new URL('./strangers-worker.ts', import.meta.url), {
    workerData: { ...plan, url: server.url },
  })
  const tell = async (order: 'start' | 'stop'): Promise<Answers> => {
    const told = once(worker, 'message')
    worker.postMessage(order)
    return (await told)[0]
  }
  try {
    await timeReads(server)
    let [alone, beside] = [0, 0]
    let answers: Answers = {}
    for (let round = 0; round < rounds; round++) {
      alone += await timeReads(server)
      await tell('start')
      beside += await timeReads(server)
      answers = await tell('stop')
    }
    return { share: alone / beside, answers }
  } finally {
    await worker.terminate()
  }
}
