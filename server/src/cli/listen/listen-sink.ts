import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { verifyHub, verifyStandard } from '../../delivery/post/sign.ts'
import type { Secrets } from '../../delivery/store/signing-secrets.ts'

/** A post to the sink. */
export interface Posted {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** The response to a post. */
export interface SinkResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** The sink's response to the check whether it runs. */
const presence = 'switchboard listen'

/** A webhook receiver on loopback. It responds only under its path, which nobody can guess. */
export async function openSink(
  port: number,
  path: string,
  receive: (posted: Posted) => Promise<SinkResponse>,
): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    if (request.url?.split('?', 1)[0] !== path) {
      response.writeHead(404).end()
      return
    }
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(presence)
      return
    }
    try {
      const { status, headers, body } = await receive({ headers: request.headers, body: await buffer(request) })
      response.writeHead(status, headers).end(body)
    } catch (error) {
      // A post that was cut off needs no response; any other error ends the command.
      response.destroy()
      if (!request.destroyed || request.complete) server.emit('error', error)
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` }
}

/** Whether a listener still runs at that address of this machine. */
export async function isPresent(local_url: string): Promise<boolean> {
  try {
    const response = await fetch(local_url, { signal: AbortSignal.timeout(2000) })
    return response.ok && (await response.text()) === presence
  } catch {
    // Nothing listens there, or something else: either way it is not ours.
    return false
  }
}

/** Which of the two signing conventions a post violates; none when both are satisfied. */
export function findBadSignatures({ headers, body }: Posted, now: number, secrets: Secrets): string[] {
  const header = (name: string): string => String(headers[name] ?? '')
  const isHubGood = verifyHub(header('x-hub-signature-256'), body, secrets)
  const standard = {
    'webhook-id': header('webhook-id'),
    'webhook-timestamp': header('webhook-timestamp'),
    'webhook-signature': header('webhook-signature'),
  }
  const isStandardGood = verifyStandard(standard, now, body, secrets)
  return [...(isHubGood ? [] : ['X-Hub-Signature-256']), ...(isStandardGood ? [] : ['webhook-signature'])]
}
