import type { Engine } from '../harness/databases.ts'
import { findDamage, findStopDamage, takeStockBefore } from './aftermath.ts'
import { type FuzzedOperation, readDocuments } from './document.ts'
import { openSender } from './send.ts'
import { type FuzzFailure, Run } from './sending.ts'
import { type FuzzedServer, type Memory, type OwnServerOptions, startFuzzedServer } from './server.ts'
import { openCallbackSink } from './sink.ts'

export interface FuzzOptions {
  readonly engine: Engine
  readonly requests: number
  /** The same seed makes the same requests, but for ids that the server drew. */
  readonly seed: number
  readonly report?: (line: string) => void
  /** Milliseconds that an answer may take, and that the server may take to come to rest. */
  readonly timeoutMs?: number
  readonly maxFailures?: number
  readonly server?: OwnServerOptions
}

export interface FuzzResult {
  readonly url: string
  readonly failures: readonly FuzzFailure[]
  /** How often each operation answered with each status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Why requests that the documents take were refused with 400, and how often: what no schema says. */
  readonly refusals: ReadonlyMap<string, number>
  readonly operations: readonly FuzzedOperation[]
  /** What the server used, at even distances. */
  readonly memory: readonly Memory[]
  readonly faults: string
}

const documents = ['/openapi.json', '/openapi-gateway.json', '/openapi-operator.json']
/** Concurrent requests: enough to meet each other, few enough to find the one that failed. */
const atOnce = 8
/** Each takes as long as many requests, so a short run has fewer: as many as a growth of memory can be read from. */
const measurements = { short: 6, long: 12 }
const shortRun = 2000
/** Who has seen so many does not need more. */
const usualMaxFailures = 20
/** How far the server's clock goes at each measurement, so that what is due later happens too. */
const step = 10 * 60_000
/** No answer within this is a hang. */
const usualTimeoutMs = 60_000

/**
 * Starts a server, reads its documents, sends what they allow and much that they do not, and holds every answer against them; then
 * checks what is left over, and stops it amid requests.
 */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const sink = await openCallbackSink()
  const server = await startFuzzedServer(options.engine, options.server)
  const timeoutMs = options.timeoutMs ?? usualTimeoutMs
  const sender = openSender(server.url, timeoutMs)
  try {
    const api = readDocuments(await Promise.all(documents.map((path) => readJson(server.url + path))))
    const before = await takeStockBefore(server)
    const run = new Run(api, sender, sink.url)
    const memory = await sendAll(options, server, run)
    sender.close()
    const { failures, answers, refusals } = run
    if (!(await server.hasEnded())) {
      const problems = [...(await findDamage(server, before, timeoutMs)), ...(await findStopDamage(server))]
      if (problems.length > 0) run.fail(undefined, undefined, problems)
    }
    const { operations } = api
    return { url: server.url, failures, answers, refusals, operations, memory, faults: server.faults() }
  } finally {
    sender.close()
    await server.stop()
    await sink.close()
  }
}

async function sendAll(options: FuzzOptions, server: FuzzedServer, run: Run): Promise<Memory[]> {
  const { requests, seed, report, maxFailures = usualMaxFailures } = options
  const memory: Memory[] = []
  const stride = Math.max(
    atOnce,
    Math.ceil(requests / measurements[requests < shortRun ? 'short' : 'long'] / atOnce) * atOnce,
  )
  for (let number = 0; number < requests && run.failures.length < maxFailures; number += atOnce) {
    const count = Math.min(atOnce, requests - number)
    const together = Array.from({ length: count }, (_, index) => number + index)
    await run.sendTogether(together, seed)
    if (await server.hasEnded()) {
      run.fail(undefined, undefined, [`the server ended at one of the requests ${together.join(', ')}`])
      return memory
    }
    const isLast = number + atOnce >= requests
    if (isLast || (number + atOnce) % stride === 0) memory.push(await look(server, number + count, report))
  }
  return memory
}

async function look(server: FuzzedServer, number: number, report = (_line: string) => {}): Promise<Memory> {
  await server.advance(step)
  const memory = await server.measure()
  report(
    `${number} requests: heap ${megabytes(memory.heap)} MB, resident ${megabytes(memory.rss)} MB, ${memory.files} files open`,
  )
  return memory
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

async function readJson(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}
