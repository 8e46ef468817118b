import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { CommandFailed } from '../fail.ts'
import type { Posted } from './listen-sink.ts'

/** The result of a forwarded post. */
export interface Forwarded {
  /** Undefined when there was no response. */
  readonly status: number | undefined
  readonly problem: string | undefined
  readonly duration: number
  readonly retryAfter: string | undefined
  /** The first part of the response. */
  readonly body: Buffer
}

/** More than the log of deliveries keeps. */
const keptResponseBytes = 16_384

/** Headers of a connection; the forwarding connection has its own. */
const headersOfConnection = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'expect']

export function readForwardUrl(text: string): URL {
  const url = /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url)
    throw new CommandFailed(`--forward-to ${text} is not an http or https URL such as http://127.0.0.1:3000/hook`)
  return url
}

/** Forwards a post, the same bytes under the same headers. */
export async function forward(url: URL, { headers, body }: Posted, signal: AbortSignal): Promise<Forwarded> {
  const started = performance.now()
  const takeTime = () => Math.round(performance.now() - started)
  const passed = Object.entries(headers).filter(([name]) => !headersOfConnection.includes(name))
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  try {
    const request = send(url, { method: 'POST', headers: Object.fromEntries(passed), agent: false, signal })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const responseBody = await readStart(response)
    const { statusCode: status, headers: received } = response
    return { status, problem: undefined, duration: takeTime(), retryAfter: received['retry-after'], body: responseBody }
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException
    const problem = name === 'AbortError' ? 'no answer in time' : (code ?? message)
    return { status: undefined, problem, duration: takeTime(), retryAfter: undefined, body: Buffer.from(problem) }
  }
}

async function readStart(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  // Leaving the loop closes the connection.
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece)
    length += piece.length
    if (length >= keptResponseBytes) break
  }
  return Buffer.concat(pieces).subarray(0, keptResponseBytes)
}
