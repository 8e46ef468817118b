import type { Engine } from '../harness/databases.ts'
import { makeAbsurdRequest } from './absurd-requests.ts'
import { Checker } from './check.ts'
import { type FuzzedApi, type FuzzedOperation, listExamples, readDocuments } from './document.ts'
import { type Draw, drawWith, seedOf } from './draw.ts'
import { MemoryOfAnswers } from './memory-of-answers.ts'
import { worldValues } from './people.ts'
import { type FuzzRequest, type Mood, makeRequest, type RequestSources } from './requests.ts'
import { type FuzzAnswer, openSender, type Sender } from './send.ts'
import { type FuzzedServer, type Memory, startFuzzedServer } from './server.ts'
import { openCallbackSink } from './sink.ts'
import { Values } from './values.ts'

export interface FuzzOptions {
  readonly engine: Engine
  readonly requests: number
  /** The same seed makes the same requests, but for ids that the server drew. */
  readonly seed: number
  readonly report?: (line: string) => void
}

export interface FuzzFailure {
  /** Which request it was, counted from 0; undefined: the server as a whole. */
  readonly number: number | undefined
  readonly request: FuzzRequest | undefined
  readonly problems: readonly string[]
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

const documents = ['/openapi.json', '/openapi-gateway.json']
const moods: readonly Mood[] = ['valid', 'broken', 'absurd']
/** So many are under way at once: they meet each other, and are still told apart. */
const atOnce = 8
/** Each takes as long as many requests. */
const measurements = 12
/** Who has seen so many does not need more. */
const maxFailures = 20
/** How far the server's clock goes at each measurement, so that what is due later happens too. */
const step = 10 * 60_000

/** Starts a server, reads its documents, sends what they allow and much that they do not, and holds every answer against them. */
export async function runFuzz({ engine, requests, seed, report = () => {} }: FuzzOptions): Promise<FuzzResult> {
  const sink = await openCallbackSink()
  const server = await startFuzzedServer(engine)
  const sender = openSender(server.url)
  try {
    const api = readDocuments(await Promise.all(documents.map((path) => readJson(server.url + path))))
    const run = new Run(api, sender, sink.url)
    const memory: Memory[] = []
    const stride = Math.max(atOnce, Math.ceil(requests / measurements / atOnce) * atOnce)
    for (let number = 0; number < requests && run.failures.length < maxFailures; number += atOnce) {
      if (number % stride === 0 && number > 0) memory.push(await look(server, number, report))
      const count = Math.min(atOnce, requests - number)
      await run.sendTogether(
        Array.from({ length: count }, (_, index) => number + index),
        seed,
      )
    }
    memory.push(await look(server, requests, report))
    const ready = await fetch(`${server.url}/readyz`)
    await ready.body?.cancel()
    if (ready.status !== 200) run.fail(undefined, undefined, [`/readyz answers ${ready.status} at the end`])
    const { failures, answers, refusals } = run
    const { operations } = api
    return { url: server.url, failures, answers, refusals, operations, memory, faults: server.faults() }
  } finally {
    sender.close()
    await server.stop()
    await sink.close()
  }
}

async function look(server: FuzzedServer, number: number, report: (line: string) => void): Promise<Memory> {
  await server.advance(step)
  const memory = await server.measure()
  report(`${number} requests: heap ${megabytes(memory.heap)} MB, resident ${megabytes(memory.rss)} MB`)
  return memory
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

async function readJson(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}

class Run {
  readonly failures: FuzzFailure[] = []
  readonly answers = new Map<string, Map<string, number>>()
  readonly refusals = new Map<string, number>()
  readonly #operations: readonly FuzzedOperation[]
  readonly #sender: Sender
  readonly #checker: Checker
  readonly #sources: RequestSources

  constructor(api: FuzzedApi, sender: Sender, callbackUrl: string) {
    this.#operations = api.operations
    this.#sender = sender
    this.#checker = new Checker(api)
    const memory = new MemoryOfAnswers()
    const examples = new MemoryOfAnswers()
    for (const example of listExamples(api)) examples.learn('', example)
    const known = (name: string) => [...(worldValues[name] ?? []), ...examples.recall(name), ...memory.recall(name)]
    // A handshake asks for what a subscription was made with.
    const recall = (name: string) => known(name.replace(/^hub\./, ''))
    this.#sources = { memory, values: new Values({ recall, callbackUrl }) }
  }

  async sendTogether(numbers: readonly number[], seed: number): Promise<void> {
    const requests = numbers.map((number) => ({ number, request: this.#make(number, seed) }))
    await Promise.all(requests.map(({ number, request }) => this.#sendOne(number, request)))
  }

  fail(number: number | undefined, request: FuzzRequest | undefined, problems: readonly string[]): void {
    this.failures.push({ number, request, problems })
  }

  /** Each operation in turn, each time in another mood. */
  #make(number: number, seed: number): FuzzRequest {
    const { length } = this.#operations
    const operation = this.#operations[number % length] as FuzzedOperation
    const mood = moods[Math.floor(number / length) % moods.length] as Mood
    return drawWith(seedOf(seed, number), (draw) => makeInMood(draw, operation, mood, this.#sources))
  }

  async #sendOne(number: number, request: FuzzRequest): Promise<void> {
    let answer: FuzzAnswer
    try {
      answer = await this.#sender.send(request)
    } catch (error) {
      return this.fail(number, request, [`there was no answer: ${(error as Error).message}`])
    }
    this.#count(request, answer)
    const problems = this.#checker.check(request, answer)
    if (problems.length > 0)
      this.fail(number, request, [...problems, `answer: ${answer.body.toString().slice(0, 500)}`])
    else if (answer.status === 200 && request.operation) this.#learn(request.operation, answer)
  }

  #count({ operation, mood }: FuzzRequest, { status, body }: FuzzAnswer): void {
    const name = operation?.name ?? 'no operation'
    const counts = this.answers.get(name) ?? new Map<string, number>()
    const key = `${mood} ${status}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    this.answers.set(name, counts)
    if (key === 'valid 400') this.#countRefusal(`${name}: ${JSON.parse(body.toString()).error.message}`)
  }

  /** What was quoted is left out, so that equal reasons are one. */
  #countRefusal(reason: string): void {
    const told = reason
      .replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"')
      .replaceAll(/\[\d+\]/g, '[…]')
      .slice(0, 200)
    this.refusals.set(told, (this.refusals.get(told) ?? 0) + 1)
  }

  #learn({ tag }: FuzzedOperation, { headers, body }: FuzzAnswer): void {
    if (!headers['content-type']?.startsWith('application/json')) return
    this.#sources.memory.learn(tag, JSON.parse(body.toString()))
  }
}

function makeInMood(draw: Draw, operation: FuzzedOperation, mood: Mood, sources: RequestSources): FuzzRequest {
  if (mood === 'absurd') return makeAbsurdRequest(draw, operation, sources)
  return makeRequest(draw, operation, mood, sources)
}
