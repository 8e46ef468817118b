import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { VoiceError } from '../voice-error.ts'
import { listen, stopListening } from './listen.ts'

/** A call as events about it show it; only what is read here. */
export interface CallEvent {
  readonly id: string
  readonly event: 'connect' | 'terminate' | undefined
  readonly direction: 'USER_INITIATED' | 'BUSINESS_INITIATED' | undefined
  /** Who calls. */
  readonly from: string
  readonly sdp: string | undefined
  /** The state of the user's phone, when that is what the event is about; how the call ended, at its end. */
  readonly status: string | undefined
}

/** The largest body that a platform sends has some megabytes; one of calls is far smaller. */
const mostBytes = 4 * 1024 * 1024

/**
 * The address that a voice agent is notified at. It does not know the secret of the app that signs its webhooks, so nobody else knows
 * the path.
 */
export class CallbackServer {
  readonly #server: Server
  readonly #path = `/${randomBytes(24).toString('base64url')}`
  readonly verifyToken = randomBytes(24).toString('base64url')
  readonly #onEvent: (event: CallEvent) => void
  readonly #host: string

  constructor(host: string, onEvent: (event: CallEvent) => void) {
    this.#host = host
    this.#onEvent = onEvent
    this.#server = createServer((request, response) => void this.#receive(request, response))
  }

  async listen(port: number): Promise<string> {
    return `${await listen(this.#server, this.#host, port)}${this.#path}`
  }

  close(): Promise<void> {
    return stopListening(this.#server)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Not by `URL`, which refuses paths that anybody may send.
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    if (!isSame(path, this.#path)) return void response.writeHead(404).end()
    if (request.method === 'GET') {
      const searchParams = new URLSearchParams(query)
      const isKnown = isSame(searchParams.get('hub.verify_token') ?? '', this.verifyToken)
      return void response.writeHead(isKnown ? 200 : 403).end(isKnown ? searchParams.get('hub.challenge') : '')
    }
    const events = await readBody(request)
    if (!events) return void response.writeHead(400).end()
    // Before anything is done about it: an agent that waits for its own calls to the API would hold up the next event.
    response.writeHead(200).end()
    for (const event of events) this.#onEvent(event)
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

async function readBody(request: IncomingMessage): Promise<CallEvent[] | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > mostBytes) return undefined
      chunks.push(chunk)
    }
    return readEvents(JSON.parse(Buffer.concat(chunks).toString('utf8')))
  } catch {
    // The connection broke off, or it is no event: the platform sends it again.
    return undefined
  }
}

interface Envelope {
  readonly entry: readonly {
    readonly changes?: readonly {
      readonly field?: string
      readonly value?: {
        readonly calls?: readonly {
          readonly id: string
          readonly event?: CallEvent['event']
          readonly direction?: CallEvent['direction']
          readonly from?: string
          readonly status?: string
          readonly session?: { readonly sdp?: string }
        }[]
        readonly statuses?: readonly { readonly id: string; readonly type?: string; readonly status?: string }[]
      }
    }[]
  }[]
}

/** The events of calls in a body; throws where it is no event at all. */
function readEvents(body: unknown): CallEvent[] {
  const changes = (body as Envelope).entry.flatMap(({ changes = [] }) => changes)
  return changes
    .filter(({ field }) => field === 'calls')
    .flatMap(({ value }) => [
      ...(value?.calls ?? []).map(({ id, event, direction, from = '', status, session }) => ({
        ...{ id, event, direction, from, status },
        sdp: session?.sdp,
      })),
      ...(value?.statuses ?? []).map(({ id, status }) => ({
        ...{ id, status, from: '' },
        event: undefined,
        direction: undefined,
        sdp: undefined,
      })),
    ])
}

/** A server that is there takes a connection at once. */
const connectTimeoutMs = 10_000

/** The address of this machine that a server sees: where it reaches an agent. */
export async function findOwnAddress(url: string): Promise<string> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replaceAll(/[[\]]/g, '')
  const socket = connect({ host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) })
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (code: string | undefined) =>
        reject(new VoiceError(`${url} cannot be reached (${code}): start a server there, or name another with --url`))
      socket.once('connect', () => resolve(socket.localAddress ?? '127.0.0.1'))
      socket.once('error', ({ code }: NodeJS.ErrnoException) => fail(code))
      socket.setTimeout(connectTimeoutMs, () => fail('timeout'))
    })
  } finally {
    socket.destroy()
  }
}
