import { type Answer, type AnyHandlerOptions, answerPost } from './answer.ts'
import { maxBytes, readBytes } from './read-body.ts'

/** What is used of Node's `IncomingMessage`, and what Express adds to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly readableEnded: boolean
  readonly body?: unknown
}

/** What is used of Node's `ServerResponse`. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

export function makeNodeHandler(options: AnyHandlerOptions) {
  return async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { status, body } = await answerNode(options, request)
    response.statusCode = status
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end(body)
  }
}

/** Express calls it like Node does; other errors are Express's to report. */
export function makeExpressHandler(options: AnyHandlerOptions) {
  const handle = makeNodeHandler(options)
  return (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void): void => {
    handle(request, response).catch(next)
  }
}

function answerNode(options: AnyHandlerOptions, request: NodeRequest): Promise<Answer> {
  const { method = '', url = '/', headers } = request
  return answerPost(options, { method, url, headers, read: () => readBody(request) })
}

async function readBody(request: NodeRequest): Promise<unknown> {
  // Somebody read it before: express.raw() and express.text() keep the bytes, express.json() does not.
  if (request.body !== undefined && request.body !== null && (request.readableEnded || !isEmpty(request.body))) {
    return request.body
  }
  if (request.readableEnded) return undefined
  return readBytes(request)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** What is used of a Fastify instance. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown
  route(route: {
    method: string[]
    url: string
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
  }): unknown
}

interface FastifyRequestLike {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

interface FastifyReplyLike {
  code(status: number): unknown
  type(type: string): unknown
}

/** A plugin: within it bodies are bytes, elsewhere nothing changes. */
export function makeFastifyPlugin(options: AnyHandlerOptions) {
  return async (instance: FastifyLike): Promise<void> => {
    instance.removeAllContentTypeParsers()
    const bytes = { parseAs: 'buffer', bodyLimit: maxBytes } as const
    instance.addContentTypeParser('*', bytes, (_request, body, done) => done(null, body))
    instance.route({
      method: ['GET', 'POST'],
      url: '/',
      async handler({ method, url, headers, body }, reply) {
        const answer = await answerPost(options, { method, url, headers, read: async () => body })
        reply.code(answer.status)
        reply.type('text/plain; charset=utf-8')
        return answer.body
      },
    })
  }
}
