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
    'Host: localhost',
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
  `GET /v23.0/${ids.account} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`,
)

/** What so many reads took, in milliseconds: of the processor, all that the server did meanwhile, and by the clock. */
async function timeReads(server: FuzzedServer): Promise<{ processor: number; clock: number }> {
  const before = await server.readProcessorTime()
  const start = performance.now()
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
  return { processor: (await server.readProcessorTime()) - before, clock: performance.now() - start }
}

/**
 * What part of a processor strangers leave a server while they call it as fast as it answers. What they take is counted against the
 * clock, as their budget is: where the readers get no processor of the machine, the server has nothing to do for them.
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
    let [taken, passed] = [0, 0]
    let answers: Answers = {}
    for (let round = 0; round < rounds; round++) {
      const alone = await timeReads(server)
      await tell('start')
      const beside = await timeReads(server)
      answers = await tell('stop')
      taken += beside.processor - alone.processor
      passed += beside.clock
    }
    return { share: 1 - taken / passed, answers }
  } finally {
    await worker.terminate()
  }
}
