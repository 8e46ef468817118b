import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { TestServer } from './server.ts'
import { type SinkRequest, startSink } from './sink.ts'
import { ids, tokens } from './world.ts'

export type AnswerPost = (post: SinkRequest, response: ServerResponse) => void

/** An app's callback on loopback: it passes the handshake and keeps what is posted to it. */
export interface Subscriber {
  readonly url: string
  readonly posts: readonly SinkRequest[]
  /** How posts are answered from now on; at first with 200. */
  answerWith(answer: AnswerPost): void
  /** The ids of the messages that were posted, in order, with repeats. */
  messageIds(): string[]
  /** Resolves when so many posts have come. */
  whenPosted(count: number): Promise<void>
}

export const takeIt: AnswerPost = (_post, response) => {
  response.end('thanks')
}

export function refuseWith(status: number, headers: Record<string, string> = {}): AnswerPost {
  return (_post, response) => {
    response.writeHead(status, headers).end('not now')
  }
}

/** Holds every post without an answer. */
export const hang: AnswerPost = () => undefined

export async function startSubscriber(t: TestContext): Promise<Subscriber> {
  const posts: SinkRequest[] = []
  const news = new EventEmitter()
  let answer = takeIt
  const sink = await startSink(t, (request, response) => {
    if (request.method === 'GET') {
      response.end(new URL(request.target, 'http://sink').searchParams.get('hub.challenge'))
      return
    }
    posts.push(request)
    news.emit('post')
    answer(request, response)
  })
  return {
    url: `${sink.url}/hook`,
    posts,
    answerWith(next) {
      answer = next
    },
    messageIds: () => posts.flatMap(messageIdsIn),
    async whenPosted(count) {
      while (posts.length < count) await once(news, 'post')
    },
  }
}

interface TestApp {
  readonly token: string
  readonly id: string
}
export const ownersApp: TestApp = { token: tokens.owner, id: ids.application }

/** A subscriber whose address the API was given as the callback of an app. */
export async function subscribe(
  t: TestContext,
  server: TestServer,
  { app = ownersApp, fields = ['messages'] }: { app?: TestApp; fields?: string[] } = {},
): Promise<Subscriber> {
  const subscriber = await startSubscriber(t)
  const answer = await server.client.post(`/v23.0/${app.id}/subscriptions`, {
    token: app.token,
    json: { object: 'msgapp_business_account', callback_url: subscriber.url, verify_token: 'vt', fields },
  })
  assert.equal(answer.status, 200, answer.text)
  return subscriber
}

export function changeIn({ body }: SinkRequest) {
  return JSON.parse(body.toString()).entry[0].changes[0]
}

export function messageIdsIn(post: SinkRequest): string[] {
  return (changeIn(post).value.messages ?? []).map(({ id }: { id: string }) => id)
}
