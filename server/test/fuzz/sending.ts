import { makeAbsurdRequest } from './absurd-requests.ts'
import { Checker } from './check.ts'
import { type FuzzedApi, type FuzzedOperation, listExamples } from './document.ts'
import { type Draw, drawWith, seedOf } from './draw.ts'
import { MemoryOfAnswers } from './memory-of-answers.ts'
import { worldValues } from './people.ts'
import { type FuzzRequest, type Mood, makeRequest, type Play, type RequestSources } from './requests.ts'
import type { Sender } from './send.ts'
import { Values } from './values.ts'
import { type FuzzAnswer, goesOn } from './wire.ts'
import { makeWireRequest } from './wire-requests.ts'

export interface FuzzFailure {
  /** Which request it was, counted from 0; undefined: the server as a whole. */
  readonly number: number | undefined
  readonly request: FuzzRequest | undefined
  readonly problems: readonly string[]
}

export const moods: readonly Mood[] = ['valid', 'broken', 'absurd', 'wire']

/** Makes requests and sends them, and keeps what came of it. */
export class Run {
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
    return drawWith(seedOf(seed, number), (draw) => this.#makeInMood(draw, operation, mood))
  }

  async #sendOne(number: number, request: FuzzRequest): Promise<void> {
    let answer: FuzzAnswer
    try {
      if (request.play) return this.#checkPlay(number, request, request.play, await this.#sender.play(request.play))
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

  /** What was whole must be answered as documented; anything else must not be a fault of the server. */
  #checkPlay(number: number, request: FuzzRequest, { whole, ending }: Play, answers: readonly FuzzAnswer[]): void {
    const problems = answers.flatMap((answer, index) => {
      const asked = whole[index]
      this.#count(asked ?? request, answer)
      if (asked && !asked.isDownload) return this.#checker.check(asked, answer)
      return answer.status >= 500 ? [`it answered ${answer.status}`] : []
    })
    const expected = Math.max(whole.length, ending === 'wait' ? 1 : 0)
    const missing = answers.some(goesOn) ? 0 : expected - answers.length
    const closing = answers.at(-1)
    // A request refused for its form closes the connection: nothing behind it is read.
    const isClosed = closing !== undefined && closing.status >= 400 && closing.headers.connection === 'close'
    if (missing > 0 && !isClosed) problems.push(`the connection was closed, and ${missing} answers are missing`)
    const last = answers.at(-1)?.body.toString().slice(0, 500)
    if (problems.length > 0) this.fail(number, request, [...problems, `the last answer: ${last}`])
  }

  #count({ operation, mood }: FuzzRequest, { status, body }: FuzzAnswer): void {
    const name = operation?.name ?? 'no operation'
    const counts = this.answers.get(name) ?? new Map<string, number>()
    const key = `${mood} ${status}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    this.answers.set(name, counts)
    if (key === 'valid 400') this.#countRefusal(`${name}: ${readReason(body.toString())}`)
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

  #makeInMood(draw: Draw, operation: FuzzedOperation, mood: Mood): FuzzRequest {
    switch (mood) {
      case 'absurd':
        return makeAbsurdRequest(draw, operation, this.#sources)
      case 'wire':
        return makeWireRequest(draw, operation, this.#operations, this.#sources)
      default:
        return makeRequest(draw, operation, mood, this.#sources)
    }
  }
}

/** From the envelope, or from the title of a page. */
function readReason(body: string): string {
  if (!body.startsWith('<')) return JSON.parse(body).error.message
  return /<title>([^<]*)/.exec(body)?.[1] ?? body
}
