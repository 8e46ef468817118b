import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** A message as `writeAs` posts it: its id ends in its number among the user's messages. */
export interface Written {
  readonly user: string
  readonly number: number
}

export type AnswerWritten = (response: ServerResponse, written: readonly Written[]) => void

/** Long enough for any machine; being late only makes a test slow. */
const timeoutMs = 120_000

/**
 * A callback that knows whether what users write comes in order. Every user numbers messages from 0, one after the other was
 * acknowledged; the end of an id is that number.
 */
export class OrderSink {
  /** The received messages, in order of arrival. */
  readonly arrivals: Written[] = []
  /** The numbers accepted from each user. */
  readonly taken = new Map<string, Set<number>>()
  /** Messages that came before the previous one was accepted. */
  readonly early: string[] = []
  mostUnderWay = 0
  #underWay = 0
  #answer: AnswerWritten = (response) => response.end()
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end(new URL(request.url ?? '', 'http://sink').searchParams.get('hub.challenge'))
      return
    }
    this.#take(await text(request), response)
  })

  async start(): Promise<this> {
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket))
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  /** How to respond to posts from now on; a 200 counts as accepted. */
  answerWith(answer: AnswerWritten): void {
    this.#answer = answer
  }

  /** How many different messages were accepted. */
  get count(): number {
    return [...this.taken.values()].reduce((sum, numbers) => sum + numbers.size, 0)
  }

  /** Resolves when so many different ones were accepted. */
  async whenTaken(count: number): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs)
    while (this.count < count) {
      await once(this.#server, 'taken', { signal: deadline }).catch(() => {
        throw new Error(`${this.count} of ${count} messages were taken`)
      })
    }
  }

  async whenArrived(count: number): Promise<void> {
    while (this.arrivals.length < count) await once(this.#server, 'arrived')
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(body: string, response: ServerResponse): void {
    const written = listWritten(body)
    for (const { user, number } of written) {
      this.arrivals.push({ user, number })
      if (number > 0 && !this.taken.get(user)?.has(number - 1)) this.early.push(`${user} ${number}`)
      // Several of one post are taken together, in their order.
      if (written.length > 1) this.#note({ user, number })
    }
    this.#underWay += 1
    this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay)
    response.on('close', () => {
      this.#underWay -= 1
    })
    response.on('finish', () => {
      if (response.statusCode === 200) for (const one of written) this.#note(one)
      this.#server.emit('taken')
    })
    this.#server.emit('arrived')
    this.#answer(response, written)
  }

  #note({ user, number }: Written): void {
    const numbers = this.taken.get(user) ?? new Set()
    numbers.add(number)
    this.taken.set(user, numbers)
  }
}

function listWritten(body: string): Written[] {
  const [entry] = JSON.parse(body).entry as { changes: { value: { messages?: { from: string; id: string }[] } }[] }[]
  // States of messages to users come without any.
  return (entry?.changes ?? []).flatMap(({ value }) =>
    (value.messages ?? []).map(({ from, id }) => ({ user: from, number: Number(id.slice(id.lastIndexOf('.') + 1)) })),
  )
}
