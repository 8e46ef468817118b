import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

/** A real webhook receiver on loopback, which keeps everything it was sent. */
export interface Sink {
  readonly port: number
  /** `http://127.0.0.1:PORT`, or `https://sink.test:PORT` when it is secure. */
  readonly url: string
  readonly requests: readonly SinkRequest[]
  /** Every connection that was ever made. */
  readonly connections: readonly Socket[]
}

export interface SinkRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A sink for the length of one test. */
export async function startSink(
  t: TestContext,
  answer: (request: SinkRequest, response: ServerResponse) => void,
  { secure = false }: { secure?: boolean } = {},
): Promise<Sink> {
  const requests: SinkRequest[] = []
  const listener: RequestListener = async (incoming, response) => {
    const request = await readRequest(incoming)
    requests.push(request)
    answer(request, response)
  }
  const server = secure ? createSecureServer(sinkCertificate, listener) : createServer(listener)
  const { port, connections } = await listenForTest(t, server)
  return { port, url: secure ? `https://sink.test:${port}` : `http://127.0.0.1:${port}`, requests, connections }
}

/** Lets any server listen on loopback until the test ends. */
export async function listenForTest(t: TestContext, server: Server): Promise<{ port: number; connections: Socket[] }> {
  const connections: Socket[] = []
  server.on('connection', (socket: Socket) => connections.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of connections) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { port: (server.address() as AddressInfo).port, connections }
}

/** Resolves when a connection is gone, however it ended. */
export function whenClosed(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!socket) reject(new Error('there was no connection'))
    else if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

async function readRequest(incoming: IncomingMessage): Promise<SinkRequest> {
  const { method = '', url = '', headers } = incoming
  return { method, target: url, headers, body: await buffer(incoming) }
}

/** For the name sink.test, self-signed, valid until 2120. It guards nothing: it exists only in tests. */
export const sinkCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9YauU1Pj0qO6DkPh
C271mJKlPUIW4/5wdQg+UzRaqwahRANCAASVVMQA0h3D72IhnWqcgYrY/iEBF+Pf
PvVaP1Dk52nGUZ/NU5VhSsQDCdQi7f4BsgFhbkv6svzzGAOOOFbAtXBe
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlzaW5rLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CXNpbmsudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJVUxADSHcPvYiGd
apyBitj+IQEX498+9Vo/UOTnacZRn81TlWFKxAMJ1CLt/gGyAWFuS/qy/PMYA444
VsC1cF6jSDBGMBQGA1UdEQQNMAuCCXNpbmsudGVzdDAPBgNVHRMBAf8EBTADAQH/
MB0GA1UdDgQWBBRqm4lVh4mYlZMA18guqhDlp/WYsDAKBggqhkjOPQQDAgNJADBG
AiEAheP3wdnKsLP+etsdh9vUOUIpNS3qFQOahwvPbyFHx+ACIQChkQ4CnZ8It7hv
3fldRiyPrT2/p7YNT04QfMx/LLFSlw==
-----END CERTIFICATE-----
`,
}
